#include "vgpu/check/race/general/observed_writes.hpp"

#include <algorithm>
#include <bit>

#include "vgpu/check/race/race_class.hpp"

namespace warpcheck::vgpu {

ObservedWrites::ObservedWrites(RowCausality& causality, CheckedRow& row, const CellList& list,
                               unsigned lane) {
  for (const CellEntry& reader : list.entries) {
    if (!reader.observes || reader.place.chain == 0) continue;
    const bool is_atomic = AccessClass::of_index(reader.access_class).write;
    for (std::uint32_t rest = reader.lanes; rest != 0;) {
      // The highest lane of an atomic has observed the most.
      const auto by = static_cast<unsigned>(31 - std::countl_zero(rest));
      if (causality.is_before(row, reader.segment, by, lane)) {
        const std::uint64_t below = is_atomic ? reader.position_of(by) : reader.place.position + 1;
        seen_.emplace_back(reader.place.chain, below);
        break;
      }
      rest &= ~(1u << by);
    }
  }
  std::ranges::sort(seen_, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  });
}

bool ObservedWrites::include(const CellEntry& write, unsigned write_lane) const {
  if (write.place.chain == 0 || !AccessClass::of_index(write.access_class).write) return false;
  const auto of_chain = std::ranges::lower_bound(seen_, write.place.chain, {},
                                                 &std::pair<std::uint64_t, std::uint64_t>::first);
  return of_chain != seen_.end() && of_chain->first == write.place.chain &&
         of_chain->second > write.position_of(write_lane);
}

}  // namespace warpcheck::vgpu
