#include "vgpu/machine/warp/warps.hpp"

#include <bit>
#include <utility>

namespace warpcheck::vgpu {
namespace {

constexpr std::uint32_t kStepsOfVainTurn = 16;

}  // namespace

// Handles a warp that arrived last at a barrier.  Returns false if it continues.
bool Warps::is_released(Warp& warp) {
  launch_.forget_last();
  if (!warp.is_ready()) return false;
  ++warp.releases;
  if (!turns_.decides_releases()) return false;
  warp.quantum_left = launch_.quantum().left();
  return true;
}

// inline: also in run_in_turn(), where a warp may execute little between two barriers.
[[gnu::always_inline]] inline Stop Warps::run_one(Slot& slot, Warp& warp) {
  launch_.forget_last();
  while (true) {
    const Rounds::RoundEnd end =
        launch_.native() == nullptr ? Rounds::RoundEnd::none : rounds_.run_to_barrier(slot, warp);
    if (end == Rounds::RoundEnd::exited) {
      launch_.forget_last();  // the warp may have released others, but not itself
      return Stop::exited;
    }
    if (end == Rounds::RoundEnd::none) {
      if (const std::optional<Stop> stop = run_fragments(slot, warp)) return *stop;
      continue;
    }
    if (!launch_.came_last()) return Stop::blocked;
    if (is_released(warp)) return Stop::released;
  }
}

// Runs the warps of a block that are all at one place.
//   number: of the first warp; becomes the number of the warp that ran last
Stop Warps::run_rounds(Slot& slot, std::uint32_t& number, std::uint64_t until) {
  const Rounds::RoundEnd end = rounds_.run(slot, number, until);
  Warp& warp = slot.warps[number];
  if (end == Rounds::RoundEnd::none) {
    const std::optional<Stop> stop = run_fragments(slot, warp);
    return stop ? *stop : run_one(slot, warp);
  }
  if (end == Rounds::RoundEnd::arrived && launch_.came_last()) {
    return is_released(warp) ? Stop::released : run_one(slot, warp);
  }
  launch_.forget_last();
  return end == Rounds::RoundEnd::exited ? Stop::exited : Stop::blocked;
}

Stop Warps::run_in_turn(Slot& slot, std::uint32_t& number, std::uint64_t until) {
  while (true) {
    const std::uint32_t left = std::exchange(slot.warps[number].quantum_left, 0);
    launch_.quantum().begin(left != 0 ? left : launch_.limits().quantum);
    const Stop stop =
        rounds_.can_run(slot) ? run_rounds(slot, number, until) : run_one(slot, slot.warps[number]);
    Warp& warp = slot.warps[number];
    const bool goes_on = (stop == Stop::blocked || stop == Stop::exited) &&
                         launch_.steps() < until && slot.live_lanes != 0 && !launch_.is_enough();
    if (!goes_on) return stop;
    std::uint32_t ready = slot.ready_warps;
    if (!warp.is_ready()) ready &= ~(1u << number);
    const std::uint32_t rest = ready & ~(slot.yielded_warps | slot.polling_warps);
    if (rest == 0) return stop;
    const auto next = static_cast<std::uint32_t>(std::countr_zero(rest));
    if (slot.warps[next].quanta != 0) return stop;
    slot.ready_warps = ready;
    ++warp.stops;
    number = next;
  }
}

Stop Warps::run(Slot& slot, Warp& warp) { return run_one(slot, warp); }

// Runs one fragment after the other.  Nothing: the lanes have met, and machine code may go on with
// all of them.
std::optional<Stop> Warps::run_fragments(Slot& slot, Warp& warp) {
  for (bool were_apart = false;;) {
    const Fragments::Choice next = warp.fragments.choose();
    const bool are_apart = warp.fragments.size() != 1;
    if (std::exchange(were_apart, are_apart) && !are_apart && launch_.native() != nullptr)
      return {};
    last_fragment_ = next.index;
    if (next.index == Fragments::kNothing) return warp.live == 0 ? Stop::exited : Stop::blocked;
    if (are_apart && fragments_.run_in_native(slot, warp, next)) continue;
    switch (fragments_.run(slot, warp, next)) {
      case Step::again:
        if (!launch_.came_last()) [[likely]]
          break;
        if (is_released(warp)) return Stop::released;
        break;
      case Step::quantum: {
        const bool sleeps = launch_.quantum().left() != 0;
        if (!sleeps) ++warp.quanta;
        const bool is_vain = sleeps && launch_.quantum().used() <= kStepsOfVainTurn;
        warp.vain_turns = is_vain ? warp.vain_turns + 1 : 0;
        return Stop::quantum;
      }
      case Step::paused: return Stop::paused;
      case Step::preempted:
        // Keeps the rest of the quantum.  Otherwise polling lanes would never use up a quantum if
        // every poll is interrupted.
        warp.quantum_left = launch_.quantum().left();
        return Stop::preempted;
      case Step::halted: return Stop::halted;
    }
  }
}

}  // namespace warpcheck::vgpu
