#include "vgpu/check/race/epoch_reports.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "vgpu/check/order/bits.hpp"
#include "vgpu/check/race/race_class.hpp"
#include "vgpu/check/race/race_finding.hpp"
#include "vgpu/check/race/race_lack.hpp"
#include "vgpu/check/race/stored_bytes.hpp"

namespace warpcheck::vgpu {
namespace {

std::string message_of(const AccessClass& earlier, const AccessClass& later, bool one_block,
                       bool one_warp) {
  const bool hand_on = morally_strong(earlier, later, one_block);
  if (earlier.strong && later.strong && !hand_on) {
    return earlier.size_log2 != later.size_log2
               ? "(1) and (2) are of different sizes, so they are not atomic to each other"
               : "the scope of (1) or (2) does not include the other's block";
  }
  if (!one_block) return "nothing orders blocks of one kernel launch";
  if (one_warp) return "lanes of one warp are not ordered without __syncwarp()";
  return "no barrier orders (1) and (2)";
}

}  // namespace

bool EpochReports::stores_same(const Later& later) {
  if (!later.same_bytes) later.same_bytes = stores_same_bytes(later.access, later.lane);
  return *later.same_bytes;
}

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
      if (!races && !is_handed(later, earlier, me)) continue;
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

// Returns whether two strong accesses, which do not race, pass data on from one thread to another.
bool EpochReports::is_handed(const Later& later, const Earlier& earlier, Epoch me) {
  const Access& access = later.access;
  const bool across =
      (kClassRelations.race_across[later.access_class] >> earlier.access_class & 1) != 0;
  if (across && across_blocks(earlier.epoch, me)) return false;
  if (!may_hand_on(*access.program, earlier.pc, *access.program, access.pc)) return false;
  const bool both_write =
      access.kind == AccessKind::write && AccessClass::of_index(earlier.access_class).write;
  if (!both_write) return true;
  if (earlier.is_last && stores_same(later)) {
    same_value_stores_.add(access, later.lane, thread_number(earlier.epoch), thread_number(me));
  }
  if (unordered(earlier.epoch, me, kOrderedInWarp)) {
    return !stores_what_was_there(access, later.lane);
  }
  // Lanes of one warp count if they execute one store.
  const unsigned by = thread_of(earlier.epoch) % kWarpLanes;
  const bool is_one_store = earlier.is_last && earlier.pc == access.pc && by < later.lane &&
                            (access.mask >> by & 1) != 0 &&
                            access.offset[by] == access.offset[later.lane];
  return is_one_store && !stores_same(later);
}

// Returns whether a load and a store are of the same value, which the loading thread has stored
// itself.
bool EpochReports::is_own_value(const Later& later, const Earlier& earlier, Epoch me) {
  const Access& access = later.access;
  if (access.kind == AccessKind::read) {
    return same_value_stores_.has(access, later.lane, thread_number(me)) &&
           same_value_stores_.has(access, later.lane, thread_number(earlier.epoch));
  }
  if (AccessClass::of_index(earlier.access_class).write || !stores_same(later)) {
    return false;
  }
  return earlier.is_writer ||
         same_value_stores_.has(access, later.lane, thread_number(earlier.epoch));
}

Weight EpochReports::weight_of(const Later& later, const Earlier& earlier, Epoch me,
                               std::uint32_t offset, bool races) {
  const Access& access = later.access;
  const unsigned lane = later.lane;
  if (later.access_class == kWeakWrite && earlier.access_class == kWeakWrite) {
    if (!stores_same(later) || involves_undefined(access, lane, reporter_)) {
      same_value_stores_.forget(access, lane);
      return Weight::race;
    }
    if (earlier.is_last) {
      same_value_stores_.add(access, lane, thread_number(earlier.epoch), thread_number(me));
    }
    return Weight::same_bytes;
  }
  const Program& program = *access.program;
  const bool one_warp = !unordered(earlier.epoch, me, kOrderedInWarp);
  if (one_warp && access.kind == AccessKind::write && collectives_.is_on()) {
    const std::uint32_t first = std::max(offset, access.offset[lane]);
    const bool by_warp = is_collective_load(program, earlier.pc);
    const bool depends = !AccessClass::of_index(earlier.access_class).write &&
                         (by_warp || collectives_.orders(access, lane, first, earlier.pc,
                                                         thread_of(earlier.epoch) % kWarpLanes));
    if (depends && collectives_.orders_all(access, lane, first)) {
      return by_warp ? Weight::collective_load : Weight::dependent;
    }
  }
  if (access.kind != AccessKind::atomic && is_own_value(later, earlier, me)) {
    return Weight::same_value_read;
  }
  if (races) {
    const bool guessed = guesses_.explain(program, earlier.pc, program, access.pc);
    return guessed ? Weight::swap_guess : Weight::race;
  }
  if (access.kind == AccessKind::write && AccessClass::of_index(earlier.access_class).write) {
    return Weight::overwrite;
  }
  const bool in_lockstep_code = one_warp && access.space == ptx::Space::shared &&
                                is_volatile(program, earlier.pc) && is_volatile(program, access.pc);
  return in_lockstep_code ? Weight::warp_hand_over : Weight::hand_over;
}

void EpochReports::report(const Later& later, const Earlier& earlier, Weight weight) {
  const Access& access = later.access;
  const unsigned lane = later.lane;
  const Program& program = *access.program;
  const ThreadId later_thread = thread_of(access.place, lane);
  const ThreadId earlier_thread{
      access.space == ptx::Space::shared ? access.place.block : block_of(earlier.epoch),
      thread_of(earlier.epoch)};
  AccessKind earlier_kind = AccessKind::read;
  if (AccessClass::of_index(earlier.access_class).write) {
    earlier_kind =
        program.code[earlier.pc].kind == InstrKind::atomic ? AccessKind::atomic : AccessKind::write;
  }

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
                                message_of(before, now, one_block, one_warp)};
    if (weight == Weight::race && !before.strong && !now.strong) {
      explanation = with_lock(program, earlier.pc, access.pc, std::move(explanation));
    }
    return race_finding(reporter_, access, lane, weight,
                        reporter_.side(role_at(program, earlier.pc, earlier_kind), program,
                                       earlier.pc, earlier_thread),
                        explanation);
  });
}

}  // namespace warpcheck::vgpu
