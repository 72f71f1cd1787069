#include "vgpu/machine/progress/polls.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace warpcheck::vgpu {
namespace {

// The steps of the first watch of a turn, for a warp that has polled before and for others.
constexpr std::uint32_t kStepsOfNextWatch = 64, kStepsOfWatch = 256;
constexpr std::uint64_t kAccessesOfWatch = 24;

}  // namespace

Stop Polls::run(Slot& slot, Warp& warp) {
  const std::uint64_t steps = launch_.steps();
  const Stop stop = run_turn(slot, warp);
  if (warp.time_reads != 0) time_waits_.end_turn(warp, stop, launch_.steps() - steps);
  return stop;
}

Stop Polls::run_turn(Slot& slot, Warp& warp) {
  const std::uint32_t left = std::exchange(warp.quantum_left, 0);
  launch_.quantum().begin(left != 0 ? left : launch_.limits().quantum);
  if (warp.quanta == 0) return warps_.run(slot, warp);
  if (left == 0) begin_watched_quantum(warp);
  return warp.quantum_rest == 0 ? warps_.run(slot, warp) : run_watched(slot, warp);
}

void Polls::begin_watched_quantum(Warp& warp) {
  warp.quantum_rest = 0;
  const std::uint32_t working = warp.quanta & ~Warp::kHasPolled;
  const bool is_watched = working == 0 || std::has_single_bit(working);
  if (!is_watched && warp.waits_for_time) {
    launch_.quantum().begin(std::min(launch_.limits().quantum, TimeWaits::kQuantum));
  }
  if (!is_watched || launch_.limits().quantum <= kStepsOfWatch) return;
  launch_.quantum().begin(warp.quanta == Warp::kHasPolled ? kStepsOfNextWatch : kStepsOfWatch);
  warp.quantum_rest = launch_.limits().quantum - launch_.quantum().left();
}

// Runs a warp that may be polling.
Stop Polls::run_watched(Slot& slot, Warp& warp) {
  watch_.begin(slot.block, warp.index, kAccessesOfWatch);
  launch_.add_watch(watch_);
  Stop stop = warps_.run(slot, warp);
  while (stop == Stop::paused) {
    stop = stops_polling(slot, warp) ? Stop::quantum : warps_.run(slot, warp);
  }
  launch_.remove_watch(watch_);
  return stop;
}

// Called after the steps of a watch.  False: the quantum continues.
bool Polls::stops_polling(Slot& slot, Warp& warp) {
  const std::size_t index = warps_.last_fragment();
  const PollWatch::Verdict verdict = watch_.verdict();
  note_places(warp);
  const bool may_poll = verdict == PollWatch::Verdict::polls;
  const LookAccount looks = slot.looks;
  const std::uint64_t look_units = launch_.outcome().look_units;
  const auto polls = [&](Lookahead& ahead) { return ahead.polls(slot, warp, warp.polled); };
  if (may_poll && look(slot, polls)) {
    warp.quanta = Warp::kHasPolled;
    warp.ready_fragments = warp.fragments.count_ready();
    slot.polling_warps |= 1u << warp.index;
    launch_.yield(warp.fragments[index]);
    return true;
  }
  if (may_poll && polls_beside_others(slot, warp, index)) {
    slot.looks = looks;  // both looks had the result together
    launch_.refund_looks(launch_.outcome().look_units - look_units);
    warp.quanta = Warp::kHasPolled;
    launch_.yield(warp.fragments[index]);
    watch_on(slot, warp, kStepsOfNextWatch);
    return false;
  }
  if (may_poll && is_complete_) warp.places = Warp::Places::repeat;
  const bool has_polled = (warp.quanta & Warp::kHasPolled) != 0;
  const bool goes_on = verdict == PollWatch::Verdict::undecided || has_polled;
  const std::uint32_t whole = launch_.limits().quantum - warp.quantum_rest;
  watch_on(slot, warp, goes_on ? whole : warp.quantum_rest);
  return false;
}

// Notes what the watch says about the places that the warp accesses.
void Polls::note_places(Warp& warp) const {
  using Places = Warp::Places;
  const std::optional<bool> repeats = watch_.repeats_places();
  if (!repeats) return;
  const bool polls = watch_.verdict() == PollWatch::Verdict::polls;
  warp.places = !*repeats ? Places::change : polls ? Places::poll : Places::repeat;
}

// Returns whether a look-ahead proves that something polls, if the block has paid for one.  One
// that proves it is free, since it saves most of a quantum.
template <class Look>
bool Polls::look(Slot& slot, Look look) {
  is_complete_ = false;
  const std::uint64_t left = slot.looks.left(slot.steps);
  if (!slot.looks.may_look(slot.steps)) return false;
  LookCost cost(left);
  {
    Lookahead ahead(lookahead_, left);
    if (look(ahead)) return true;
    cost = ahead.cost();
  }
  is_complete_ = !cost.is_used_up();
  slot.looks.spend(cost);
  launch_.charge_look(cost);
  return false;
}

// Returns whether the fragment does nothing but poll while other lanes of its warp are ready that
// have not yielded.
bool Polls::polls_beside_others(Slot& slot, Warp& warp, std::size_t fragment) {
  if (launch_.model() == WarpModel::lockstep) return false;
  for (std::size_t i = 0; i < warp.fragments.size(); ++i) {
    const Fragment& other = warp.fragments[i];
    if (i == fragment || !other.is_runnable()) continue;
    return look(slot, [&](Lookahead& ahead) { return ahead.fragment_polls(slot, warp, fragment); });
  }
  return false;
}

// Continues the quantum for at most so many steps, after which the warp is looked at again.
void Polls::watch_on(const Slot& slot, Warp& warp, std::uint32_t steps) {
  launch_.quantum().begin(std::min(steps, warp.quantum_rest));
  warp.quantum_rest -= launch_.quantum().left();
  watch_.begin(slot.block, warp.index, kAccessesOfWatch);
}

}  // namespace warpcheck::vgpu
