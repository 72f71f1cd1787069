// Threads that do not get on: where each group waits, and for what.
//
// Warp operations, barriers and mbarriers are of one block, so a block of which no thread can go on
// never will: that is found at once.  Launches that only poll are found by looking ahead
// (lookahead.hpp): for the first time when no block has ended for Limits::look_after steps, then
// again and again, at intervals that grow with what a look has cost.
#include <algorithm>
#include <bit>
#include <cstring>

#include "vgpu/machine/progress/lookahead.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::size_t kWarpsListed = 64;  // at the step limit

// Between two looks: so many steps for each of the look, so that looks cost next to nothing; a
// quarter of what has been executed so far, but no more than what takes a fraction of a second.
constexpr std::uint64_t kStepsPerStepOfLook = 128;
constexpr std::uint64_t kStepsBetweenLooksMax = 4'000'000;

// Where memory changes and comes back, another interleaving may end it: so many looks in a row,
// over so many steps.
constexpr std::uint32_t kRepeatingLooks = 4;
constexpr std::uint32_t kLooksPerLivelock = 4;  // threads that pass something round are dearer
constexpr std::uint64_t kRepeatingSteps = 8'000'000;

}  // namespace

// Lets threads of a block in which nothing can run go on, if what holds them up is misuse that can
// be reported.  False: it is a deadlock, and is reported.
bool Core::unblock(Slot& slot) {
  if (release_stuck_meeting(slot)) return true;
  if (program_->has_named_barriers && release_stuck_barriers(slot)) return true;
  std::vector<Waiting> waiting;
  list_waiting(slot, waiting);
  for (Slot* other : resident_) {
    const bool is_beside = other != &slot && other->cluster == slot.cluster;
    if (!is_beside || other->ready_warps != 0) continue;
    if (release_stuck_meeting(*other)) return true;
    if (program_->has_named_barriers && release_stuck_barriers(*other)) return true;
    list_waiting(*other, waiting);
  }
  complete_list(waiting);
  Deadlock deadlock;
  deadlock.program = program_;
  deadlock.waiting = waiting;
  deadlock.steps = outcome_.steps;
  notify([&](Observer& observer) { observer.on_deadlock(deadlock); });
  return false;
}

void Core::list_waiting(const Slot& slot, std::vector<Waiting>& waiting) const {
  for (std::uint32_t index = 0; index < warps_per_block_; ++index) {
    const Warp& warp = slot.warps[index];
    for (std::size_t i = 0; i < warp.fragments.size(); ++i) {
      const Fragment& fragment = warp.fragments[i];
      Waiting one;
      one.place = place_of(slot, warp);
      one.pc = fragment.pc;
      one.lanes = fragment.mask;
      if (fragment.state == Fragment::State::at_barrier) {
        const NamedBarrier& barrier = slot.barriers[fragment.barrier];
        one.number = fragment.barrier;
        one.arrived = slot.waiting_lanes;
        one.expected = slot.live_lanes;
        if (program_->has_named_barriers) {
          one.arrived = 0;
          for (const NamedBarrier::Arrival& arrival : barrier.arrivals) {
            one.arrived += arrival.complete
                               ? kWarpLanes
                               : static_cast<std::uint32_t>(std::popcount(arrival.lanes));
          }
          if (barrier.count != 0) one.expected = barrier.count;
        }
      } else if (fragment.state == Fragment::State::at_cluster_barrier) {
        const ClusterState& cluster = clusters_.at(slot.cluster);
        one.kind = Waiting::Kind::cluster;
        one.arrived = cluster.arrived_lanes;
        one.expected = cluster.live_lanes;
      } else if (fragment.state == Fragment::State::at_warp_operation) {
        one.kind = Waiting::Kind::members;
        one.missing = fragment.members & warp.live;
        for (const std::size_t here : fragments_beside(warp, i)) {
          one.missing &= ~warp.fragments[here].mask;
        }
      } else {
        continue;
      }
      waiting.push_back(one);
    }
  }
}

// Those that have ended, of a block.
void Core::list_exited(const Slot& slot, std::vector<Waiting>& waiting) const {
  for (std::uint32_t index = 0; index < warps_per_block_; ++index) {
    const Warp& warp = slot.warps[index];
    Waiting one;
    one.kind = Waiting::Kind::exited;
    one.place = place_of(slot, warp);
    one.pc = slot.exit_pc;
    one.lanes = warp.lanes & ~warp.live;
    if (one.lanes != 0) waiting.push_back(one);
  }
}

// Adds the threads of the same blocks that have ended, and puts all in order.
void Core::complete_list(std::vector<Waiting>& waiting) const {
  std::vector<Waiting> exited;
  for (const Slot* slot : resident_) {
    if (std::ranges::any_of(waiting,
                            [&](const Waiting& one) { return one.place.block == slot->block; })) {
      list_exited(*slot, exited);
    }
  }
  waiting.insert(waiting.end(), exited.begin(), exited.end());
  std::ranges::stable_sort(waiting, {}, [](const Waiting& one) {
    return WarpId{one.place.block, one.place.warp};
  });
}

