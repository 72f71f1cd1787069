// Who has accessed each word of global memory in a period.
//
// Most memory that a kernel both reads and writes is accessed by one thread a word: it is changed
// in place, or written and read again.  Words of one thread, and words that are only read, cannot
// race, in whatever order their rows lie.  So their rows wait (deferred_rows.hpp) as long as a mark
// for each word says so, and only the first row that marks refuse makes records necessary.  To mark
// a scattered row takes a sixth of the host instructions that recording it in cells takes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vgpu/check/race/rows/race_rows.hpp"
#include "vgpu/machine/access.hpp"
#include "vgpu/machine/memory/host_pages.hpp"

namespace warpcheck::vgpu {

class WordOwners {
 public:
  explicit WordOwners(OwnFn own) : own_(own) {}

  // Begins a period in which no word was accessed.  False: there is no memory.
  //   bytes: of the allocation
  bool begin(std::uint32_t bytes);
  // Marks a row of weak accesses.  False: it may race with an earlier one of the period, or has no
  // marks; then marks are of no use for the rest of the period.
  //   warp: the place in the grid of the row's warp
  bool take(const RowAccess& row, const WarpPlace& warp);
  // Lets machine code mark the words of rows that it appends.
  void lend(RowQueue& queue) const {
    queue.owners = reinterpret_cast<std::uint32_t*>(marks_.data());
    queue.owner = number_ * OwnerMark::kPeriod;
  }
  [[nodiscard]] std::size_t host_bytes() const { return marks_.bytes(); }
  void release() {
    marks_ = {};
    number_ = 0;
  }

 private:
  OwnFn own_;
  HostPages marks_;
  std::uint32_t number_ = 0;  // of the period, as in a mark
};

}  // namespace warpcheck::vgpu
