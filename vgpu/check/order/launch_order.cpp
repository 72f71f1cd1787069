#include "vgpu/check/order/launch_order.hpp"

#include <algorithm>
#include <iterator>

namespace warpcheck::vgpu {

void LaunchOrder::reset() {
  launches_ = 0;
  next_first_block_ = 0;
  starts_.clear();
  early_.clear();
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
  ended_.assign(launch.grid.count(), false);
  grid_ = launch.grid;
  cluster_ = launch.cluster;
}

bool LaunchOrder::is_ordered(std::uint32_t launch) const {
  return launch != launch_ && !std::ranges::binary_search(unordered_, launch);
}

BlockKey LaunchOrder::cluster_of(BlockKey block) const {
  if (block < first_block_ || !has_clusters()) return block;
  const Dim3 at = grid_.position_of(static_cast<std::uint32_t>(block - first_block_));
  const Dim3 first{at.x - at.x % cluster_.x, at.y - at.y % cluster_.y, at.z - at.z % cluster_.z};
  return first_block_ + grid_.linear(first);
}

unsigned LaunchOrder::device_of_block(BlockKey block) const {
  const auto after = std::ranges::upper_bound(starts_, block, {}, &Start::first_block);
  return std::prev(after)->device;
}

}  // namespace warpcheck::vgpu
