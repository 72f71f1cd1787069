#include "vgpu/check/order/launch_order.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

void LaunchOrder::reset() {
  launches_ = 0;
  next_first_block_ = 0;
  starts_.clear();
  early_.clear();
  suspended_.clear();
  have_overlapped_ = false;
}

void LaunchOrder::begin(const LaunchShape& launch, std::span<const std::uint32_t> unordered,
                        std::uint32_t early_after) {
  launch_ = launches_++;
  devices_ = launch.devices;
  if (has_devices()) starts_.push_back({next_first_block_, launch.device});
  now_.first_block = next_first_block_;
  next_first_block_ += launch.grid.count();
  early_.begin(launch_, early_after, launch.program);
  if (early_after != ptx::kNone) now_.waited_for = next_first_block_++;
  now_.unordered.assign(unordered.begin(), unordered.end());
  now_.unordered.insert(now_.unordered.end(), early_.open_at_start().begin(),
                        early_.open_at_start().end());
  if (!std::ranges::is_sorted(now_.unordered))
    std::ranges::sort(now_.unordered);  // mostly they are
  now_.first_unordered =
      now_.unordered.empty() ? launch_ : std::min(launch_, now_.unordered.front());
  now_.known_until.clear();
  now_.ended.assign(launch.grid.count(), false);
  now_.grid = launch.grid;
  now_.cluster = launch.cluster;
}

void LaunchOrder::suspend() { suspended_[launch_] = {std::exchange(now_, {}), early_.suspend()}; }

void LaunchOrder::resume(std::uint32_t launch) {
  Suspended suspended = std::move(suspended_.at(launch));
  suspended_.erase(launch);
  launch_ = launch;
  now_ = std::move(suspended.launch);
  early_.resume(std::move(suspended.early));
}

// What such a launch has done until now comes before this one if it is not one of the unordered
// launches: the host has seen a flag of it, and has then requested this one.
void LaunchOrder::begin_beside(std::span<const std::uint32_t> suspended, SegmentId now) {
  std::erase_if(suspended_,
                [&](const auto& one) { return !std::ranges::binary_search(suspended, one.first); });
  for (auto& [launch, other] : suspended_) {
    have_overlapped_ = true;
    other.launch.unordered.push_back(launch_);  // the latest launch
    if (!is_ordered(launch)) continue;
    now_.unordered.insert(std::ranges::upper_bound(now_.unordered, launch), launch);
    now_.first_unordered = std::min(now_.first_unordered, launch);
    learn_of(launch, now);
  }
}

void LaunchOrder::renew_thresholds(const std::vector<SegmentId>& renewed) {
  for (auto& [launch, until] : now_.known_until) until = renewed[until];
  for (auto& [launch, other] : suspended_) {
    for (auto& [known, until] : other.launch.known_until) until = renewed[until];
  }
}

bool LaunchOrder::has_ended_elsewhere(BlockKey block) const {
  return std::ranges::none_of(suspended_, [&](const auto& one) {
    const OfLaunch& other = one.second.launch;
    return block - other.first_block < other.ended.size() &&
           !other.ended[block - other.first_block];
  });
}

bool LaunchOrder::is_ordered(std::uint32_t launch) const {
  return launch != launch_ && !std::ranges::binary_search(now_.unordered, launch);
}

BlockKey LaunchOrder::cluster_of(BlockKey block) const {
  if (block - now_.first_block >= now_.ended.size() || !has_clusters()) return block;
  const Dim3 at = now_.grid.position_of(static_cast<std::uint32_t>(block - now_.first_block));
  const Dim3 first{at.x - at.x % now_.cluster.x, at.y - at.y % now_.cluster.y,
                   at.z - at.z % now_.cluster.z};
  return now_.first_block + now_.grid.linear(first);
}

unsigned LaunchOrder::device_of_block(BlockKey block) const {
  const auto after = std::ranges::upper_bound(starts_, block, {}, &Start::first_block);
  return std::prev(after)->device;
}

Reach LaunchOrder::reach_between_devices(const Access& access) const {
  return reach_of(scope_of(access.program->code[access.pc]));
}

}  // namespace warpcheck::vgpu
