#include "vgpu/check/order/launch_order.hpp"

#include <algorithm>
#include <iterator>

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
  first_block_ = next_first_block_;
  next_first_block_ += launch.grid.count();
  early_.begin(launch_, early_after, launch.program);
  if (early_after != ptx::kNone) waited_for_ = next_first_block_++;
  unordered_.assign(unordered.begin(), unordered.end());
  unordered_.insert(unordered_.end(), early_.open_at_start().begin(), early_.open_at_start().end());
  if (!std::ranges::is_sorted(unordered_)) std::ranges::sort(unordered_);  // mostly they are
  first_unordered_ = unordered_.empty() ? launch_ : std::min(launch_, unordered_.front());
  known_until_.clear();
  ended_.assign(launch.grid.count(), false);
  grid_ = launch.grid;
  cluster_ = launch.cluster;
}

void LaunchOrder::suspend() {
  suspended_[launch_] = {first_block_,
                         waited_for_,
                         grid_,
                         cluster_,
                         std::move(unordered_),
                         first_unordered_,
                         std::move(known_until_),
                         early_.suspend(),
                         std::move(ended_)};
  known_until_.clear();
}

void LaunchOrder::resume(std::uint32_t launch) {
  Suspended suspended = std::move(suspended_.at(launch));
  suspended_.erase(launch);
  launch_ = launch;
  first_block_ = suspended.first_block;
  waited_for_ = suspended.waited_for;
  grid_ = suspended.grid;
  cluster_ = suspended.cluster;
  unordered_ = std::move(suspended.unordered);
  first_unordered_ = suspended.first_unordered;
  known_until_ = std::move(suspended.known_until);
  early_.resume(std::move(suspended.early));
  ended_ = std::move(suspended.ended);
}

// What such a launch has done until now comes before this one if it is not one of the unordered
// launches: the host has seen a flag of it, and has then requested this one.
void LaunchOrder::begin_beside(std::span<const std::uint32_t> suspended, SegmentId now) {
  std::erase_if(suspended_,
                [&](const auto& one) { return !std::ranges::binary_search(suspended, one.first); });
  for (auto& [launch, other] : suspended_) {
    have_overlapped_ = true;
    other.unordered.push_back(launch_);  // the latest launch
    if (!is_ordered(launch)) continue;
    unordered_.insert(std::ranges::upper_bound(unordered_, launch), launch);
    first_unordered_ = std::min(first_unordered_, launch);
    learn_of(launch, now);
  }
}

void LaunchOrder::renew_thresholds(const std::vector<SegmentId>& renewed) {
  for (auto& [launch, until] : known_until_) until = renewed[until];
  for (auto& [launch, other] : suspended_) {
    for (auto& [known, until] : other.known_until) until = renewed[until];
  }
}

bool LaunchOrder::has_ended_elsewhere(BlockKey block) const {
  return std::ranges::none_of(suspended_, [&](const auto& one) {
    const Suspended& other = one.second;
    return block - other.first_block < other.ended.size() &&
           !other.ended[block - other.first_block];
  });
}

bool LaunchOrder::is_ordered(std::uint32_t launch) const {
  return launch != launch_ && !std::ranges::binary_search(unordered_, launch);
}

BlockKey LaunchOrder::cluster_of(BlockKey block) const {
  if (block - first_block_ >= ended_.size() || !has_clusters()) return block;
  const Dim3 at = grid_.position_of(static_cast<std::uint32_t>(block - first_block_));
  const Dim3 first{at.x - at.x % cluster_.x, at.y - at.y % cluster_.y, at.z - at.z % cluster_.z};
  return first_block_ + grid_.linear(first);
}

unsigned LaunchOrder::device_of_block(BlockKey block) const {
  const auto after = std::ranges::upper_bound(starts_, block, {}, &Start::first_block);
  return std::prev(after)->device;
}

}  // namespace warpcheck::vgpu
