#include "vgpu/schedule/pct.hpp"

#include <algorithm>

#include "vgpu/schedule/held_lanes.hpp"

namespace warpcheck::vgpu {

void Pct::begin(std::uint32_t, std::uint32_t blocks, std::uint32_t warps_per_block) {
  salt_ = prng_.next();
  changes_.clear();
  demotions_.clear();
  rank_ = 0;
  const std::uint64_t depth = depth_ != 0 ? depth_ : 2 + prng_.below(4);
  for (std::uint64_t i = 1; i < depth; ++i) {
    const WarpId warp{static_cast<std::uint32_t>(prng_.below(blocks)),
                      static_cast<std::uint32_t>(prng_.below(warps_per_block))};
    changes_.push_back({warp, prng_.magnitude(std::max<std::uint64_t>(accesses_per_warp_, 1)) - 1});
  }
}

std::uint64_t Pct::next_access(std::uint32_t, WarpId warp, std::uint64_t from) {
  std::uint64_t next = UINT64_MAX;
  for (const ChangePoint& change : changes_) {
    if (change.warp == warp && change.index >= from) next = std::min(next, change.index);
  }
  return next;
}

std::optional<Choice> Pct::decide(const SchedulePoint& point) {
  if (point.point == Decision::Point::stop) {
    if (point.ready.empty()) return std::nullopt;
    if (point.spent) demote(point.at);
    const WarpId next = highest(point.ready);
    if (next == point.default_next) return std::nullopt;
    return Choice{0, next};
  }
  if (point.model == WarpModel::independent && !prng_.one_in(4)) {
    const std::uint32_t held = draw_held_lanes(prng_, point.active, point.beside);
    if (held != 0) return Choice{held, point.at};
  }
  demote(point.at);
  const WarpId next = point.ready.empty() ? point.at : highest(point.ready);
  if (next == point.at) return std::nullopt;
  return Choice{point.active, next};
}

// Below all others.
void Pct::demote(WarpId warp) {
  std::erase_if(demotions_, [&](const Demotion& demotion) { return demotion.warp == warp; });
  demotions_.push_back({warp, rank_++});
}

// Operations are few beside accesses: a random one each time meets every order of a few.
std::uint32_t Pct::choose_operation(const OperationPoint& point) {
  return point.ready[prng_.below(point.ready.size())];
}

std::uint64_t Pct::priority(WarpId warp) const {
  constexpr std::uint64_t kLowest = std::uint64_t{1} << 48;  // below: demoted warps
  for (const Demotion& demotion : demotions_) {
    if (demotion.warp == warp) return kLowest - std::min(demotion.rank + 1, kLowest);
  }
  const std::uint64_t number = (std::uint64_t{warp.block} << 32) | warp.warp;
  return std::max(Prng(salt_ ^ number * 0xd1342543de82ef95u).next(), kLowest);
}

WarpId Pct::highest(std::span<const WarpId> ready) const {
  return *std::max_element(ready.begin(), ready.end(), [this](const WarpId& a, const WarpId& b) {
    return priority(a) < priority(b);
  });
}

}  // namespace warpcheck::vgpu
