// Strong loads of global memory by which a warp polls.
//
// A load that reads again what its warp has read by the same instruction, while nothing else was
// done in the launch but such loads, finds the same writes, races with nothing else and lets its
// threads observe nothing new: what it would record is recorded.  Many warps may poll for long.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "vgpu/check/order/clocks/epoch.hpp"
#include "vgpu/machine/access.hpp"

namespace warpcheck::vgpu {

class RepeatedPolls {
 public:
  // Something else was done than a poll.
  void forget() { ++time_; }
  // Returns whether an access is such a load.
  static bool is_poll(const Access& access) {
    return access.space == ptx::Space::global && access.kind == AccessKind::read &&
           access.order != ptx::Order::weak && !access.asynchronous && access.sources == nullptr;
  }
  // Returns whether the poll only repeats the latest one of its warp.
  [[nodiscard]] bool repeats(const Access& poll) const {
    const std::size_t at = place_of(poll);
    return at < latest_.size() && latest_[at].time == time_ && latest_[at].pc == poll.pc &&
           latest_[at].mask == poll.mask && latest_[at].allocation == poll.allocation &&
           latest_[at].offset == poll.offset;
  }
  // The poll was recorded, and nothing was reported.
  void remember(const Access& poll) {
    const std::size_t at = place_of(poll);
    if (at >= latest_.size()) latest_.resize(at + 1);
    latest_[at] = {poll.offset, time_, poll.allocation, poll.pc, poll.mask};
  }

 private:
  struct Poll {
    std::array<std::uint32_t, kWarpLanes> offset{};
    std::uint64_t time = 0;
    const Allocation* allocation = nullptr;
    std::uint32_t pc = 0, mask = 0;
  };
  static std::size_t place_of(const Access& poll) {
    return std::size_t{poll.place.slot} * (kThreadsMax / kWarpLanes) + poll.place.warp;
  }

  std::vector<Poll> latest_;  // by slot and warp
  std::uint64_t time_ = 1;
};

}  // namespace warpcheck::vgpu
