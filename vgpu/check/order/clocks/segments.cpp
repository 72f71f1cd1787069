#include "vgpu/check/order/clocks/segments.hpp"

#include <algorithm>
#include <utility>

namespace warpcheck::vgpu {

void Segments::reset() {
  segments_.assign(1, {});
  ticks_.assign(1, {});
  past_.clear();
  latest_past_id_ = 0;
  last_agents_ = {};
}

SegmentId Segments::add(const Segment& segment, const Ticks& ticks) {
  set_ticks(segments_.emplace_back(segment), ticks);
  return count() - 1;
}

// Mostly the ticks of all lanes are the same, or equal those of the segment before.
void Segments::set_ticks(Segment& segment, const Ticks& ticks) {
  if (std::ranges::adjacent_find(ticks, std::ranges::not_equal_to{}) == ticks.end()) {
    segment.tick = ticks[0];
    return;
  }
  if (ticks_.back() != ticks) ticks_.push_back(ticks);
  segment.ticks = static_cast<std::uint32_t>(ticks_.size() - 1);
}

// A bulk copy alternates between the agents of its reads and of its writes.
SegmentId Segments::add_of_agent(const Segment& segment, const Ticks& ticks) {
  constexpr unsigned kAgentBits = 16;  // agents.hpp
  SegmentId& id = last_agents_[(segment.agent >> kAgentBits) % last_agents_.size()];
  const Segment& last = segments_[id];
  const auto has_ticks = [&] {
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      if (tick_of(last, lane) != ticks[lane]) return false;
    }
    return true;
  };
  const bool is_same = id != 0 && last.block == segment.block && last.launch == segment.launch &&
                       last.warp == segment.warp && last.async_proxy == segment.async_proxy &&
                       last.agent == segment.agent && last.agent_block == segment.agent_block &&
                       has_ticks();
  if (!is_same) id = add(segment, ticks);
  return id;
}

SegmentId Segments::past(std::uint32_t launch, BlockKey block, std::uint32_t warp, Tick phase) {
  const Past past{launch, block, warp, phase};
  if (latest_past_id_ != 0 && latest_past_ == past) return latest_past_id_;
  latest_past_ = past;
  SegmentId& id = past_[past];
  if (id != 0) return latest_past_id_ = id;
  Segment segment;
  segment.block = segment.agent_block = block;
  segment.launch = launch;
  segment.phase = phase;
  segment.warp = static_cast<std::uint16_t>(warp);
  return latest_past_id_ = id = add(segment, {});
}

std::vector<SegmentId> Segments::forget(std::vector<bool> live) {
  live[0] = true;
  for (const SegmentId id : last_agents_) live[id] = true;
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
  for (SegmentId& id : last_agents_) id = renewed[id];
  latest_past_id_ = 0;
  return renewed;
}

}  // namespace warpcheck::vgpu
