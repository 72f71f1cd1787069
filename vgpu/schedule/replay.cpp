#include "vgpu/schedule/replay.hpp"

#include <algorithm>

namespace warpcheck::vgpu {
namespace {

// The place of a decision.  Decisions at one access or fence are taken one after the other.
struct Place {
  std::uint32_t launch;
  WarpId at;
  Decision::Point point;
  std::uint64_t index;
  friend auto operator<=>(const Place&, const Place&) = default;
};

Place place_of(const Decision& decision) {
  return {decision.launch, decision.at, decision.point, decision.index};
}

bool before(const Decision& decision, const Place& place) { return place_of(decision) < place; }

bool is_of_lanes(Decision::Point point) {
  return point == Decision::Point::access || point == Decision::Point::fence;
}

bool fits(const Decision& decision, const SchedulePoint& point) {
  if (!point.can_run(decision.next)) return false;
  if (!is_of_lanes(point.point)) return true;
  const std::uint32_t held = decision.held;
  if (held == 0 || (held & ~point.active) != 0) return false;
  if (held == point.active && decision.next != point.at) return true;
  if (held == point.active && (point.other_ready | point.behind) == 0) return false;
  return point.model == WarpModel::independent;
}

}  // namespace

Replay::Replay(const Schedule& schedule)
    : decisions_(schedule.decisions), is_followed_(decisions_.size()) {
  std::stable_sort(decisions_.begin(), decisions_.end(),
                   [](const Decision& a, const Decision& b) { return before(a, place_of(b)); });
  const auto has_any = [&](Decision::Point point) {
    return std::ranges::find(decisions_, point, &Decision::point) != decisions_.end();
  };
  has_stops_ = has_any(Decision::Point::stop);
  has_releases_ = has_any(Decision::Point::release);
}

bool Replay::has(std::uint32_t launch, Decision::Point point) const {
  return std::ranges::any_of(decisions_, [&](const Decision& decision) {
    return decision.launch == launch && decision.point == point;
  });
}

StartOrder Replay::choose_start(const StartPoint& point) {
  const Place place{point.launch, {}, Decision::Point::start, 0};
  const auto found = std::lower_bound(decisions_.begin(), decisions_.end(), place, before);
  const bool fits = found != decisions_.end() && found->launch == point.launch &&
                    found->at == WarpId{} && found->point == Decision::Point::start &&
                    found->index <= 1 && found->next.block < point.blocks &&
                    found->next.warp < point.warps_per_block;
  if (!fits) return {};
  ++followed_;
  return {found->next, found->index == 1};
}

// Returns the first place from `from` on; if a decision at the place before `from` has just been
// followed and there are more at that place, that place again.
std::uint64_t Replay::next(std::uint32_t launch, WarpId warp, Decision::Point point,
                           std::uint64_t from) const {
  const bool goes_on = from != 0 && has_followed_;
  const Place place{launch, warp, point, goes_on ? from - 1 : from};
  auto found = std::lower_bound(decisions_.begin(), decisions_.end(), place, before);
  const auto is_there = [&] {
    return found != decisions_.end() && found->launch == launch && found->at == warp &&
           found->point == point;
  };
  while (is_there() && found->index < from && is_followed_[number_of(found)]) ++found;
  return is_there() ? found->index : UINT64_MAX;
}

std::uint64_t Replay::next_access(std::uint32_t launch, WarpId warp, std::uint64_t from) {
  return next(launch, warp, Decision::Point::access, from);
}

std::uint64_t Replay::next_fence(std::uint32_t launch, WarpId warp, std::uint64_t from) {
  return next(launch, warp, Decision::Point::fence, from);
}

bool Replay::decides_fences(std::uint32_t launch) const {
  return has(launch, Decision::Point::fence);
}

std::optional<Choice> Replay::decide(const SchedulePoint& point) {
  const Place place{point.launch, point.at, point.point, point.index};
  auto found = std::lower_bound(decisions_.begin(), decisions_.end(), place, before);
  const auto is_there = [&] { return found != decisions_.end() && place_of(*found) == place; };
  // A stop or a release has only one decision.
  while (is_of_lanes(point.point) && is_there() && is_followed_[number_of(found)]) ++found;
  has_followed_ = is_there() && fits(*found, point);
  if (!has_followed_) return std::nullopt;
  is_followed_[number_of(found)] = true;
  ++followed_;
  return Choice{found->held, found->next};
}

std::uint32_t Replay::choose_operation(const OperationPoint& point) {
  const std::uint32_t first = point.ready.front();
  const Place place{0, {first, 0}, Decision::Point::operation, point.passed_over};
  const auto found = std::lower_bound(decisions_.begin(), decisions_.end(), place, before);
  if (found == decisions_.end() || place_of(*found) != place) return first;
  const std::uint32_t next = found->next.block;
  if (!std::ranges::binary_search(point.ready, next)) return first;
  ++followed_;
  return next;
}

bool Replay::chooses_past(std::uint32_t launch) const { return has(launch, Decision::Point::past); }

// An access to several allocations is asked about once for each of them.
std::optional<PastChoice> Replay::choose_past(const PastPoint& point) {
  const Place place{point.launch, point.at, Decision::Point::past, point.index};
  auto found = std::lower_bound(decisions_.begin(), decisions_.end(), place, before);
  for (; found != decisions_.end() && place_of(*found) == place; ++found) {
    const PastChoice choice{found->held & point.lanes, found->next.block};
    if (choice.lanes == 0 || choice.writes == 0) continue;
    ++followed_;
    return choice;
  }
  return std::nullopt;
}

}  // namespace warpcheck::vgpu
