// Turns of warps that poll.
//
// A warp that has used up a quantum may be polling.  In later turns its accesses are watched
// (poll_watch.hpp): where they only repeat themselves, the warp is looked at closely
// (lookahead_polls.cpp).  If it can do nothing but poll as long as what it reads is as it is, its
// turn is over, and it gets none until that has changed.
//
// A turn is watched from its begin on, until the accesses are seen to be work; that of a warp that
// has polled before, again and again, at intervals that double.  Warps that work are watched less
// and less often.
#include <algorithm>
#include <bit>
#include <cstring>

#include "vgpu/machine/progress/lookahead.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::uint32_t kStepsOfWatch = 256;
constexpr std::uint64_t kAccessesOfWatch = 24;

}  // namespace

void Core::begin_watched_quantum(Warp& warp) {
  warp.quantum_rest = 0;
  const std::uint32_t working = warp.quanta & ~Warp::kHasPolled;
  const bool is_watched = working == 0 || std::has_single_bit(working);
  if (!is_watched || limits_.quantum <= kStepsOfWatch) return;
  launch_steps_left_ = kStepsOfWatch;
  warp.quantum_rest = limits_.quantum - kStepsOfWatch;
}

// By its steps, or because it has slept.
void Core::end_quantum(Warp& warp) const {
  if (launch_steps_left_ == 0) ++warp.quanta;
}

// A warp that may be polling.
Core::Stop Core::run_suspect(Slot& slot, Warp& warp, bool is_new_quantum) {
  if (is_new_quantum) begin_watched_quantum(warp);
  if (warp.quantum_rest == 0) return run_fragments(slot, warp);
  warp_watch_.begin(slot.block, warp.index, kAccessesOfWatch);
  access_observers_.push_back(&warp_watch_);
  const Stop stop = run_fragments(slot, warp);
  std::erase(access_observers_, &warp_watch_);
  return stop;
}

// After the steps of a watch.  False: the quantum goes on.
bool Core::stops_polling(Slot& slot, Warp& warp, std::size_t index) {
  const PollWatch::Verdict verdict = warp_watch_.verdict();
  const bool polls =
      verdict == PollWatch::Verdict::polls && Lookahead(*this).polls(slot, warp, warp.polled);
  came_last_ = false;
  if (polls) {
    warp.quanta = Warp::kHasPolled;
    warp.ready_fragments = warp.count_ready();
    slot.polling_warps |= 1u << warp.index;
    yield(warp.fragments[index]);
    return true;
  }
  const bool has_polled = (warp.quanta & Warp::kHasPolled) != 0;
  const bool goes_on = verdict == PollWatch::Verdict::undecided || has_polled;
  const std::uint32_t whole = limits_.quantum - warp.quantum_rest;
  launch_steps_left_ = goes_on ? std::min(whole, warp.quantum_rest) : warp.quantum_rest;
  warp.quantum_rest -= launch_steps_left_;
  warp_watch_.begin(slot.block, warp.index, kAccessesOfWatch);
  return false;
}

// Whether a warp that has polled would do so again.
bool Core::polls_in_vain(const Warp& warp) {
  return warp.count_ready() == warp.ready_fragments &&
         std::ranges::all_of(warp.polled, [](const PolledBytes& bytes) {
           return std::memcmp(bytes.at, bytes.value.data(), bytes.count) == 0;
         });
}

// Those of the block that do.
std::uint32_t Core::vain_warps(const Slot& slot) {
  std::uint32_t vain = 0;
  for (std::uint32_t rest = slot.polling_warps; rest != 0; rest &= rest - 1) {
    const auto index = static_cast<std::size_t>(std::countr_zero(rest));
    if (polls_in_vain(slot.warps[index])) vain |= 1u << index;
  }
  return vain;
}

}  // namespace warpcheck::vgpu
