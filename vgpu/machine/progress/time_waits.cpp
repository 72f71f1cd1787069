#include "vgpu/machine/progress/time_waits.hpp"

#include <algorithm>
#include <bit>

namespace warpcheck::vgpu {
namespace {

// A warp that waits reads the time at least once in so many steps: unoptimised code of libcu++
// needs hundreds.  The second limit is for a warp of which nobody knows what it accesses.
constexpr std::uint64_t kStepsPerRead = 1'024, kStepsPerReadUnknown = 64;
// Time never overflows.
constexpr std::uint64_t kTimeMax = std::uint64_t{1} << 60;
// The share of a wait by which time advances in a round, and beside pauses that may be counted.
constexpr std::uint64_t kShare = 16;
constexpr std::uint64_t kAdvanceInPauses = 1'024;

}  // namespace

void TimeWaits::end_turn(Warp& warp, Stop stop, std::uint64_t steps) {
  is_used_ = true;
  warp.wait_steps += steps;
  if (stop == Stop::preempted) return;
  const std::uint64_t reads = warp.time_reads - warp.reads_before;
  using Places = Warp::Places;
  const bool is_known = warp.places == Places::repeat;
  const std::uint64_t steps_max =
      (is_known || warp.has_paused ? kStepsPerRead : kStepsPerReadUnknown) * reads;
  warp.waits_for_time =
      stop == Stop::quantum && warp.places != Places::change && warp.wait_steps <= steps_max;
  if (warp.waits_for_time && !is_known) needs_look_ = true;
  warp.reads_before = warp.time_reads;
  warp.wait_steps = 0;
}

std::uint64_t TimeWaits::advance_max() const {
  std::uint64_t most = 0;
  bool is_limited = false;
  for (const Slot* slot : launch_.resident()) {
    for (std::uint32_t rest = slot->ready_warps; rest != 0; rest &= rest - 1) {
      const auto number = static_cast<std::uint32_t>(std::countr_zero(rest));
      const Warp& warp = slot->warps[number];
      if ((slot->polling_warps >> number & 1u) != 0) continue;  // in vain
      if (!warp.waits_for_time && !warp.has_paused) return 0;
      is_limited |= !warp.waits_for_time;
      most = kNoLimit;
    }
  }
  return is_limited ? std::min(most, kAdvanceInPauses) : most;
}

void TimeWaits::end_round(bool may_begin) {
  const std::uint64_t most = may_begin ? 0 : advance_max();
  for (Slot* slot : launch_.resident()) {
    for (std::uint32_t index = 0; index < launch_.warps_per_block(); ++index) {
      slot->warps[index].has_paused = false;
    }
  }
  wants_look_ = most != 0 && needs_look_ && !may_pass_;
  needs_look_ = false;
  const std::uint64_t now = launch_.steps() + launch_.time_ahead();
  if (most == 0 || now > kTimeMax) {
    is_waiting_ = may_pass_ = false;
    return;
  }
  if (!is_waiting_) since_ = now;
  is_waiting_ = true;
  if (!wants_look_) launch_.pass_time(std::min(most, (now - since_) / kShare));
}

}  // namespace warpcheck::vgpu
