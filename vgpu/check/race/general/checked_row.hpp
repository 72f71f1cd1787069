// A row of accesses that the general race checker checks, one of its lanes, and an earlier access
// that a lane is compared with.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "vgpu/check/order/thread_order.hpp"
#include "vgpu/check/race/general/cells/race_cells.hpp"
#include "vgpu/check/race/rows/race_rows.hpp"
#include "vgpu/machine/access.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

// A launch of the trial.
struct CheckedLaunch {
  const Program* program = nullptr;
  Dim3 grid, block;
  BlockKey first_block = 0;
  SegmentId first_segment = 0;  // segments of launches that had ended before have lower numbers
  bool by_device = false;       // launched by device code
};

// The proxy through which a row accesses memory (PTX ISA 8.4).
enum class Proxy : std::uint8_t { generic, async, tensor_map };
// A load by a tensor map reads the map at once.  A store reads it as it reads its source: until its
// group has been waited for, the map must stay as it is.
inline Proxy proxy_of(const Access& access) {
  const Proxy other = access.async_proxy ? Proxy::async : Proxy::generic;
  constexpr std::uint8_t kMapRead = 16;
  const bool may_be_of_map = access.kind == AccessKind::read && access.bytes == kMapRead &&
                             (access.mask & (access.mask - 1)) == 0;
  if (!may_be_of_map) return other;
  const Instr& instr = access.program->code[access.pc];
  if (instr.kind != InstrKind::tensor_copy || instr.opcode != ptx::Opcode::cp_) return other;
  const bool is_store = instr[TensorOperand::object].bank == Bank::none;
  const bool is_data = access.async_proxy && (!is_store || access.space == ptx::Space::shared);
  return is_data ? Proxy::async : Proxy::tensor_map;
}

// What one lane accesses, and the class of the access.
struct LaneAccess {
  unsigned lane = 0;
  std::uint32_t offset = 0, bytes = 0;
  unsigned access_class = 0;
};

// An earlier access of one lane.
struct EarlierAccess {
  SegmentId segment = 0;
  unsigned lane = 0;
  std::uint32_t pc = 0;
  unsigned access_class = 0;
  bool lacks_proxy_fence = false;  // it comes before, but through the other proxy
  bool lacks_map_release = false;  // of a tensor map: its fences lack the release alone
  bool is_handed = false;          // no race, but it may hand a value on
  std::uint32_t offset = 0;        // of a byte that both access
  // It is the latest write of the cell; or a read by the thread that has made the latest write.
  bool is_last = false, is_writer = false;
};

struct CheckedRow {
  const Access* access = nullptr;
  Proxy proxy = Proxy::generic;
  CellMemory* memory = nullptr;
  SegmentId now = 0;
  SegmentId first = 0;  // older records belong to another block's shared memory
  KnownBefore known;
  // Cached answers for earlier segments, each at its segment number modulo the table's size.
  struct Answer {
    SegmentId earlier = 0;
    ThreadOrder::Before before = ThreadOrder::Before::no_lane;
  };
  std::array<Answer, 4> answers{};

  // Calls visit(cell) for each cell that the lane accesses.
  template <typename Visit>
  void for_each_cell(const LaneAccess& mine, Visit visit) const {
    const unsigned shift = memory->shift();
    Cell* const cells = memory->cells();
    const std::uint32_t begin = mine.offset >> shift;
    const std::uint32_t end = (mine.offset + mine.bytes - 1) >> shift;
    for (std::uint32_t cell = begin; cell <= end; ++cell) visit(cells[cell]);
  }
  // Returns the offset of the first byte of a cell that the lane accesses.
  [[nodiscard]] std::uint32_t offset_in(const LaneAccess& mine, const Cell& cell) const {
    const auto at = static_cast<std::uint32_t>(&cell - memory->cells()) << memory->shift();
    return std::max(at, mine.offset);
  }
  // Returns whether all entries of a list are older than the block's ownership of this shared
  // memory, or than its latest barrier.
  [[nodiscard]] bool is_after(const CellList& list) const { return list.last_segment < first; }
};

}  // namespace warpcheck::vgpu
