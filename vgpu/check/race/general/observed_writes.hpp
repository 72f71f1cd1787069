// The writes in a cell's list that a lane, or a thread before it, has observed.
//
// PTX ISA 8.9.5: a write also comes before what follows a read that observed it.  So the thread
// that took the last ticket may reset the counter.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "vgpu/check/race/general/row_causality.hpp"

namespace warpcheck::vgpu {

class ObservedWrites {
 public:
  ObservedWrites() = default;
  ObservedWrites(RowCausality& causality, CheckedRow& row, const CellList& list, unsigned lane);

  [[nodiscard]] bool include(const CellEntry& write, unsigned write_lane) const;

 private:
  // For each chain, those at lower positions; by chain, the highest position first.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> seen_;
};

}  // namespace warpcheck::vgpu
