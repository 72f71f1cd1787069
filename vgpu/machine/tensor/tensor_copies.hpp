// Executes copies of tiles of tensors (cp.async.bulk.tensor, cp.reduce.async.bulk.tensor; PTX ISA
// 9.0, 5.5, 9.7.9.27), and changes and copies of the tensor maps that describe them
// (tensormap.replace, 9.7.9.28; tensormap.cp_fenceproxy, 9.7.13.15: tensor_replacements.cpp).
//
// The issuing thread reads the tensor map by ordinary loads.  All other accesses are made by the
// asynchronous proxy, when the copy is issued, as for all bulk copies (bulk_copies.hpp).  The part
// of a box outside the tensor is filled in shared memory, and not written in global memory.  The
// part inside the tensor must be inside the allocation in which the tensor begins.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "vgpu/machine/memory/bulk_copies.hpp"
#include "vgpu/machine/tensor/tensor_map.hpp"

namespace warpcheck::vgpu {

class TensorCopies {
 public:
  struct Dependencies {
    Targets& targets;
    CurrentAccess& current;
    Accesses& accesses;
    BulkCopies& bulk_copies;
  };
  TensorCopies(RunningLaunch& launch, const Dependencies& dependencies)
      : launch_(launch), dependencies_(dependencies) {}

  Step execute(RunningFragment& run, const Instr& instr, std::uint32_t lanes);

 private:
  // The copy of one lane, to or from one place in shared memory.
  struct Tile {
    const Instr& instr;
    const TensorMap& map;
    unsigned lane;
    std::array<std::int32_t, kTensorDimensionsMax> at{};           // coordinates
    std::array<std::uint16_t, kTensorDimensionsMax - 2> offset{};  // of im2col
    std::uint64_t shared = 0;                                      // address
    const Allocation* tensor = nullptr;  // null: the map leads to no memory
  };
  // A piece of a row of the tile: its addresses in global and in shared memory.
  struct Piece {
    std::uint64_t global, shared;
    std::uint32_t bytes;
  };

  Step copy(RunningFragment& run, const Instr& instr, std::uint32_t lanes);
  Step copy_of_lane(RunningFragment& run, const Instr& instr, unsigned lane);
  Step replace(RunningFragment& run, const Instr& instr, std::uint32_t lanes);
  Step copy_map(RunningFragment& run, const Instr& instr, std::uint32_t lanes);
  Step replace_in_lane(RunningFragment& run, const Instr& instr, unsigned lane);
  std::optional<TensorMap> read_map(RunningFragment& run, const Instr& instr, ptx::Space space,
                                    unsigned lane);
  Step is_no_map(const RunningFragment& run, unsigned lane, std::uint64_t address);
  static std::string wrong_place(const RunningFragment& run, const Instr& instr,
                                 const TensorMap& map, unsigned lane);
  void move_tile(RunningFragment& run, const Tile& tile);
  void move_boxes(RunningFragment& run, const Tile& tile);
  void move_pixels(RunningFragment& run, const Tile& tile);
  void move_four_rows(RunningFragment& run, const Tile& tile);
  void move_row(RunningFragment& run, const Tile& tile, std::optional<std::uint64_t> global,
                std::uint64_t shared);
  void move_slices(RunningFragment& run, const Tile& tile, std::optional<std::uint64_t> global,
                   std::uint64_t shared);
  void move_slice(RunningFragment& run, const Tile& tile, std::optional<std::uint64_t> global,
                  std::uint64_t shared);
  void move_unit(RunningFragment& run, const Tile& tile, bool is_inside, const Piece& unit);
  void move_piece(RunningFragment& run, const Tile& tile, const Piece& piece);
  void fill_piece(RunningFragment& run, const Tile& tile, const Piece& piece);
  // Returns an access of one lane to `address`, with intermediate rows for the values.
  [[nodiscard]] Instr part(const RunningFragment& run, const Tile& tile, InstrKind kind,
                           ptx::Type type, std::uint8_t elements, std::uint64_t address) const;
  [[nodiscard]] bool is_outside(const RunningFragment& run, const Tile& tile,
                                const Piece& piece) const;
  void convert(const RunningFragment& run, const Tile& tile, std::uint32_t words) const;

  RunningLaunch& launch_;
  Dependencies dependencies_;
};

}  // namespace warpcheck::vgpu
