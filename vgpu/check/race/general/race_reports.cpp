#include "vgpu/check/race/general/race_reports.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "vgpu/check/race/race_class.hpp"
#include "vgpu/check/race/race_finding.hpp"
#include "vgpu/check/race/race_lack.hpp"

namespace warpcheck::vgpu {
namespace {

// Returns what a message adds if the first side is in another kernel than the second.
std::string text_of_kernel(const Program& first, const Program& second) {
  if (first.kernel == second.kernel) return {};
  return fmt::format("; (1) is in kernel {}", kernel_name(first.kernel));
}

}  // namespace

AccessSide RaceReports::side_of(const EarlierAccess& earlier) const {
  const Segment& segment = state_.order.segments().at(earlier.segment);
  const CheckedLaunch& launch = state_.launches[segment.launch];
  const AccessKind kind = kind_at(*launch.program, earlier.pc, earlier.access_class);
  return side_at(
      role_at(*launch.program, earlier.pc, kind),
      {launch.program, earlier.pc,
       launch.grid.position_of(static_cast<std::uint32_t>(segment.block - launch.first_block)),
       launch.block.position_of(segment.warp * kWarpLanes + earlier.lane)});
}

void RaceReports::report_late(const Sync& end, const SharedOwners::Use& use, unsigned lane) {
  const Program& program = *end.program;
  if (use.is_copy && copies_in_races_.contains(use.pc)) return;
  const std::uint32_t more = use.is_copy ? 1u << 29 : 1u << 30;
  reporter_.report({&program, use.pc, ptx::kNone, more}, [&] {
    const CheckedLaunch& launch = state_.launches[state_.order.launches().current()];
    const Dim3 block = launch.grid.position_of(end.place.block);
    Finding finding;
    finding.kind = FindingKind::use_after_free;
    finding.space = "shared";
    finding.kernel = kernel_name(program.kernel);
    finding.object = use.object;
    finding.accesses = {side_of({use.segment, lane, use.pc, use.access_class})};
    if (use.is_copy) finding.lack = Lack::copy_wait;
    finding.message = fmt::format(
        "block ({},{},{}), whose shared memory this is, may have exited{}", block.x, block.y,
        block.z,
        use.is_copy ? " before the asynchronous copy (1) is complete: no thread of the block has "
                      "waited for it"
                    : ": nothing orders (1) before its end, as a last barrier of the cluster does");
    return finding;
  });
}

bool RaceReports::report(const CheckedRow& row, const LaneAccess& mine,
                         const EarlierAccess& earlier) {
  const Access& access = *row.access;
  const Segment& segment = state_.order.segments().at(earlier.segment);
  const bool one_launch = segment.launch == state_.order.launches().current();
  const Program& program = *access.program;
  const AccessKind earlier_kind =
      kind_at(*state_.launches[segment.launch].program, earlier.pc, earlier.access_class);
  if (cannot_go_wrong(row, mine, earlier, earlier_kind)) return true;
  if (earlier.is_handed && has_seen_release(row, mine.lane, earlier)) return false;
  const Weight weight = weight_of(row, mine, earlier);
  if (access.space == ptx::Space::shared) {
    if (segment.asynchronous) copies_in_races_.insert(earlier.pc);
    if (access.asynchronous) copies_in_races_.insert(access.pc);
  }
  const bool one_block = segment.block == state_.order.launches().block_key(access.place);
  const Relation relation =
      one_launch ? relation_of(one_block, segment.warp == access.place.warp) : Relation::launches;
  const std::uint32_t more =
      (one_launch ? 0 : segment.launch + 1) << 12 | std::uint32_t{earlier.lacks_proxy_fence} << 10;
  const Reporter::Key key =
      key_of_race(program, {earlier.pc, earlier_kind}, {access.pc, access.kind}, weight, more);
  reporter_.report(key, relation, [&] {
    RaceExplanation explanation = explainer_.explain(row, mine, earlier);
    AccessSide side = side_of(earlier);
    if (side.file.empty()) {
      explanation.message += text_of_kernel(*state_.launches[segment.launch].program, program);
    }
    return race_finding(reporter_, access, mine.lane, weight, std::move(side), explanation);
  });
  return weight != Weight::dependent && weight != Weight::passed_on &&
         weight != Weight::same_value_read;
}

// Returns whether the letter makes a race of two accesses that no execution can exchange.
bool RaceReports::cannot_go_wrong(const CheckedRow& row, const LaneAccess& mine,
                                  const EarlierAccess& earlier, AccessKind earlier_kind) {
  // Cooperative groups pass values through reserved shared memory with shfl.sync, which orders no
  // memory.  The order that their atomics in this memory give to the program's own memory counts.
  if (row.access->allocation->reserved) return true;
  if (is_fenced_init(row, mine, earlier) || is_known_use(row, mine, earlier)) return true;
  // Blocks that let the next kernel begin by exiting have completed their reads.
  const std::uint32_t launch = state_.order.segments().at(earlier.segment).launch;
  const EarlyLaunches& early = state_.order.launches().early();
  return launch == early.before() && !early.has_let(launch) &&
         (earlier_kind == AccessKind::read || early.can_wait());
}

// Returns whether fence.mbarrier_init has released the earlier access, an initialisation.
bool RaceReports::is_fenced_init(const CheckedRow& row, const LaneAccess& mine,
                                 const EarlierAccess& earlier) const {
  const Segment& segment = state_.order.segments().at(earlier.segment);
  if (segment.launch != state_.order.launches().current()) return false;
  const Instr& instr = row.access->program->code[earlier.pc];
  return instr.kind == InstrKind::barrier_object &&
         instr.modifiers.object_op == ptx::ObjectOp::init &&
         state_.cluster_order.knows_init(earlier.segment, earlier.lane, row.access->place,
                                         mine.lane);
}

namespace {

bool invalidates(const Instr& instr) {
  return instr.kind == InstrKind::barrier_object &&
         instr.modifiers.object_op == ptx::ObjectOp::inval;
}

// Returns whether a whole warp copies a tensor map; else a thread replaces a field of one.
bool copies_map(const Instr& instr) {
  return instr.opcode == ptx::Opcode::tensormap_ && instr.modifiers.sync;
}
bool replaces_field(const Instr& instr) {
  return instr.opcode == ptx::Opcode::tensormap_ && !instr.modifiers.sync;
}

bool is_collective_copy(const Access& access) {
  return access.kind == AccessKind::read && copies_map(access.program->code[access.pc]);
}

}  // namespace

// Returns whether an asynchronous copy reuses bytes of an allocation's address, of a tensor map, or
// of an mbarrier that has ended.
bool RaceReports::is_reuse(const CheckedRow& row, const EarlierAccess& earlier) {
  if (!earlier.lacks_proxy_fence || row.proxy == Proxy::tensor_map) return false;
  if (row.access->kind != AccessKind::write) return false;
  const Instr& before = row.access->program->code[earlier.pc];
  return before.kind == InstrKind::tensor_memory || replaces_field(before) || invalidates(before);
}

// Returns whether the access is an mbarrier.inval after uses of the object by other lanes of a
// warp, one lane of which comes before it.  Operations on an mbarrier are complete when they
// return, and cuda::pipeline relies on that: at its end, the lanes of a warp meet at a match.sync,
// which orders no memory, and one lane counts for all.
bool RaceReports::is_known_use(const CheckedRow& row, const LaneAccess& mine,
                               const EarlierAccess& earlier) {
  const Access& access = *row.access;
  const Segment& segment = state_.order.segments().at(earlier.segment);
  if (!invalidates(access.program->code[access.pc]) ||
      segment.launch != state_.order.launches().current() || segment.asynchronous)
    return false;
  if (access.program->code[earlier.pc].kind != InstrKind::barrier_object) return false;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    if (state_.order.before(earlier.segment, lane, access.place, mine.lane)) return true;
  }
  return false;
}

