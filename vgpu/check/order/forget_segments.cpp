// Forgets segments that no record refers to any more, and renumbers the others.
#include <utility>

#include "vgpu/check/order/thread_order.hpp"

namespace warpcheck::vgpu {

std::vector<ThreadOrder::SegmentId> ThreadOrder::forget_segments(std::vector<bool> live) {
  for (const Slot& slot : slots_) {
    for (const Warp& warp : slot.warps) {
      for (const SegmentId id : warp.segment) live[id] = true;
    }
  }
  live[0] = live[last_agent_] = true;
  std::vector<SegmentId> renewed(segments_.size() + 1);
  std::vector<Ticks> ticks(1);
  SegmentId next = 0;
  for (SegmentId id = 0; id < segments_.size(); ++id) {
    renewed[id] = next;
    if (!live[id]) continue;
    Segment segment = segments_[id];
    if (segment.ticks != 0) {
      if (ticks.back() != ticks_[segment.ticks]) ticks.push_back(ticks_[segment.ticks]);
      segment.ticks = static_cast<std::uint32_t>(ticks.size() - 1);
    }
    segments_[next++] = segment;
  }
  renewed[segments_.size()] = next;
  std::erase_if(past_, [&](const auto& past) { return !live[past.second]; });
  for (auto& [place, id] : past_) id = renewed[id];
  segments_.resize(next);
  ticks_ = std::move(ticks);
  forget_answers();
  for (Slot& slot : slots_) {
    slot.first_segment = renewed[slot.first_segment];
    for (Warp& warp : slot.warps) {
      for (SegmentId& id : warp.segment) id = renewed[id];
    }
  }
  last_agent_ = renewed[last_agent_];
  return renewed;
}

}  // namespace warpcheck::vgpu
