#include "vgpu/schedule/round_robin.hpp"

#include <algorithm>

namespace warpcheck::vgpu {

std::uint64_t RoundRobin::next_access(std::uint32_t, WarpId, std::uint64_t from) {
  return (from + period_ - 1) / period_ * period_;
}

std::optional<Choice> RoundRobin::decide(const SchedulePoint& point) {
  if (point.ready.empty()) return std::nullopt;
  auto next = std::upper_bound(point.ready.begin(), point.ready.end(), point.at);
  if (next == point.ready.end()) next = point.ready.begin();
  const bool access = point.point == Decision::Point::access;
  if (access ? *next == point.at : *next == point.default_next) return std::nullopt;
  return Choice{point.active, *next};
}

}  // namespace warpcheck::vgpu
