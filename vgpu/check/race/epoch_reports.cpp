#include "vgpu/check/race/epoch_reports.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "vgpu/check/order/clocks/bits.hpp"
#include "vgpu/check/race/race_class.hpp"
#include "vgpu/check/race/race_finding.hpp"
#include "vgpu/check/race/race_lack.hpp"
#include "vgpu/check/race/stored_bytes.hpp"

namespace warpcheck::vgpu {

void EpochReports::report_lane(const Later& later, const RaceRow& row, Shadow& shadow) {
  const Epoch me = row.epoch + later.lane;
  const std::int64_t begin = later.access.offset[later.lane] >> row.offset_shift;
  const std::int64_t end = begin + (std::int64_t{1} << row.cells_log2);

  // The latest write of the later access's class, if it is a write.
  const Epoch* const latest =
      AccessClass::of_index(later.access_class).write ? row.history.last.epoch : nullptr;
  const auto look_in = [&](const CellEpochs& cells, unsigned earlier_class,
                           std::uint64_t ordered_threads, bool races, bool is_last) {
    Earlier found{earlier_class, 0, ptx::kNone};
    for (std::int64_t cell = begin; cell < end; ++cell) {
      Earlier earlier{earlier_class, cells.epoch[cell], cells.pc[cell], is_last};
      if (latest != nullptr) {
        earlier.is_writer = thread_number(latest[cell]) == thread_number(earlier.epoch);
      }
      const bool is_found = earlier.epoch == found.epoch && earlier.pc == found.pc;
      if (is_found || !unordered(earlier.epoch, me, ordered_threads)) continue;
      found = earlier;
      if (!races) {
        if (!may_be_handed(later, earlier, me)) continue;
        const bool both_write = latest != nullptr && AccessClass::of_index(earlier_class).write;
        if (both_write && is_last && later.stores_same()) {
          same_value_stores_.add(later, thread_number(earlier.epoch), thread_number(me));
        }
        if (both_write && !is_overwritten(later, earlier, me)) continue;
      }
      const auto offset = static_cast<std::uint32_t>(cell) << row.offset_shift;
      report(later, earlier, weight_of(later, earlier, me, offset, races));
    }
  };
  const auto look_for = [&](std::uint32_t classes, std::uint64_t ordered_threads, bool races) {
    for_each_bit(classes & shadow.used(), [&](unsigned earlier_class) {
      const bool pair = (shadow.displaced() >> earlier_class & 1) != 0;
      const History& history = shadow.history(earlier_class, pair);
      look_in(history.last, earlier_class, ordered_threads, races, true);
      if (pair) look_in(history.other, earlier_class, ordered_threads, races, false);
    });
  };
  look_for(kClassRelations.race[later.access_class], row.ordered_threads, true);
  look_for(kClassRelations.race_across[later.access_class], kOrderedInBlock, true);
  if (later.access.program->data_reads.empty()) return;
  look_for(kClassRelations.hand_over[later.access_class], row.ordered_threads, false);
}

// Returns whether two strong accesses, which do not race, may pass data on from one thread to
// another, or store to one place.
bool EpochReports::may_be_handed(const Later& later, const Earlier& earlier, Epoch me) {
  const bool across =
      (kClassRelations.race_across[later.access_class] >> earlier.access_class & 1) != 0;
  if (across && across_blocks(earlier.epoch, me)) return false;
  const Program& program = *later.access.program;
  return may_hand_on(program, earlier.pc, program, later.access.pc);
}

// Returns whether it is chance which of two strong stores stays.
bool EpochReports::is_overwritten(const Later& later, const Earlier& earlier, Epoch me) {
  const Access& access = later.access;
  if (unordered(earlier.epoch, me, kOrderedInWarp)) {
    return !stores_what_was_there(access, later.lane);
  }
  // Lanes of one warp count if they execute one store.
  const unsigned by = thread_of(earlier.epoch) % kWarpLanes;
  const bool is_one_store = earlier.is_last && earlier.pc == access.pc && by < later.lane &&
                            (access.mask >> by & 1) != 0 &&
                            access.offset[by] == access.offset[later.lane];
  return is_one_store && !later.stores_same();
}

Weight EpochReports::weight_of(const Later& later, const Earlier& earlier, Epoch me,
                               std::uint32_t offset, bool races) {
  const Access& access = later.access;
  const unsigned lane = later.lane;
  const bool writes_first = AccessClass::of_index(earlier.access_class).write;
  const SameValueStores::Thread before = thread_number(earlier.epoch), by = thread_number(me);
  if (later.access_class == kWeakWrite && earlier.access_class == kWeakWrite) {
    const bool is_same =
        same_value_stores_.add_if_same(later, before, by, earlier.is_last, reporter_);
    return is_same ? Weight::same_bytes : Weight::race;
  }
  const Program& program = *access.program;
  const bool one_warp = !unordered(earlier.epoch, me, kOrderedInWarp);
  if (one_warp && access.kind == AccessKind::write && collectives_.is_on()) {
    const std::uint32_t first = std::max(offset, access.offset[lane]);
    const bool by_warp = is_collective_load(program, earlier.pc);
    const bool depends =
        !writes_first && (by_warp || collectives_.orders(access, lane, first, earlier.pc,
                                                         thread_of(earlier.epoch) % kWarpLanes));
    if (depends && collectives_.orders_all(access, lane, first)) {
      return by_warp ? Weight::collective_load : Weight::dependent;
    }
  }
  if (access.kind != AccessKind::atomic &&
      same_value_stores_.is_own(later, writes_first, earlier.is_writer, before, by)) {
    return Weight::same_value_read;
  }
  if (races) {
    const bool guessed = guesses_.explain(program, earlier.pc, program, access.pc);
    return guessed ? Weight::swap_guess : Weight::race;
  }
  return weight_of_hand_over(access, earlier.pc, writes_first, one_warp);
}

void EpochReports::report(const Later& later, const Earlier& earlier, Weight weight) {
  const Access& access = later.access;
  const unsigned lane = later.lane;
  const Program& program = *access.program;
  const ThreadId later_thread = thread_of(access.place, lane);
  const ThreadId earlier_thread{
      access.space == ptx::Space::shared ? access.place.block : block_of(earlier.epoch),
      thread_of(earlier.epoch)};
  const AccessKind earlier_kind = kind_at(program, earlier.pc, earlier.access_class);
  const bool one_block = earlier_thread.block == later_thread.block;
  const bool one_warp =
      one_block && earlier_thread.thread / kWarpLanes == later_thread.thread / kWarpLanes;
  const Relation relation = relation_of(one_block, one_warp);
  const Reporter::Key key =
      key_of_race(program, {earlier.pc, earlier_kind}, {access.pc, access.kind}, weight);
  reporter_.report(key, relation, [&] {
    const AccessClass before = AccessClass::of_index(earlier.access_class);
    const AccessClass now = AccessClass::of_index(later.access_class);
    RaceExplanation explanation{lack_of(program, before, earlier.pc, now, access.pc, relation),
                                std::string(message_of_threads(relation))};
    if (before.strong && now.strong && !morally_strong(before, now, one_block)) {
      explanation = explain_strong(before, now);
    }
    if (weight == Weight::race && !before.strong && !now.strong) {
      explanation = with_lock(program, earlier.pc, access.pc, std::move(explanation));
      if (may_be_by_flag(explanation.lack)) {
        explanation = with_flag(program, earlier.pc, program, access.pc, std::move(explanation));
      }
    }
    return race_finding(reporter_, access, lane, weight,
                        reporter_.side(role_at(program, earlier.pc, earlier_kind), program,
                                       earlier.pc, earlier_thread),
                        explanation);
  });
}

}  // namespace warpcheck::vgpu
