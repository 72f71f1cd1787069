#include "vgpu/check/race/general/race_explainer.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "vgpu/check/race/race_class.hpp"
#include "vgpu/check/race/race_flag.hpp"
#include "vgpu/check/race/race_lack.hpp"

namespace warpcheck::vgpu {
namespace {

// Explains a race between an access of the launch `earlier` and one of a launch that may have begun
// before `earlier` had completed.
std::string explain_early(const EarlyLaunches& early, std::uint32_t earlier) {
  if (early.is_open_after_wait(earlier)) {
    return "programmatic dependent launches: a kernel between the two does not call "
           "cudaGridDependencySynchronize(), so waiting for it is no wait for that of (1)";
  }
  if (earlier != early.before()) {
    return "programmatic dependent launches: a kernel between the two lets the next one begin "
           "before it has waited for that of (1), and (2) does not come after "
           "cudaGridDependencySynchronize()";
  }
  if (early.has_let(earlier)) {
    return "the kernel of (1) lets that of (2) begin early (programmatic dependent launch), and "
           "(2) "
           "does not come after cudaGridDependencySynchronize()";
  }
  return "the kernel of (2) may begin before what that of (1) has written is visible (programmatic "
         "dependent launch): it never calls cudaGridDependencySynchronize()";
}

// Explains a race of launches that nothing orders.
//   of_device: device code has launched one of them
RaceExplanation explain_launches(const AccessClass& before, const AccessClass& now,
                                 bool of_device) {
  if (before.strong && now.strong && before.size_log2 == now.size_log2) {
    return {Lack::scope,
            "nothing orders these two kernel launches, and the scope of (1) or (2) does not "
            "include the other's device"};
  }
  if (of_device) {
    return {Lack::order_of_grids,
            "nothing orders these two grids: one of them was launched by device code"};
  }
  return {
      Lack::order_of_launches,
      "nothing orders these two kernel launches: no stream, event, edge of a graph or wait of the "
      "host leads from one to the other"};
}

bool multiplies(const Program& program, std::uint32_t pc) {
  return program.code[pc].kind == InstrKind::group_load ||
         program.code[pc].kind == InstrKind::tensor_memory;
}

// Returns what a read has missed of a write by (1)'s block.
//   who: the thread that wrote
//   one_launch: both sides are of one launch, and so on one device
RaceExplanation explain_miss(Missed missed, const std::string& who, bool one_launch) {
  switch (missed) {
    case Missed::scope:
      return {Lack::flag_scope,
              who +
                  " wrote a flag that was read before (2), but the scopes of that write and "
                  "that read do not include each other's " +
                  (one_launch ? "block" : "device")};
    case Missed::release:
      return {Lack::release,
              who +
                  " wrote a flag that was read before (2), but no release (a fence, or a "
                  "release order) comes between (1) and that write"};
    case Missed::release_scope:
      return {Lack::release_scope,
              who + " wrote a flag that was read before (2), but released it at " +
                  (one_launch ? "block scope, which does not include (2)'s block"
                              : "a scope that does not include (2)'s launch")};
    case Missed::not_needed:
      return {Lack::order_of_blocks,
              who +
                  " has given back what it had taken behind (1), but (2)'s thread would have been "
                  "let in without that: several threads may be inside at once"};
    case Missed::nothing: break;
  }
  return {};
}

}  // namespace

RaceExplanation RaceExplainer::explain(const CheckedRow& row, const LaneAccess& mine,
                                       const EarlierAccess& earlier) const {
  const Access& access = *row.access;
  const Segment& segment = state_.order.segments().at(earlier.segment);
  const AccessClass before = AccessClass::of_index(earlier.access_class);
  const AccessClass now = AccessClass::of_index(mine.access_class);
  const EarlyLaunches& early = state_.order.launches().early();
  if (early.is_open_at_start(segment.launch)) {
    return {Lack::grid_wait, explain_early(early, segment.launch)};
  }
  if (segment.launch != state_.order.launches().current()) {
    RaceExplanation missed = what_was_missed(row, mine, earlier);
    if (missed.lack != Lack::unknown) return missed;
    const bool of_device = state_.launches[segment.launch].by_device ||
                           state_.launches[state_.order.launches().current()].by_device;
    RaceExplanation launches = explain_launches(before, now, of_device);
    if (before.strong || now.strong) return launches;
    return with_flag(*state_.launches[segment.launch].program, earlier.pc, *access.program,
                     access.pc, std::move(launches));
  }
  if (earlier.lacks_proxy_fence && row.proxy == Proxy::tensor_map) {
    return {Lack::proxy_fence,
            earlier.lacks_map_release
                ? "no fence.proxy.tensormap::generic.release, nor tensormap.cp_fenceproxy, comes "
                  "between (1) and the .acquire fence before the copy (2), which reads its tensor "
                  "map and need not see what (1) has written"
                : "no fence.proxy.tensormap::generic.acquire for this tensor map comes between (1) "
                  "and the copy (2), which reads the map and need not see what (1) has written"};
  }
  if (earlier.lacks_proxy_fence) {
    const bool is_product = multiplies(*access.program, access.pc);
    return {Lack::proxy_fence,
            fmt::format("no fence.proxy.async comes between (1) and the {} (2), which need not see "
                        "what (1) has written",
                        is_product ? "product" : "bulk copy")};
  }
  if (before.strong && now.strong && !earlier.is_handed) {
    return explain_strong(before, now);
  }
  if (segment.asynchronous) return explain_copy(access, mine.lane, earlier);
  if (is_before_own_copy(row, before, earlier)) {
    return {Lack::phase_wait,
            "(1) comes behind the asynchronous copy (2) in the code, and no thread waits for the "
            "phase of the mbarrier that counts the copy before (1)"};
  }
  const RaceExplanation missed = what_was_missed(row, mine, earlier);
  if (missed.lack == Lack::order_of_blocks) {
    RaceExplanation explained = explain_threads(access, mine, earlier);
    explained.message = missed.message;
    return explained;
  }
  if (!before.strong && !now.strong) {
    RaceExplanation lock =
        with_lock(*access.program, earlier.pc, access.pc, explain_threads(access, mine, earlier));
    if (lock.lack == Lack::lock_fences) return lock;
    if (missed.lack == Lack::unknown && may_be_by_flag(lock.lack)) {
      return with_flag(*access.program, earlier.pc, *access.program, access.pc, std::move(lock));
    }
  }
  return missed.lack != Lack::unknown ? missed : explain_threads(access, mine, earlier);
}

// Returns whether a read of the same block has come before the asynchronous copy that it should
// have waited for.
bool RaceExplainer::is_before_own_copy(const CheckedRow& row, const AccessClass& before,
                                       const EarlierAccess& earlier) const {
  const Access& access = *row.access;
  if (before.write || !state_.order.segments().at(row.now).is_object) return false;
  const Segment& segment = state_.order.segments().at(earlier.segment);
  return segment.block == state_.order.launches().block_key(access.place) &&
         access.pc < earlier.pc && !waits_for_phase(*access.program, access.pc, earlier.pc);
}

// Explains a race of an asynchronous copy, or of a product of a warpgroup.
RaceExplanation RaceExplainer::explain_copy(const Access& access, unsigned lane,
                                            const EarlierAccess& earlier) const {
  const Segment& segment = state_.order.segments().at(earlier.segment);
  const bool one_block = segment.block == state_.order.launches().block_key(access.place);
  const bool one_warp = one_block && segment.warp == access.place.warp;
  const bool is_product = one_block && multiplies(*access.program, earlier.pc);
  const std::string_view what = is_product ? "product" : "copy";
  if (segment.is_object) {
    switch (state_.barrier_objects.wait_for(earlier.segment, earlier.lane, access.place)) {
      case BarrierObjectOrder::Wait::none:
        return {Lack::phase_wait,
                "no thread has waited for the phase of the mbarrier that counts the asynchronous "
                "copy (1) before (2)"};
      case BarrierObjectOrder::Wait::relaxed:
        return {Lack::phase_wait,
                "the phase of the mbarrier that counts the asynchronous copy (1) was waited for by "
                "a relaxed wait, which acquires nothing"};
      case BarrierObjectOrder::Wait::acquired:
        return {Lack::phase_wait,
                "a thread has waited for the phase of the mbarrier that counts the asynchronous "
                "copy (1), but nothing orders that wait before (2)"};
    }
  }
  if (one_warp && earlier.lane == lane) {
    return {Lack::copy_wait,
            fmt::format("the asynchronous {} (1) has not been waited for before (2)", what)};
  }
  return {Lack::copy_handover,
          fmt::format("the asynchronous {} (1) was not waited for and passed on by its own thread "
                      "before (2)",
                      what)};
}

// Explains a race of threads of one launch that have not communicated.
RaceExplanation RaceExplainer::explain_threads(const Access& access, const LaneAccess& mine,
                                               const EarlierAccess& earlier) const {
  const Segment& segment = state_.order.segments().at(earlier.segment);
  const BlockKey block = state_.order.launches().block_key(access.place);
  const bool one_block = segment.block == block;
  const bool one_warp = one_block && segment.warp == access.place.warp;
  const bool one_cluster =
      state_.order.launches().has_clusters() && state_.order.launches().cluster_of(segment.block) ==
                                                    state_.order.launches().cluster_of(block);
  const Relation relation = relation_of(one_block, one_warp);
  Lack lack = lack_of(*access.program, AccessClass::of_index(earlier.access_class), earlier.pc,
                      AccessClass::of_index(mine.access_class), access.pc, relation);
  if (lack == Lack::scope) lack = Lack::handover;  // within a cluster
  if (!one_block && one_cluster) {
    return {lack == Lack::order_of_blocks ? Lack::cluster_barrier : lack,
            "no barrier of the cluster orders (1) and (2)"};
  }
  return {lack, std::string(message_of_threads(relation))};
}

// Returns how the threads of (1) and (2) communicated, and why that did not order them.
RaceExplanation RaceExplainer::what_was_missed(const CheckedRow& row, const LaneAccess& mine,
                                               const EarlierAccess& earlier) const {
  const WarpPlace& place = row.access->place;
  const Segment& segment = state_.order.segments().at(earlier.segment);
  const auto would_know = [&](const VectorClock& clock) {
    return state_.order.knows(clock, earlier.segment, earlier.lane);
  };
  const ThreadState& self = state_.order.threads().at(place, mine.lane);
  if (would_know(self.all_observed())) {
    return {Lack::acquire,
            "(1) is released and the thread of (2) has read the flag, but no acquire that reaches "
            "(1)'s thread follows that read"};
  }
  bool by_other = false;
  state_.order.threads().for_each_lane(
      place, [&](const ThreadState& lane) { by_other |= would_know(lane.all_observed()); });
  if (by_other) {
    return {Lack::acquire,
            "(1) is released and a thread of (2)'s block has read the flag, but no acquire that "
            "reaches (1)'s thread follows that read"};
  }
  const std::uint32_t thread =
      segment.warp * kWarpLanes + state_.order.threads().actor_of(earlier.lane);
  // Within a block, a flag of another thread would need a barrier first.
  const Miss* const found = state_.missed.find(
      place.slot, {.block = segment.block,
                   .thread = thread,
                   .phase = segment.phase,
                   .ticks = state_.order.segments().tick_of(segment, earlier.lane),
                   .by_thread = segment.block == state_.order.launches().block_key(place)});
  if (found == nullptr) return {};
  return explain_miss(found->missed,
                      found->writer_thread == thread ? "(1)'s thread" : "a thread of (1)'s block",
                      segment.launch == state_.order.launches().current());
}

}  // namespace warpcheck::vgpu