Weight RaceReports::weight_of(const CheckedRow& row, const LaneAccess& mine,
                              const EarlierAccess& earlier) {
  const Access& access = *row.access;
  const Segment& segment = state_.order.segments().at(earlier.segment);
  if (segment.is_object && !earlier.lacks_proxy_fence &&
      state_.barrier_objects.is_before_barrier(earlier.segment, earlier.lane, access.place)) {
    return Weight::relaxed_wait;
  }
  if (is_reuse(row, earlier)) return Weight::reused;
  const bool weak_writes = mine.access_class == kWeakWrite && earlier.access_class == kWeakWrite;
  if (weak_writes && same_value_stores_.add_if_same(
                         {access, mine.lane}, thread_of_earlier(earlier), thread_of_mine(row, mine),
                         earlier.is_last && !access.asynchronous, reporter_)) {
    return Weight::same_bytes;
  }
  const bool of_warp = segment.block == state_.order.launches().block_key(access.place) &&
                       segment.warp == access.place.warp && !segment.asynchronous;
  const bool one_warp = of_warp && !access.asynchronous;
  const bool reads_first = !AccessClass::of_index(earlier.access_class).write;
  const Program& earlier_program = *state_.launches[segment.launch].program;
  // A copy comes after what its lane did before.
  if (of_warp && reads_first && access.kind == AccessKind::write &&
      is_collective_load(earlier_program, earlier.pc)) {
    return Weight::collective_load;
  }
  if (of_warp && !reads_first && is_collective_copy(access)) return Weight::collective_copy;
  if (segment.asynchronous && invalidates(access.program->code[access.pc]) &&
      earlier_program.code[earlier.pc].kind == InstrKind::tensor_memory) {
    return Weight::ended;
  }
  if (is_own_value(row, mine, earlier)) return Weight::same_value_read;
  if (one_warp && reads_first && access.kind == AccessKind::write &&
      collectives_.orders(access, mine.lane, earlier.offset, earlier.pc, earlier.lane)) {
    return Weight::dependent;
  }
  if (!earlier.lacks_proxy_fence && is_passed_on(access, mine.lane, earlier)) {
    return Weight::passed_on;
  }
  if (!earlier.is_handed) {
    const bool guessed = !earlier.lacks_proxy_fence &&
                         guesses_.explain(earlier_program, earlier.pc, *access.program, access.pc);
    return guessed ? Weight::swap_guess : Weight::race;
  }
  return weight_of_hand_over(access, earlier.pc, !reads_first, one_warp);
}

