#include "vgpu/schedule/random.hpp"

#include <algorithm>

#include "vgpu/schedule/held_lanes.hpp"
#include "vgpu/schedule/start.hpp"

namespace warpcheck::vgpu {
namespace {

// Draws a warp: all warps that could run next are equally likely, including those of blocks that
// have not begun.
WarpId draw_warp(Prng& prng, const SchedulePoint& point) {
  const std::uint64_t listed = point.ready.size(), others = point.warps_per_block - 1;
  const std::uint64_t drawn = prng.below(listed + point.not_begun.size() * others);
  if (drawn < listed) return point.ready[drawn];
  const std::uint64_t rest = drawn - listed;
  return {point.not_begun[rest / others], static_cast<std::uint32_t>(1 + rest % others)};
}

}  // namespace

void Random::begin(std::uint32_t, std::uint32_t blocks, std::uint32_t warps_per_block) {
  const std::uint64_t warps = std::uint64_t{blocks} * warps_per_block;
  budget_ = prng_.one_in(8) ? UINT64_MAX : 1 + prng_.below(8);
  mean_gap_ = prng_.magnitude(std::max<std::uint64_t>(accesses_per_warp_ * warps, 1)) - 1;
  stop_odds_ = std::uint64_t{1} << prng_.below(6);
}

// If there are many contenders, each comes first in few schedules, so the first one should not be
// preempted before it reaches what it contends for.  If there are few, a preempted first one does
// no harm.
StartOrder Random::choose_start(const StartPoint& point) {
  const StartOrder order = nth_start(seed_, point);
  const auto spares = [&](std::uint32_t contenders) {
    if (contenders > 4) return true;
    return contenders == 4 ? !prng_.one_in(16) : contenders == 3 && prng_.one_in(2);
  };
  const std::uint32_t warps = point.warps_per_block;
  first_ = order.first;
  last_warp_ = (first_.warp + (order.descending ? 1 : warps - 1)) % warps;
  spares_block_ = spares(point.blocks);
  spares_warps_ = spares(warps);
  return order;
}

std::uint64_t Random::next_access(std::uint32_t, WarpId, std::uint64_t from) {
  if (budget_ == 0) return UINT64_MAX;
  return from + prng_.geometric(mean_gap_);
}

std::optional<Choice> Random::decide(const SchedulePoint& point) {
  if (budget_ == 0 || point.ready.empty()) return std::nullopt;
  std::optional<Choice> choice =
      point.point == Decision::Point::access ? decide_access(point) : decide_stop(point);
  if (choice) --budget_;
  return choice;
}

std::uint32_t Random::choose_operation(const OperationPoint& point) {
  return point.ready[prng_.one_in(2) ? 0 : prng_.below(point.ready.size())];
}

// Returns whether `next` must not replace `now`.
bool Random::spares(const WarpId& now, const WarpId& next) const {
  if (spares_block_ && now.block == first_.block && next.block != now.block) return true;
  return spares_warps_ && (now.warp == first_.warp || now.warp == last_warp_);
}

std::optional<Choice> Random::decide_access(const SchedulePoint& point) {
  if (point.model == WarpModel::independent && !prng_.one_in(4)) {
    const std::uint32_t held = draw_held_lanes(prng_, point.active, point.other_ready);
    if (held != 0) return Choice{held, point.at};
  }
  const WarpId other = draw_warp(prng_, point);
  if (other == point.at || spares(point.at, other)) return std::nullopt;
  return Choice{point.active, other};
}

// Decides at a stop or a release.
std::optional<Choice> Random::decide_stop(const SchedulePoint& point) {
  if (!prng_.one_in(stop_odds_)) return std::nullopt;
  const WarpId next = draw_warp(prng_, point);
  if (next == point.default_next || spares(point.default_next, next)) return std::nullopt;
  return Choice{0, next};
}

}  // namespace warpcheck::vgpu
