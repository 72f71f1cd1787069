#include "harness/trial/schedule_search.hpp"

#include <algorithm>
#include <bit>

#include "vgpu/schedule/strategies.hpp"

namespace warpcheck {
namespace {

// Other warps to run at one point: the nearest few, as a grid may have thousands.
constexpr std::size_t kOthersMax = 4;

}  // namespace

std::uint64_t ScheduleProbe::next_access(std::uint32_t, vgpu::WarpId, std::uint64_t from) {
  return points_.size() < points_max_ ? from : UINT64_MAX;
}

vgpu::StartOrder ScheduleProbe::choose_start(const vgpu::StartPoint& point) {
  if (points_.size() >= points_max_) return {};
  Point seen;
  seen.at.launch = point.launch;
  seen.at.point = vgpu::Decision::Point::start;
  for (std::uint32_t i = 1; i <= kOthersMax; ++i) {
    if (i < point.blocks) seen.others.push_back({i, 0});
    if (i < point.warps_per_block) seen.others.push_back({0, i});
  }
  if (!seen.others.empty()) points_.push_back(std::move(seen));
  return {};
}

std::optional<vgpu::Choice> ScheduleProbe::decide(const vgpu::SchedulePoint& point) {
  if (points_.size() >= points_max_) return std::nullopt;
  Point seen{.at = {.launch = point.launch,
                    .at = point.at,
                    .point = point.point,
                    .index = point.index,
                    .held = point.active,
                    .next = point.default_next},
             .other_ready = point.other_ready,
             .others = {}};
  for (const vgpu::WarpId& warp : point.ready) {
    if (seen.others.size() == kOthersMax) break;
    if (warp != point.default_next && warp != point.at) seen.others.push_back(warp);
  }
  points_.push_back(std::move(seen));
  return std::nullopt;
}

std::optional<vgpu::PastChoice> ScheduleProbe::choose_past(const vgpu::PastPoint& point) {
  if (points_.size() >= points_max_) return std::nullopt;
  points_.push_back({.at = {.launch = point.launch,
                            .at = point.at,
                            .point = vgpu::Decision::Point::past,
                            .index = point.index,
                            .held = point.lanes,
                            .next = {point.depth, 0}},
                     .others = {}});
  return std::nullopt;
}

std::uint32_t ScheduleProbe::choose_operation(const vgpu::OperationPoint& point) {
  const std::uint32_t first = point.ready.front();
  if (points_.size() >= points_max_) return first;
  Point seen;
  seen.at.at = seen.at.next = {first, 0};
  seen.at.point = vgpu::Decision::Point::operation;
  seen.at.index = point.passed_over;
  for (const std::uint32_t other : point.ready.subspan(1)) {
    if (seen.others.size() == kOthersMax) break;
    seen.others.push_back({other, 0});
  }
  points_.push_back(std::move(seen));
  return first;
}

namespace {

// For one access: what all of its lanes leave out, or one of them.
void add_past_decisions(const vgpu::Decision& deepest, std::vector<vgpu::Decision>& decisions) {
  const auto add = [&](std::uint32_t lanes) {
    vgpu::Decision decision = deepest;
    decision.held = lanes;
    decision.next.block = 1;
    decisions.push_back(decision);
    if (deepest.next.block == 1) return;
    decision.next.block = deepest.next.block;
    decisions.push_back(decision);
  };
  add(deepest.held);
  if (std::has_single_bit(deepest.held)) return;
  for (std::uint32_t lanes = deepest.held; lanes != 0; lanes &= lanes - 1) {
    add(lanes & (~lanes + 1));
  }
}

}  // namespace

std::vector<vgpu::Decision> single_decisions(const std::vector<ScheduleProbe::Point>& points,
                                             vgpu::WarpModel model) {
  std::vector<vgpu::Decision> decisions;
  for (const ScheduleProbe::Point& point : points) {
    if (point.at.point == vgpu::Decision::Point::past) {
      add_past_decisions(point.at, decisions);
      continue;
    }
    vgpu::Decision decision = point.at;
    for (const vgpu::WarpId& other : point.others) {
      decision.next = other;
      decisions.push_back(decision);
    }
    const std::uint32_t active = point.at.held;
    if (model != vgpu::WarpModel::independent) continue;
    decision.next = point.at.at;
    if (point.other_ready != 0) decisions.push_back(decision);
    if (std::popcount(active) < 2) continue;
    for (std::uint32_t lanes = active; lanes != 0; lanes &= lanes - 1) {
      const std::uint32_t lane = lanes & (~lanes + 1);
      decision.held = lane;
      decisions.push_back(decision);
      if (std::popcount(active) == 2) continue;  // all but one is one, as before
      decision.held = active & ~lane;
      decisions.push_back(decision);
    }
  }
  std::ranges::stable_sort(decisions, {}, [](const vgpu::Decision& d) { return weight(d); });
  return decisions;
}

namespace {

std::optional<Verdict> try_policies(Case candidate, std::uint64_t count, ScheduleTrial trial,
                                    FunctionRef<bool(const Verdict&)> wanted) {
  for (std::uint64_t i = 0; i < count; ++i) {
    candidate.schedule = policy(i);
    std::optional<Verdict> verdict = trial(candidate, nullptr);
    if (!verdict) return std::nullopt;
    if (!wanted(*verdict)) continue;
    // The recorded decisions must show it too, because they will be replayed.
    candidate.schedule = verdict->schedule;
    verdict = trial(candidate, nullptr);
    if (verdict && wanted(*verdict)) return verdict;
  }
  return std::nullopt;
}

std::optional<Verdict> try_single_decisions(Case candidate, std::uint64_t count,
                                            ScheduleTrial trial,
                                            FunctionRef<bool(const Verdict&)> wanted) {
  ScheduleProbe probe(count);
  if (!trial(candidate, &probe)) return std::nullopt;
  const auto decisions = single_decisions(probe.points(), candidate.settings.warp_model);
  if (decisions.size() > count) return std::nullopt;
  for (const vgpu::Decision& decision : decisions) {
    candidate.schedule = vgpu::Schedule{{decision}};
    std::optional<Verdict> verdict = trial(candidate, nullptr);
    if (!verdict || wanted(*verdict)) return verdict;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Verdict> search_schedules(const Case& a_case, const ScheduleLimits& limits,
                                        ScheduleTrial trial,
                                        FunctionRef<bool(const Verdict&)> wanted) {
  if (auto verdict = try_policies(a_case, limits.policies_max, trial, wanted)) return verdict;
  return try_single_decisions(a_case, limits.single_decisions_max, trial, wanted);
}

StrategyChoice policy(std::uint64_t index) {
  std::uint64_t turn = index;
  for (const vgpu::StrategyRow& row : vgpu::strategies()) {
    if (turn < row.seeds_tried_first) return {.name = std::string(row.name), .seed = turn};
    turn -= row.seeds_tried_first;
  }
  const vgpu::StrategyRow& row = vgpu::strategy_of_seed(vgpu::searched_strategy(turn), index);
  return {.name = std::string(row.name), .seed = index};
}

}  // namespace warpcheck
