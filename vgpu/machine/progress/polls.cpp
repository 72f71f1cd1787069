#include "vgpu/machine/progress/polls.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace warpcheck::vgpu {
namespace {

constexpr std::uint32_t kStepsOfWatch = 256;
constexpr std::uint64_t kAccessesOfWatch = 24;

}  // namespace

Stop Polls::run(Slot& slot, Warp& warp) {
  const std::uint32_t left = std::exchange(warp.quantum_left, 0);
  launch_.quantum_left = left != 0 ? left : launch_.limits.quantum;
  if (warp.quanta == 0) return warps_.run(slot, warp);
  if (left == 0) begin_watched_quantum(warp);
  return warp.quantum_rest == 0 ? warps_.run(slot, warp) : run_watched(slot, warp);
}

void Polls::begin_watched_quantum(Warp& warp) {
  warp.quantum_rest = 0;
  const std::uint32_t working = warp.quanta & ~Warp::kHasPolled;
  const bool is_watched = working == 0 || std::has_single_bit(working);
  if (!is_watched || launch_.limits.quantum <= kStepsOfWatch) return;
  launch_.quantum_left = kStepsOfWatch;
  warp.quantum_rest = launch_.limits.quantum - kStepsOfWatch;
}

// Runs a warp that may be polling.
Stop Polls::run_watched(Slot& slot, Warp& warp) {
  watch_.begin(slot.block, warp.index, kAccessesOfWatch);
  launch_.observers.of_accesses.push_back(&watch_);
  Stop stop = warps_.run(slot, warp);
  while (stop == Stop::paused) {
    stop = stops_polling(slot, warp) ? Stop::quantum : warps_.run(slot, warp);
  }
  std::erase(launch_.observers.of_accesses, &watch_);
  return stop;
}

// Called after the steps of a watch.  False: the quantum continues.
bool Polls::stops_polling(Slot& slot, Warp& warp) {
  const std::size_t index = warps_.last_fragment();
  const PollWatch::Verdict verdict = watch_.verdict();
  const bool polls =
      verdict == PollWatch::Verdict::polls && Lookahead(lookahead_).polls(slot, warp, warp.polled);
  if (polls) {
    warp.quanta = Warp::kHasPolled;
    warp.ready_fragments = warp.count_ready();
    slot.polling_warps |= 1u << warp.index;
    launch_.yield(warp.fragments[index]);
    return true;
  }
  const bool has_polled = (warp.quanta & Warp::kHasPolled) != 0;
  const bool goes_on = verdict == PollWatch::Verdict::undecided || has_polled;
  const std::uint32_t whole = launch_.limits.quantum - warp.quantum_rest;
  launch_.quantum_left = goes_on ? std::min(whole, warp.quantum_rest) : warp.quantum_rest;
  warp.quantum_rest -= launch_.quantum_left;
  watch_.begin(slot.block, warp.index, kAccessesOfWatch);
  return false;
}

}  // namespace warpcheck::vgpu
