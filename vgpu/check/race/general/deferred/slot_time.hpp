// The time of a row that machine code has appended to a queue: its slot and its thread.  It stands
// until the owner of the queue has found the segment.
#pragma once

#include <cstdint>

#include "vgpu/check/order/threads.hpp"

namespace warpcheck::vgpu {

class SlotTime {
 public:
  // Returns the time that machine code adds to a row for a slot, and to which it adds the thread.
  static std::uint64_t of(std::uint32_t slot) {
    return kOfSlot | std::uint64_t{slot} << kSlotShift;
  }
  [[nodiscard]] static bool is_of_slot(std::uint64_t time) { return (time & kOfSlot) != 0; }
  // Returns the warp of such a time.
  [[nodiscard]] static WarpPlace place_of(std::uint64_t time, const Threads& threads) {
    WarpPlace place;
    place.slot = static_cast<std::uint32_t>((time & ~kOfSlot) >> kSlotShift);
    place.warp = static_cast<std::uint32_t>(time & ((1u << kSlotShift) - 1)) / kWarpLanes;
    place.block = threads.block_in(place.slot);
    return place;
  }

 private:
  static constexpr std::uint64_t kOfSlot = std::uint64_t{1} << 63;
  static constexpr unsigned kSlotShift = 16;  // above the number of a thread
};

}  // namespace warpcheck::vgpu
