#include "vgpu/machine/progress/block_watch.hpp"

#include <algorithm>
#include <utility>

namespace warpcheck::vgpu {

bool BlockWatch::ends_turn(Slot& slot) {
  const std::uint64_t quantum = launch_.limits().quantum;
  if (slot.turn_steps >= kQuantaOfTurn * quantum * launch_.warps_per_block()) {
    if (watched_ == &slot) end();
    return true;
  }
  if (watched_ == nullptr) begin(slot);
  if (watched_ != &slot) return false;
  const PollWatch::Verdict verdict = watch_.verdict();
  // The block may make hardly any accesses.
  const bool is_over = slot.turn_steps >= 2 * std::max(slot.watch_at, kQuantaBeforeWatch * quantum);
  if (verdict == PollWatch::Verdict::undecided && !is_over) return false;
  end();
  if (verdict == PollWatch::Verdict::polls) {
    slot.watch_at = kQuantaBeforeNextWatch * quantum;
    slot.repeats_itself = true;
    return true;
  }
  slot.watch_at = 2 * slot.turn_steps;
  slot.repeats_itself = false;
  return false;
}

void BlockWatch::begin(Slot& slot) {
  constexpr std::uint64_t kAccessesMin = 2'048, kStepsPerAccess = 256;
  watch_.begin(slot.block, std::max(kAccessesMin, slot.turn_steps / kStepsPerAccess));
  launch_.add_watch(watch_);
  watched_ = &slot;
}

void BlockWatch::end() {
  if (std::exchange(watched_, nullptr) != nullptr) launch_.remove_watch(watch_);
}

}  // namespace warpcheck::vgpu
