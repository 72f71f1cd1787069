// Copies of tiles of tensors (cp.async.bulk.tensor, cp.reduce.async.bulk.tensor; PTX ISA 9.0, 5.5,
// 9.7.9.27), and changes of the maps that describe them (tensormap.replace, 9.7.9.28:
// tensor_replacements.cpp).
//
// The thread that begins one reads the tensor map, as by loads; the rest are accesses of the
// asynchronous proxy, made when the copy is begun, as all copies in bulk are (bulk_copies.hpp).
// What of a box lies outside of the tensor is filled in shared memory, and not written in global
// memory; what lies inside the tensor has to be inside the allocation that the tensor begins in.
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
  struct Parts {
    Targets& targets;
    CurrentAccess& current;
    Accesses& accesses;
    BulkCopies& bulk_copies;
  };
  TensorCopies(RunningLaunch& launch, const Parts& parts) : launch_(launch), parts_(parts) {}

  Step execute(RunningFragment& run, const Instr& instr, std::uint32_t lanes);

 private:
  // One lane's copy, to or from one place in shared memory.
  struct Tile {
    const Instr& instr;
    const TensorMap& map;
    unsigned lane;
    std::array<std::int32_t, kTensorDimensionsMax> at{};  // coordinates
    std::uint64_t shared = 0;                             // address
    const Allocation* tensor = nullptr;                   // null: the map leads to no memory
  };
  // A piece of a row of the tile: in global memory, and in shared memory.
  struct Piece {
    std::uint64_t global, shared;
    std::uint32_t bytes;
  };

  Step copy(RunningFragment& run, const Instr& instr, std::uint32_t lanes);
  Step copy_of_lane(RunningFragment& run, const Instr& instr, unsigned lane);
  Step replace(RunningFragment& run, const Instr& instr, std::uint32_t lanes);
  Step replace_in_lane(RunningFragment& run, const Instr& instr, unsigned lane);
  std::optional<TensorMap> read_map(RunningFragment& run, const Instr& instr, ptx::Space space,
                                    unsigned lane);
  Step is_no_map(const RunningFragment& run, unsigned lane, std::uint64_t address);
  static std::string wrong_place(const RunningFragment& run, const Instr& instr,
                                 const TensorMap& map, unsigned lane);
  void move_tile(RunningFragment& run, const Tile& tile);
  void move_row(RunningFragment& run, const Tile& tile, std::optional<std::uint64_t> global,
                std::uint64_t shared);
  void move_piece(RunningFragment& run, const Tile& tile, const Piece& piece);
  void fill_piece(RunningFragment& run, const Tile& tile, const Piece& piece);
  // An access of one lane to `address`, and to rows for what is on its way.
  [[nodiscard]] Instr part(const RunningFragment& run, const Tile& tile, InstrKind kind,
                           ptx::Type type, std::uint8_t elements, std::uint64_t address) const;
  [[nodiscard]] bool is_outside(const RunningFragment& run, const Tile& tile,
                                const Piece& piece) const;
  void convert(const RunningFragment& run, const Tile& tile, std::uint32_t words) const;

  RunningLaunch& launch_;
  Parts parts_;
};

}  // namespace warpcheck::vgpu
