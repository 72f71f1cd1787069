// The frames of a block's warps, linked in the order of their turns (NativeFrame::next).
//
// They stay linked from round to round, and from block to block of a launch, as long as the blocks
// of a slot run in rounds from their first instruction to their exit.  Meanwhile the counts of
// executed instructions stay in the frames.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/warp/native_frames.hpp"

namespace warpcheck::vgpu {

class LinkedFrames {
 public:
  LinkedFrames(RunningLaunch& launch, NativeFrames& frames) : launch_(launch), frames_(frames) {}

  // An observer of the last launch may have thrown an exception.
  void begin_launch() {
    slot_ = nullptr;
    lane_steps_ = 0;
  }
  // Adds the executed instructions to the launch's.
  void end_launch() {
    unlink();
    launch_.count_lane_steps(lane_steps_);
  }
  [[nodiscard]] bool are_of(const Slot& slot) const { return slot_ == &slot; }
  // Returns whether the frames serve the block in `slot`.  It has then just begun: none of its
  // instructions has been executed.
  [[nodiscard]] bool at_entry(const Slot& slot) const;
  // Links the frames of a block whose warps are all at one place.
  void link(Slot& slot, NativeRound& round);
  // Tells the frames at which access the strategy is asked.
  void begin_accesses(const Slot& slot) const {
    for (std::uint32_t index = 0; index < count_; ++index) {
      const Warp& warp = slot.warps[index];
      of_warps_[index]->frame.accesses_left = warp.ask_at - warp.accesses;
    }
  }
  // Must be called before anything else runs in one of the frames.
  void unlink() {
    if (slot_ != nullptr) [[unlikely]]
      unlink_all();
  }
  // Makes `first` the first in the order.  The others follow, ascending.
  void begin_with(std::uint32_t first);
  // Returns the one that follows; size(): none.
  [[nodiscard]] std::uint32_t after(std::uint32_t index) const {
    const std::uint32_t next = index == first_ ? 0 : index + 1;
    return next == first_ ? next + 1 : next;
  }
  [[nodiscard]] std::uint32_t first() const { return first_; }
  [[nodiscard]] std::uint32_t size() const { return count_; }
  [[nodiscard]] NativeFrames::OfWarp& operator[](std::uint32_t index) const {
    return *of_warps_[index];
  }
  template <typename Predicate>
  [[nodiscard]] bool all_of(Predicate predicate) const {
    return std::all_of(
        of_warps_.begin(), of_warps_.begin() + count_,
        [&](const NativeFrames::OfWarp* of_warp) { return predicate(of_warp->frame); });
  }

 private:
  void unlink_all();
  // Machine code does not continue to or from a last warp with fewer than 32 lanes, which runs
  // other code.
  void link_after(std::uint32_t index) const {
    const std::uint32_t next = after(index);
    const bool goes_on = index < full_ && next < full_;
    of_warps_[index]->frame.next = goes_on ? &of_warps_[next]->frame : nullptr;
  }

  RunningLaunch& launch_;
  NativeFrames& frames_;
  const Slot* slot_ = nullptr;  // null: not linked
  bool are_of_kernel_ = false;  // they serve the kernel itself and not a function that it calls
  const Observer* const* recorded_for_ = nullptr;  // as in each frame
  std::size_t recorded_for_count_ = 0;
  std::uint32_t count_ = 0, full_ = 0, first_ = 0;  // full_: the number of warps with all lanes
  std::array<NativeFrames::OfWarp*, NativeFrames::kWarpsMax> of_warps_{};  // by warp
  std::uint64_t lane_steps_ = 0;  // those of frames that were linked
};

}  // namespace warpcheck::vgpu
