#include "vgpu/machine/warp/linked_frames.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace warpcheck::vgpu {

bool LinkedFrames::at_entry(const Slot& slot) const {
  const std::vector<Observer*>& watching = launch_.observers().of_accesses;
  const bool fits = slot_ == &slot && are_of_kernel_ && recorded_for_ == watching.data() &&
                    recorded_for_count_ == watching.size();
  return fits && std::all_of(of_warps_.begin(), of_warps_.begin() + count_,
                             [](const NativeFrames::OfWarp* of_warp) {
                               return of_warp->has_rows_of(of_warp->run->warp);
                             });
}

void LinkedFrames::link(Slot& slot, NativeRound& round) {
  unlink();
  slot_ = &slot;
  recorded_for_ = launch_.observers().of_accesses.data();
  recorded_for_count_ = launch_.observers().of_accesses.size();
  are_of_kernel_ = true;
  count_ = launch_.warps_per_block();
  full_ = slot.warps[count_ - 1].lanes == ~0u ? count_ : count_ - 1;
  first_ = 0;
  for (std::uint32_t index = 0; index < count_; ++index) {
    Warp& warp = slot.warps[index];
    const Fragment& fragment = warp.fragments[warp.fragments.choose().index];
    are_of_kernel_ = are_of_kernel_ && fragment.callers.empty();
    NativeFrames::OfWarp& of_warp = frames_.of_warp(slot, warp, fragment);
    of_warp.run->mask = fragment.mask;
    frames_.begin_noted(of_warp.frame, *of_warp.run);
    of_warp.frame.round = &round;
    of_warp.frame.unguarded = of_warp.frame.lane_steps = 0;
    of_warp.frame.limit = ptx::kNone;
    of_warps_[index] = &of_warp;
  }
  for (std::uint32_t index = 0; index < count_; ++index) link_after(index);
}

void LinkedFrames::begin_with(std::uint32_t first) {
  if (first == first_) return;
  const std::uint32_t before = std::exchange(first_, first);
  for (const std::uint32_t moved : {before, first}) {
    link_after(moved);
    if (moved != 0) link_after(moved - 1);
  }
}

void LinkedFrames::unlink_all() {
  for (std::uint32_t index = 0; index < count_; ++index) {
    NativeFrame& frame = of_warps_[index]->frame;
    frame.next = nullptr;
    lane_steps_ += frame.lane_steps + frame.unguarded * lane_count(slot_->warps[index].lanes);
  }
  slot_ = nullptr;
}

}  // namespace warpcheck::vgpu