// Whether the launch is deadlocked; then that is told.
bool Core::cannot_end() {
  std::uint64_t cost = 0;
  if (std::exchange(blocks_ended_at_look_, blocks_ended_) != blocks_ended_) {
    repeating_looks_ = 0;
  } else if (look_ahead(cost)) {
    return true;
  }
  look_at_ = outcome_.steps + std::max({std::uint64_t{limits_.look_after},
                                        std::min(outcome_.steps / 4, kStepsBetweenLooksMax),
                                        kStepsPerStepOfLook * cost});
  return false;
}

// Looks once.
//   cost: becomes the steps of the look
bool Core::look_ahead(std::uint64_t& cost) {
  std::vector<Waiting> waiting;
  Deadlock deadlock;
  deadlock.program = program_;
  deadlock.of_launch = true;
  deadlock.steps = outcome_.steps;
  deadlock.blocks_not_started = blocks_not_begun();
  {
    Lookahead ahead(*this);
    Prospect prospect = ahead.look_at_launch();
    restless_block_ = ahead.restless_block();
    const bool may_start = !admitted_.empty();
    const bool is_turn = ++looks_ % kLooksPerLivelock == 0 || repeating_looks_ != 0;
    if (prospect == Prospect::goes_on && !may_start && is_turn) {
      prospect = ahead.look_for_livelock();
    }
    cost = ahead.steps();
    deadlock.repeats = prospect == Prospect::repeats;
    deadlock.host_waits = ahead.reads_host_memory();
    if (deadlock.repeats && deadlock.host_waits && launch_->host_runs) return false;
    if (!deadlock.repeats) repeating_looks_ = 0;
    if (deadlock.repeats && repeating_looks_++ == 0) repeats_since_ = deadlock.steps;
    const bool repeats_long =
        repeating_looks_ >= kRepeatingLooks && deadlock.steps - repeats_since_ >= kRepeatingSteps;
    if (prospect != Prospect::stuck && !repeats_long) return false;
    ahead.list(waiting);
  }
  complete_list(waiting);
  deadlock.waiting = waiting;
  notify([&](Observer& observer) { observer.on_deadlock(deadlock); });
  return true;
}

// The launch has used up its steps.  It may be deadlocked all the same.
Outcome::End Core::end_at_step_limit(Slot& slot, Warp& warp) {
  std::uint64_t cost = 0;
  if (look_ahead(cost)) return Outcome::End::deadlock;
  StepLimit limit;
  limit.program = program_;
  limit.place = place_of(slot, warp);
  if (!warp.fragments.empty()) {
    limit.pc = warp.fragments.front().pc;
    limit.lane = static_cast<unsigned>(std::countr_zero(warp.fragments.front().mask));
  }
  limit.steps = outcome_.steps;
  limit.blocks_not_started = blocks_not_begun();
  std::vector<Waiting> waiting;
  for (const Slot* resident : resident_) list_waiting(*resident, waiting);
  std::size_t listed = 0;
  for (Slot* resident : resident_) {
    const std::uint32_t ready = resident->ready_warps;
    for (std::uint32_t rest = ready; rest != 0 && listed < kWarpsListed; rest &= rest - 1) {
      Lookahead ahead(*this);
      ahead.look_at_warp(
          *resident, resident->warps[static_cast<std::size_t>(std::countr_zero(rest))], waiting);
      ++listed;
    }
  }
  complete_list(waiting);
  limit.waiting = waiting;
  notify([&](Observer& observer) { observer.on_step_limit(limit); });
  return Outcome::End::step_limit;
}

// ---- which thread wrote what others poll ----

void Core::note_strong_writes(const RunningFragment& run, std::uint32_t mask) {
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    strong_writes_.note({run_, access_.allocation, access_.offset[lane], run.slot.block,
                         run.warp.index, lane, run.pc});
  }
}

// Of a compare-and-swap or an exchange that has been performed: the lanes that changed something.
void Core::note_swaps(const RunningFragment& run, const Instr& instr, std::uint32_t mask) {
  const Ref& old = instr[AtomicOperand::old];
  const std::uint32_t bytes = ptx::bytes_of(instr.modifiers.type);
  if (old.bank == Bank::none || bytes > 8) return;
  const bool is_cas = instr.modifiers.atom_op == ptx::AtomOp::cas;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const bool is_equal =
        lane_value(run, old, lane) == lane_value(run, instr[AtomicOperand::value], lane);
    if (is_equal == is_cas) note_strong_writes(run, 1u << lane);
  }
}

}  // namespace warpcheck::vgpu
