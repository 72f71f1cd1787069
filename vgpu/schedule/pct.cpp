#include "vgpu/schedule/pct.hpp"

#include <algorithm>

#include "vgpu/schedule/held_lanes.hpp"
#include "vgpu/schedule/start.hpp"

namespace warpcheck::vgpu {
namespace {

// Ranges of priorities: initial ones are above kChanged; below are those of change points, in the
// order in which they were drawn; below those are those of warps that made no progress, later ones
// lower.
constexpr std::uint64_t kChanged = std::uint64_t{1} << 48;
constexpr std::uint64_t kChangesMax = std::uint64_t{1} << 32;

}  // namespace

void Pct::begin(std::uint32_t, std::uint32_t blocks, std::uint32_t warps_per_block) {
  salt_ = prng_.next();
  changes_.clear();
  demotions_.clear();
  lowest_ = kChanged - kChangesMax;
  first_.reset();
  const bool is_given = depth_ != 0, is_alone = blocks == 1 && warps_per_block == 1;
  const std::uint64_t depth = is_given   ? depth_
                              : is_alone ? 2 + prng_.below(4)
                                         : 1 + prng_.below(5);
  holds_lanes_ = !is_given && (is_alone || !prng_.one_in(3));
  for (std::uint64_t i = 1; i < depth; ++i) {
    const WarpId warp{static_cast<std::uint32_t>(prng_.below(blocks)),
                      static_cast<std::uint32_t>(prng_.below(warps_per_block))};
    changes_.push_back({warp, is_given ? prng_.below(accesses_per_warp_)
                                       : prng_.magnitude(accesses_per_warp_) - 1});
  }
}

StartOrder Pct::choose_start(const StartPoint& point) {
  const StartOrder order = nth_start(seed_, point);
  first_ = order.first;
  return order;
}

std::uint64_t Pct::next_access(std::uint32_t, WarpId warp, std::uint64_t from) {
  std::uint64_t next = UINT64_MAX;
  for (const ChangePoint& change : changes_) {
    if (change.warp == warp && change.index >= from) next = std::min(next, change.index);
  }
  return next;
}

std::optional<Choice> Pct::decide(const SchedulePoint& point) {
  if (point.ready.empty()) return std::nullopt;
  if (point.point != Decision::Point::access) {
    if (point.yielded) demote(point.at);
    const WarpId next = highest(point);
    if (next == point.default_next) return std::nullopt;
    return Choice{0, next};
  }
  if (holds_lanes_ && point.model == WarpModel::independent && !prng_.one_in(4)) {
    const std::uint32_t held = draw_held_lanes(prng_, point.active, point.other_ready);
    if (held != 0) return Choice{held, point.at};
  }
  const auto is_here = [&](const ChangePoint& change) {
    return change.warp == point.at && change.index == point.index;
  };
  const auto change = std::ranges::find_if(changes_, is_here);
  if (change == changes_.end()) {
    demote(point.at);
  } else {
    demote(point.at, kChanged - 1 - static_cast<std::uint64_t>(change - changes_.begin()));
  }
  const WarpId next = highest(point);
  if (next == point.at) return std::nullopt;
  return Choice{point.active, next};
}

// Gives the warp a priority below all others.
void Pct::demote(WarpId warp) { demote(warp, --lowest_); }

void Pct::demote(WarpId warp, std::uint64_t priority) {
  std::erase_if(demotions_, [&](const Demotion& demotion) { return demotion.warp == warp; });
  demotions_.push_back({warp, priority});
}

// Operations are few compared to accesses, so a random choice at each of them covers every order of
// a few operations.
std::uint32_t Pct::choose_operation(const OperationPoint& point) {
  return point.ready[prng_.below(point.ready.size())];
}

std::uint64_t Pct::priority(WarpId warp) const {
  for (const Demotion& demotion : demotions_) {
    if (demotion.warp == warp) return demotion.priority;
  }
  if (warp == first_) return UINT64_MAX;
  const std::uint64_t number = (std::uint64_t{warp.block} << 32) | warp.warp;
  return std::clamp(Prng(salt_ ^ number * 0xd1342543de82ef95u).next(), kChanged, UINT64_MAX - 1);
}

// No warp of a block that has not begun was demoted, so the priorities of its warps do not change.
WarpId Pct::top_of(std::uint32_t block, std::uint32_t warps) {
  Top& top = tops_[block % tops_.size()];
  if (top.salt == salt_ && top.block == block) return {block, top.warp};
  top = {salt_, block, 0};
  for (std::uint32_t warp = 1; warp < warps; ++warp) {
    if (priority({block, warp}) > priority({block, top.warp})) top.warp = warp;
  }
  return {block, top.warp};
}

WarpId Pct::highest(const SchedulePoint& point) {
  WarpId best = point.ready.front();
  std::uint64_t best_priority = 0;
  auto not_begun = point.not_begun.begin();
  for (WarpId warp : point.ready) {
    while (not_begun != point.not_begun.end() && *not_begun < warp.block) ++not_begun;
    if (not_begun != point.not_begun.end() && *not_begun == warp.block) {
      warp = top_of(warp.block, point.warps_per_block);
    }
    const std::uint64_t its = priority(warp);
    if (its < best_priority) continue;
    best_priority = its;
    best = warp;
  }
  return best;
}

}  // namespace warpcheck::vgpu
