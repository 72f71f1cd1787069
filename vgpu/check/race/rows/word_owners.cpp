#include "vgpu/check/race/rows/word_owners.hpp"

#include <bit>

#include "vgpu/machine/memory/rows.hpp"

namespace warpcheck::vgpu {

bool WordOwners::begin(std::uint32_t bytes) {
  const std::size_t needed = (std::size_t{bytes} + 3) / 4 * sizeof(std::uint32_t);
  if (marks_.bytes() < needed) {
    marks_ = {};
    marks_ = HostPages(needed, std::byte{0});
    if (marks_.is_empty()) return false;
    number_ = 0;
  }
  if (++number_ == OwnerMark::kPeriodsEnd) {
    marks_.fill(0, marks_.bytes(), std::byte{0});
    number_ = 1;
  }
  return true;
}

bool WordOwners::take(const RowAccess& row, const WarpPlace& warp) {
  const std::uint32_t thread = warp.warp * kWarpLanes;
  if (row.bytes < 4 || warp.block >= OwnerMark::kBlocksEnd || thread >= OwnerMark::kThreadsEnd) {
    return false;
  }
  const bool is_scattered = row.pattern == Pattern::scattered;
  return own_({.marks = reinterpret_cast<std::uint32_t*>(marks_.data()),
               .offset = is_scattered ? row.offsets : nullptr,
               .word = is_scattered ? 0 : start_of(row.first) / 4,
               .mark = number_ * OwnerMark::kPeriod + warp.block * OwnerMark::kBlock +
                       thread * OwnerMark::kThread,
               .mask = row.mask,
               .words = row.bytes / 4u,
               .is_uniform = row.pattern == Pattern::uniform,
               .is_write = row.kind == AccessKind::write});
}

}  // namespace warpcheck::vgpu
