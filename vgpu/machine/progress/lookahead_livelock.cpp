// Detects livelocks: threads that change memory for each other in a cycle.
//
// Here writes are performed.  In each round, every warp of the launch runs, in order, until it
// waits, or is in a state in which it was since it last changed memory.  If registers, barriers and
// memory are the same at the ends of two rounds, the launch continues like this for ever, at least
// under this schedule.
#include <algorithm>
#include <bit>
#include <optional>

#include "vgpu/machine/progress/lookahead.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::uint64_t kStepsOfWarp = 4'096;      // in one round
constexpr std::uint64_t kStepsOfLaunch = 1 << 15;  // in all rounds
// A warp that writes again and again needs no state to compare with.
constexpr std::uint64_t kStepsBeforeState = 4;

}  // namespace

Prospect Lookahead::look_for_livelock() {
  snapshot_.restore();
  for (Slot* slot : launch_.resident()) {
    if (!save(*slot, 0, launch_.warps_per_block())) return Prospect::goes_on;
  }
  const std::uint64_t steps_before = steps_;
  std::vector<std::uint64_t> rounds;
  while (steps_ - steps_before < kStepsOfLaunch) {
    rounds.push_back(hash_of(launch_.resident()) ^ snapshot_.changes().hash());
    for (Slot* slot : launch_.resident()) {
      for (std::uint32_t rest = slot->ready_warps; rest != 0; rest &= rest - 1) {
        const auto index = static_cast<std::size_t>(std::countr_zero(rest));
        const Fate fate = run_until_idle(*slot, slot->warps[index]);
        if (fate == Fate::acts || fate == Fate::unknown) return Prospect::goes_on;
      }
    }
    const std::uint64_t hash = hash_of(launch_.resident()) ^ snapshot_.changes().hash();
    if (std::ranges::find(rounds, hash) != rounds.end()) return Prospect::repeats;
  }
  return Prospect::goes_on;
}

Lookahead::Fate Lookahead::run_until_idle(Slot& slot, Warp& warp) {
  last_reads_.begin(warp);
  reads_time_ = false;
  std::optional<WarpState> seen;  // since it last changed memory
  std::uint64_t since = 0;        // in steps
  for (std::uint64_t steps = 0; steps < kStepsOfWarp; ++steps) {
    const std::size_t foreign = snapshot_.changes().foreign();
    const Fate fate = step(slot, warp);
    if (fate != Fate::runs) return fate;
    if (reads_time_) return Fate::unknown;
    ++since;
    if (snapshot_.changes().foreign() != foreign) {
      seen.reset();
      since = 0;
    } else if (seen && is_in(*seen, slot, warp)) {
      return Fate::spins;
    } else if (since >= kStepsBeforeState && std::has_single_bit(since)) {
      seen = state_of(slot, warp);
    }
  }
  return Fate::unknown;
}

}  // namespace warpcheck::vgpu
