// Reports of races that are found by epochs.
#include <algorithm>
#include <cstring>
#include <string>

#include "vgpu/check/order/bits.hpp"
#include "vgpu/check/race/race.hpp"
#include "vgpu/check/race/race_class.hpp"
#include "vgpu/check/race/race_finding.hpp"
#include "vgpu/check/race/race_lack.hpp"

namespace warpcheck::vgpu {
namespace {

// Returns the value that `lane` of a write stores at byte `index` of its access.
std::byte stored_byte(const Access& access, unsigned lane, std::uint32_t index) {
  const std::byte* const row = access.values[index / access.element_bytes];
  return row[lane * access.value_bytes + index % access.element_bytes];
}

// Returns whether `lane` is about to store the bytes that are already there.
//   last: the last weak writes of the cells; some may be by earlier lanes of this row, whose
//   bytes have not moved yet.
bool stores_same_bytes(const Access& access, const RaceRow& row, unsigned lane,
                       const CellEpochs& last) {
  if (access.values[0] == nullptr) return false;
  const std::uint32_t begin = access.offset[lane];
  for (std::uint32_t at = begin; at < begin + access.bytes; ++at) {
    std::byte held = access.allocation->data[at];
    const Epoch writer = last.epoch[at >> row.offset_shift] - row.epoch;
    if (writer < lane && (access.mask >> writer & 1) != 0 &&
        at - access.offset[writer] < access.bytes) {
      held = stored_byte(access, static_cast<unsigned>(writer), at - access.offset[writer]);
    }
    if (stored_byte(access, lane, at - begin) != held) return false;
  }
  return true;
}

// Returns whether `lane` stores the bytes that were there before the row.
bool holds_same_bytes(const Access& access, unsigned lane) {
  if (access.values[0] == nullptr) return false;
  for (std::uint32_t i = 0; i < access.bytes; ++i) {
    if (stored_byte(access, lane, i) != access.allocation->data[access.offset[lane] + i]) {
      return false;
    }
  }
  return true;
}

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

void RaceChecker::check_lane_by_lane(const Access& access, unsigned access_class, RaceRow& row,
                                     Shadow& shadow) {
  row.history = shadow.history(access_class, true);
  const std::int64_t cells = std::int64_t{1} << row.cells_log2;
  for_each_bit(access.mask, [&](unsigned lane) {
    report_lane(access, access_class, row, shadow, lane);
    const std::int64_t begin = access.offset[lane] >> row.offset_shift;
    bool displaced = false;
    for (std::int64_t cell = begin; cell < begin + cells; ++cell) {
      displaced |= record(row.history, cell, row.epoch + lane, row.pc, row.ordered_threads);
    }
    shadow.mark(1u << access_class, std::uint32_t{displaced} << access_class);
  });
}

// Reports every earlier access in this lane's cells that races with it.
void RaceChecker::report_lane(const Access& access, unsigned access_class, const RaceRow& row,
                              Shadow& shadow, unsigned lane) {
  const Epoch me = row.epoch + lane;
  const std::int64_t begin = access.offset[lane] >> row.offset_shift;
  const std::int64_t end = begin + (std::int64_t{1} << row.cells_log2);

  const auto look_in = [&](const CellEpochs& cells, unsigned earlier_class,
                           std::uint64_t ordered_threads, bool races) {
    Earlier found{earlier_class, 0, ptx::kNone};
    for (std::int64_t cell = begin; cell < end; ++cell) {
      const Earlier earlier{earlier_class, cells.epoch[cell], cells.pc[cell]};
      if (earlier == found || !unordered(earlier.epoch, me, ordered_threads)) continue;
      found = earlier;
      if (!races && !is_handed(access, access_class, lane, earlier, me)) continue;
      const Weight weight = weight_of(access, access_class, row, lane, cell, earlier, races);
      report(access, access_class, lane, weight, earlier);
    }
  };
  const auto look_for = [&](std::uint32_t classes, std::uint64_t ordered_threads, bool races) {
    for_each_bit(classes & shadow.used(), [&](unsigned earlier_class) {
      const bool pair = (shadow.displaced() >> earlier_class & 1) != 0;
      const History& history = shadow.history(earlier_class, pair);
      look_in(history.last, earlier_class, ordered_threads, races);
      if (pair) look_in(history.other, earlier_class, ordered_threads, races);
    });
  };
  look_for(kClassRelations.race[access_class], ordered_threads_, true);
  look_for(kClassRelations.race_across[access_class], kOrderedInBlock, true);
  if (hands_on_) look_for(kClassRelations.hand_over[access_class], ordered_threads_, false);
}

// Returns whether two strong accesses, which do not race, pass data on from one thread to another.
bool RaceChecker::is_handed(const Access& access, unsigned access_class, unsigned lane,
                            const Earlier& earlier, Epoch me) {
  const bool across = (kClassRelations.race_across[access_class] >> earlier.access_class & 1) != 0;
  if (across && across_blocks(earlier.epoch, me)) return false;
  if (!may_hand_on(*access.program, earlier.pc, *access.program, access.pc)) return false;
  const bool both_write =
      access.kind == AccessKind::write && AccessClass::of_index(earlier.access_class).write;
  return !both_write ||
         (unordered(earlier.epoch, me, kOrderedInWarp) && !holds_same_bytes(access, lane));
}

Weight RaceChecker::weight_of(const Access& access, unsigned access_class, const RaceRow& row,
                              unsigned lane, std::int64_t cell, const Earlier& earlier,
                              bool races) {
  if (access_class == kWeakWrite && earlier.access_class == kWeakWrite) {
    const bool same = stores_same_bytes(access, row, lane, row.history.last);
    return same ? Weight::same_bytes : Weight::race;
  }
  const Program& program = *access.program;
  const bool one_warp = !unordered(earlier.epoch, row.epoch + lane, kOrderedInWarp);
  if (one_warp && access.kind == AccessKind::write && collectives_.is_on()) {
    const auto byte = static_cast<std::uint32_t>(cell) << row.offset_shift;
    const std::uint32_t offset = std::max(byte, access.offset[lane]);
    const bool depends = !AccessClass::of_index(earlier.access_class).write &&
                         collectives_.orders(access, lane, offset, earlier.pc,
                                             thread_of(earlier.epoch) % kWarpLanes);
    if (depends && collectives_.orders_all(access, lane, offset)) return Weight::dependent;
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

void RaceChecker::report(const Access& access, unsigned access_class, unsigned lane, Weight weight,
                         const Earlier& earlier) {
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
    const AccessClass now = AccessClass::of_index(access_class);
    return race_finding(reporter_, access, lane, weight,
                        reporter_.side(role_at(program, earlier.pc, earlier_kind), program,
                                       earlier.pc, earlier_thread),
                        {lack_of(program, before, earlier.pc, now, access.pc, relation),
                         message_of(before, now, one_block, one_warp)});
  });
}

}  // namespace warpcheck::vgpu
