#include "vgpu/schedule/random.hpp"

#include <algorithm>

#include "vgpu/schedule/held_lanes.hpp"

namespace warpcheck::vgpu {

void Random::begin(std::uint32_t, std::uint32_t blocks, std::uint32_t warps_per_block) {
  const std::uint64_t warps = std::uint64_t{blocks} * warps_per_block;
  budget_ = prng_.one_in(8) ? UINT64_MAX : 1 + prng_.below(8);
  mean_gap_ = prng_.magnitude(std::max<std::uint64_t>(accesses_per_warp_ * warps, 1)) - 1;
  stop_odds_ = std::uint64_t{1} << prng_.below(6);
}

std::uint64_t Random::next_access(std::uint32_t, WarpId, std::uint64_t from) {
  if (budget_ == 0) return UINT64_MAX;
  return from + prng_.geometric(mean_gap_);
}

std::optional<Choice> Random::decide(const SchedulePoint& point) {
  if (budget_ == 0) return std::nullopt;
  std::optional<Choice> choice =
      point.point == Decision::Point::access ? decide_access(point) : decide_stop(point);
  if (choice) --budget_;
  return choice;
}

std::uint32_t Random::choose_operation(const OperationPoint& point) {
  return point.ready[prng_.one_in(2) ? 0 : prng_.below(point.ready.size())];
}

std::optional<Choice> Random::decide_access(const SchedulePoint& point) {
  const WarpId other =
      point.ready.empty() ? point.at : point.ready[prng_.below(point.ready.size())];
  if (point.model == WarpModel::independent && !prng_.one_in(4)) {
    const std::uint32_t held = draw_held_lanes(prng_, point.active, point.beside);
    if (held != 0) return Choice{held, prng_.one_in(8) ? other : point.at};
  }
  if (other == point.at) return std::nullopt;
  return Choice{point.active, other};
}

std::optional<Choice> Random::decide_stop(const SchedulePoint& point) {
  if (point.ready.empty() || !prng_.one_in(stop_odds_)) return std::nullopt;
  const WarpId next = point.ready[prng_.below(point.ready.size())];
  if (next == point.default_next) return std::nullopt;
  return Choice{0, next};
}

}  // namespace warpcheck::vgpu