SameValueStores::Thread RaceReports::thread_of_earlier(const EarlierAccess& earlier) const {
  const Segment& segment = state_.order.segments().at(earlier.segment);
  return segment.block * kThreadsMax + segment.warp * kWarpLanes +
         state_.order.threads().actor_of(earlier.lane);
}

SameValueStores::Thread RaceReports::thread_of_mine(const CheckedRow& row,
                                                    const LaneAccess& mine) const {
  const WarpPlace& place = row.access->place;
  return state_.order.launches().block_key(place) * kThreadsMax +
         state_.order.threads().thread_at(place, mine.lane);
}

// Returns whether a load and a store are of the same value, which the loading thread has stored
// itself.
bool RaceReports::is_own_value(const CheckedRow& row, const LaneAccess& mine,
                               const EarlierAccess& earlier) {
  const Access& access = *row.access;
  if (access.asynchronous || access.kind == AccessKind::atomic || earlier.lacks_proxy_fence ||
      state_.order.segments().at(earlier.segment).asynchronous) {
    return false;
  }
  return same_value_stores_.is_own(
      {access, mine.lane}, AccessClass::of_index(earlier.access_class).write, earlier.is_writer,
      thread_of_earlier(earlier), thread_of_mine(row, mine));
}

// Returns whether the earlier access comes before another lane of the warp, and a warp operation of
// both lanes has passed that on.
bool RaceReports::is_passed_on(const Access& access, unsigned lane, const EarlierAccess& earlier) {
  if (!collectives_.is_on() || access.asynchronous) return false;
  const Segment& segment = state_.order.segments().at(earlier.segment);
  const bool one_warp = segment.block == state_.order.launches().block_key(access.place) &&
                        segment.warp == access.place.warp;
  if (one_warp || segment.launch != state_.order.launches().current() || segment.asynchronous)
    return false;
  for (unsigned by = 0; by < kWarpLanes; ++by) {
    if (by == lane || !state_.order.before(earlier.segment, earlier.lane, access.place, by))
      continue;
    if (collectives_.lets_go_on(access, lane, by, state_.order.segment_of(access.place, false)))
      return true;
  }
  return false;
}

// Returns whether (1) is released, and the thread of (2) or another thread of its block has read
// the flag.  In practice strong accesses need no more; the programming guide sums the results of
// blocks in this way.
bool RaceReports::has_seen_release(const CheckedRow& row, unsigned lane,
                                   const EarlierAccess& earlier) {
  const WarpPlace& place = row.access->place;
  const auto would_know = [&](const ThreadState& reader) {
    return state_.order.knows(reader.all_observed(), earlier.segment, earlier.lane);
  };
  if (would_know(state_.order.threads().at(place, lane))) return true;
  if (seen_release_.earlier != earlier.segment || seen_release_.now != row.now) {
    bool seen = false;
    state_.order.threads().for_each_lane(
        place, [&](const ThreadState& reader) { seen = seen || would_know(reader); });
    seen_release_ = {earlier.segment, row.now, seen};
  }
  return seen_release_.seen;
}

}  // namespace warpcheck::vgpu
