// Launches that another checker checks, and that the general one only counts until it needs its
// state: there may be millions of launches of a few kernels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "vgpu/check/order/thread_order.hpp"

namespace warpcheck::vgpu {

class CountedLaunches {
 public:
  void clear() {
    launches_.clear();
    shapes_.clear();
  }
  void add(const LaunchShape& shape) {
    const auto latest = std::span(shapes_).last(std::min(shapes_.size(), kLooksMax));
    const auto known = std::ranges::find(latest, shape);
    launches_.push_back(static_cast<std::uint32_t>(
        shapes_.size() - latest.size() + static_cast<std::size_t>(known - latest.begin())));
    if (known == latest.end()) shapes_.push_back(shape);
  }
  // Calls begin(shape) for each launch, oldest first, and forgets them.
  template <typename Begin>
  void begin_all(Begin begin) {
    if (launches_.empty()) return;
    for (const std::uint32_t launch : std::exchange(launches_, {})) begin(shapes_[launch]);
    shapes_.clear();
  }

 private:
  static constexpr std::size_t kLooksMax = 64;

  std::vector<std::uint32_t> launches_;  // as indices into shapes_
  std::vector<LaunchShape> shapes_;
};

}  // namespace warpcheck::vgpu
