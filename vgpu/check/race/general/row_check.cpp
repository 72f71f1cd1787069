#include "vgpu/check/race/general/row_check.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "vgpu/check/race/general/observed_writes.hpp"
#include "vgpu/check/race/race_class.hpp"

namespace warpcheck::vgpu {
namespace {

CellList::Passed& passed_of(const LaneAccess& mine, CellList& list) {
  return list.passed[AccessClass::of_index(mine.access_class).write ? 1 : 0];
}

}  // namespace

void RowCheck::check(CheckedRow& row, const LaneAccess& mine, Cell& cell) {
  if (cell.write.bits != 0) {
    const EarlierAccess write{.segment = cell.write.segment(),
                              .lane = cell.write.lane(),
                              .pc = cell.write.pc(),
                              .access_class = kWeakWrite,
                              .is_last = true};
    if (!causality_.is_before(row, write.segment, write.lane, mine.lane)) {
      report(row, mine, write);
    } else if (row.proxy != Proxy::generic) {
      check_proxy(row, mine, write);
    }
  }
  if (cell.rest == 0) return;
  if (cell.has_list()) {
    if (!row.is_after(state_.lists.at(cell))) return check_list(row, mine, cell);
    state_.lists.drop(cell);
    return;
  }
  if ((kClassRelations.race[mine.access_class] >> kWeakRead & 1) == 0) return;
  const Record read{cell.rest};
  if (!causality_.is_before(row, read.segment(), read.lane(), mine.lane)) {
    report(row, mine,
           {.segment = read.segment(),
            .lane = read.lane(),
            .pc = read.pc(),
            .access_class = kWeakRead,
            .offset = row.offset_in(mine, cell),
            .is_writer = is_writer(cell, read.segment(), read.lane())});
  }
}

// Returns whether the lane of a segment has made the latest weak write of a cell.
bool RowCheck::is_writer(const Cell& cell, SegmentId segment, unsigned lane) const {
  const Threads& threads = state_.order.threads();
  return cell.write.bits != 0 && threads.actor_of(cell.write.lane()) == threads.actor_of(lane) &&
         state_.order.segments().are_of_same_warp(cell.write.segment(), segment) &&
         !state_.order.segments().at(segment).asynchronous;
}

// Returns the first entry of a list that an access must check: all earlier entries are known to
// come before it, or cannot race with it.
std::size_t RowCheck::first_in_question(CheckedRow& row, const LaneAccess& mine,
                                        const AccessRelations::Classes& classes,
                                        CellList& list) const {
  if (row.proxy != Proxy::generic) return 0;
  const std::uint32_t settled = CellLists::settle(list, state_.order);
  // A check that also looks for notes may skip fewer entries.
  const unsigned passes_as = mine.access_class + (classes.handed != 0 ? kAccessClasses : 0);
  CellList::Passed& passed = passed_of(mine, list);
  const bool goes_on = passed.of_class == passes_as && !row.access->asynchronous &&
                       !state_.order.launches().has_clusters() &&
                       (passed.by == row.now || is_passed_on(row, classes.across, list, passed));
  if (!goes_on) passed.count = settled;
  passed.by = row.now;
  passed.of_class = static_cast<std::uint8_t>(passes_as);
  return std::max(passed.count, settled);
}

// Returns whether what an earlier segment of the launch has passed comes before the row, too:
// causality order is transitive.  Whether entries race may depend on the block and the device.
bool RowCheck::is_passed_on(CheckedRow& row, std::uint32_t across, const CellList& list,
                            const CellList::Passed& passed) const {
  if (passed.by == 0 || state_.order.launches().has_devices()) return false;
  const Segment& by = state_.order.segments().at(passed.by);
  if (by.launch != state_.order.launches().current()) return false;
  const bool is_alike = (list.classes & across) == 0 ||
                        by.block == state_.order.launches().block_key(row.access->place);
  return is_alike && !by.asynchronous && causality_.all_before(row, passed.by);
}

void RowCheck::check_list(CheckedRow& row, const LaneAccess& mine, const Cell& cell) {
  CellList& list = state_.lists.at(cell);
  const AccessRelations::Classes classes = relations_.classes_for(row, mine);
  if (!relations_.may_matter(classes, row, list)) return;
  const CellList::Extent extent =
      list.extent_of(classes.anyhow | classes.across | classes.apart | classes.handed);
  const std::size_t first = first_in_question(row, mine, classes, list);
  CellList::Passed& passed = passed_of(mine, list);
  std::optional<ObservedWrites> observed;
  // What comes before a row of another proxy says nothing of the segment `passed.by`.
  bool all_passed = row.proxy == Proxy::generic;
  for (std::size_t i = std::max<std::size_t>(first, extent.begin); i < extent.end; ++i) {
    const CellEntry& entry = list.entries[i];
    if (all_passed) passed.count = static_cast<std::uint32_t>(i);
    const bool races = relations_.race_unless_ordered(classes, row, entry);
    const bool may_hand = !races && (classes.handed >> entry.access_class & 1) != 0;
    if (!races && !may_hand) continue;
    if (may_hand && !relations_.hand_on(row, mine, entry)) {
      // For two stores, the result depends on the stored value, and the next store may write
      // another value.
      all_passed = all_passed && (!AccessClass::of_index(entry.access_class).write ||
                                  causality_.all_before(row, entry.segment));
      continue;
    }
    const bool asks_proxy =
        row.proxy != Proxy::generic && AccessClass::of_index(entry.access_class).write;
    if (!asks_proxy && causality_.all_before(row, entry.segment)) continue;
    all_passed = false;
    for (std::uint32_t rest = entry.lanes; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      const auto is_observed = [&] {
        if (entry.place.chain == 0) return false;
        if (!observed) observed.emplace(causality_, row, list, mine.lane);
        return observed->include(entry, lane);
      };
      if (causality_.is_before(row, entry.segment, lane, mine.lane) || is_observed()) {
        if (asks_proxy) check_proxy(row, mine, {entry.segment, lane, entry.pc, entry.access_class});
        continue;
      }
      const bool is_enough = report(row, mine,
                                    {.segment = entry.segment,
                                     .lane = lane,
                                     .pc = entry.pc,
                                     .access_class = entry.access_class,
                                     .is_handed = may_hand,
                                     .offset = row.offset_in(mine, cell),
                                     .is_writer = is_writer(cell, entry.segment, lane)});
      if (is_enough) break;
    }
  }
  if (all_passed) passed.count = static_cast<std::uint32_t>(list.entries.size());
}

// Checks a bulk copy, or the read of its tensor map, that comes after a write by a store or an
// atomic: a fence of its proxy must lie between them.
void RowCheck::check_proxy(const CheckedRow& row, const LaneAccess& mine, EarlierAccess earlier) {
  if (earlier.segment < row.first) return;
  const Segment& segment = state_.order.segments().at(earlier.segment);
  if (segment.async_proxy || segment.launch != state_.order.launches().current()) return;
  const Access& access = *row.access;
  if (row.proxy == Proxy::tensor_map) {
    const MapFences::Missing missing =
        state_.map_fences.missing(earlier.segment, earlier.lane, access, mine.lane, mine.offset);
    if (missing == MapFences::Missing::nothing) return;
    earlier.lacks_map_release = missing == MapFences::Missing::release;
  } else if (state_.proxy_fences.lies_between(earlier.segment, earlier.lane, access.place,
                                              mine.lane, access.space)) {
    return;
  }
  earlier.lacks_proxy_fence = true;
  report(row, mine, earlier);
}

// Returns whether the rest of the entry needs no check.
bool RowCheck::report(const CheckedRow& row, const LaneAccess& mine, const EarlierAccess& earlier) {
  has_found_ = true;
  // Reads of flags in deferred rows may explain the race.
  asks_again_ = asks_again_ || !deferred_.is_empty() || phases_.has_atomics(row.access->place.slot);
  return !asks_again_ && reports_.report(row, mine, earlier);
}

// Returns whether a race was found that could not be explained before the deferred rows are
// performed; performs them.
bool RowCheck::asks_again(const CheckedRow& row) {
  if (!std::exchange(asks_again_, false)) return false;
  phases_.perform_atomics(row.access->place.slot);
  deferred_.perform_all();
  return true;
}

}  // namespace warpcheck::vgpu
