// What relates two accesses besides the order of their threads: observed writes, scopes of clusters
// and devices, and the proxies of asynchronous copies.
#include <algorithm>
#include <bit>

#include "vgpu/check/race/race_general.hpp"

namespace warpcheck::vgpu {

void GeneralRaceChecker::Observations::close() {
  std::ranges::sort(seen_, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  });
}

bool GeneralRaceChecker::Observations::include(const CellEntry& write, unsigned write_lane) const {
  if (write.place.chain == 0 || !AccessClass::of_index(write.access_class).write) return false;
  const auto of_chain = std::ranges::lower_bound(seen_, write.place.chain, {},
                                                 &std::pair<std::uint64_t, std::uint64_t>::first);
  return of_chain != seen_.end() && of_chain->first == write.place.chain &&
         of_chain->second > write.position_of(write_lane);
}

// PTX ISA 8.9.5: a write also comes before what follows a read that observed it.  So the thread
// that took the last ticket may reset the counter.
GeneralRaceChecker::Observations GeneralRaceChecker::observations_of(Row& row, const CellList& list,
                                                                     unsigned lane) {
  Observations observations;
  for (const CellEntry& reader : list.entries) {
    if (!reader.observes || reader.place.chain == 0) continue;
    const bool is_atomic = AccessClass::of_index(reader.access_class).write;
    for (std::uint32_t rest = reader.lanes; rest != 0;) {
      // The highest lane of an atomic has observed the most.
      const auto by = static_cast<unsigned>(31 - std::countl_zero(rest));
      if (is_before(row, reader.segment, by, lane)) {
        observations.add(reader.place.chain,
                         is_atomic ? reader.position_of(by) : reader.place.position + 1);
        break;
      }
      rest &= ~(1u << by);
    }
  }
  observations.close();
  return observations;
}

// Operations at cluster scope by blocks of one cluster are also morally strong.
bool GeneralRaceChecker::is_one_group(const Row& row, const CellEntry& entry) const {
  if (!order_.has_clusters()) return false;
  const Access& access = *row.access;
  const ThreadOrder::Segment& segment = order_.segment(entry.segment);
  if (segment.launch != order_.launch() || access.scope == ptx::Scope::cta) return false;
  if (access.program->code[entry.pc].modifiers.scope == ptx::Scope::cta) return false;
  return order_.cluster_of(segment.block) == order_.cluster_of(order_.block_key(access.place));
}

// Returns whether the accesses are of launches on different devices, which only system scope
// includes.
bool GeneralRaceChecker::are_apart(const Row& row, const CellEntry& entry) const {
  const std::uint32_t launch = order_.segment(entry.segment).launch;
  if (order_.device_of(launch) == order_.device_of(order_.launch())) return false;
  const Instr& earlier = launches_[launch].program->code[entry.pc];
  const Instr& now = row.access->program->code[row.access->pc];
  return scope_of(now) != ptx::Scope::sys || scope_of(earlier) != ptx::Scope::sys;
}

// Checks a bulk copy that comes after a write by a store or an atomic: a proxy fence must lie
// between them.
void GeneralRaceChecker::check_proxy(Row& row, const LaneAccess& mine, Earlier earlier) {
  if (earlier.segment < row.first) return;
  const ThreadOrder::Segment& segment = order_.segment(earlier.segment);
  if (segment.async_proxy || segment.launch != order_.launch()) return;
  const Access& access = *row.access;
  if (proxy_fences_.lies_between(earlier.segment, earlier.lane, access.place, mine.lane,
                                 access.space)) {
    return;
  }
  earlier.lacks_proxy_fence = true;
  report(row, mine, earlier);
}

}  // namespace warpcheck::vgpu
