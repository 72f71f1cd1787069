#include "harness/report/interleaving.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "harness/pair/source_path.hpp"
#include "harness/trial/trial.hpp"
#include "harness/trial/trial_log.hpp"
#include "harness/trial/watched_engine.hpp"
#include "vgpu/check/reporter.hpp"
#include "vgpu/check/trace/trace_options.hpp"
#include "vgpu/schedule/logged.hpp"
#include "vgpu/schedule/replay.hpp"

namespace warpcheck {
namespace {

using Mark = Interleaving::Mark;
using Point = Interleaving::Point;
using vgpu::kWarpLanes;

// Steps kept around each side, and around each decision.
constexpr std::size_t kStepsBefore = 5, kStepsAfter = 4;

bool is_of_past(const TrialLog& log, const LogStep& step) {
  return step.kind == LogStep::Kind::decision &&
         log.decisions()[step.decision].point == vgpu::Decision::Point::past;
}

Mark mark_of(const TrialLog& log, const LogStep& step) {
  if (is_of_past(log, step)) return Mark::older;
  switch (step.kind) {
    case LogStep::Kind::fault: return Mark::fault;
    case LogStep::Kind::event: return Mark::event;
    case LogStep::Kind::barrier: return Mark::barrier;
    case LogStep::Kind::decision: return Mark::decided;
    case LogStep::Kind::access: break;
  }
  switch (step.access) {
    case vgpu::AccessKind::read: return Mark::read;
    case vgpu::AccessKind::write: return Mark::write;
    case vgpu::AccessKind::atomic: break;
  }
  return Mark::atomic;
}

std::string show(const vgpu::WarpId& warp) {
  return fmt::format("block {} warp {}", warp.block, warp.warp);
}

// One picture, of those steps of a log in which its rows take part.
class Drawing {
 public:
  // At least one of the sides is in the log.
  Drawing(const TrialLog& log, std::vector<std::optional<LogPoint>> sides)
      : log_(log), sides_(std::move(sides)) {
    for (const auto& side : sides_) {
      if (side) launch_ = std::max(launch_, step_at(*side).launch);
    }
    // Steps of another launch are ordered before this one.
    for (auto& side : sides_) {
      if (side && step_at(*side).launch != launch_) side.reset();
      if (side) shown_.push_back(*side);
    }
    const vgpu::WarpId warp = step_at(shown_.front()).warp;
    of_lanes_ = std::ranges::all_of(
        shown_, [&](const LogPoint& point) { return step_at(point).warp == warp; });
  }

  // For a finding without sides: the accesses that left out writes, at least one, in the last
  // launch that has any.
  explicit Drawing(const TrialLog& log) : log_(log) {
    for (std::size_t i = 0; i + 1 < log.steps().size(); ++i) {
      const LogStep& step = log.steps()[i];
      if (!is_of_past(log, step)) continue;
      if (step.launch != launch_) shown_.clear();
      launch_ = step.launch;
      if (shown_.size() < kDecisionsMax) shown_.push_back({i + 1, 0});
    }
    for (const LogStep& step : log.steps()) {
      const bool is_access = step.kind == LogStep::Kind::access && step.launch == launch_;
      if (is_access && warps_.size() < kWarpsMax) warps_.insert(step.warp);
    }
  }

  Interleaving draw() {
    choose_warps();
    choose_steps();
    Interleaving picture = of_lanes_ ? with_lane_rows() : with_warp_rows();
    mark_held(picture);
    for (const auto& side : sides_) {
      picture.sides.push_back(side ? std::optional(point_of(*side)) : std::nullopt);
    }
    return picture;
  }

 private:
  [[nodiscard]] const LogStep& step_at(const LogPoint& point) const {
    return log_.steps()[point.step];
  }

  // The warps of the sides, and the warps that a decision of their launch runs instead of another.
  void choose_warps() {
    for (const LogPoint& point : shown_) warps_.insert(step_at(point).warp);
    if (of_lanes_) return;
    for (const vgpu::Decision& decision : log_.decisions()) {
      if (decision.launch != launch_ || warps_.size() >= kWarpsMax) continue;
      if (decision.point != vgpu::Decision::Point::start) warps_.insert(decision.at);
      if (decision.point != vgpu::Decision::Point::past) warps_.insert(decision.next);
    }
  }

  [[nodiscard]] bool concerns(const LogStep& step) const {
    if (step.launch != launch_) return false;
    if (step.kind != LogStep::Kind::barrier) return warps_.contains(step.warp);
    return std::ranges::any_of(
        warps_, [&](const vgpu::WarpId& warp) { return warp.block == step.warp.block; });
  }

  // The numbers of the steps that become columns, in order; kGap for omitted ones.
  void choose_steps() {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < log_.steps().size(); ++i) {
      if (concerns(log_.steps()[i])) all.push_back(i);
    }
    std::vector<bool> keep(all.size());
    const auto keep_around = [&](std::size_t number) {
      const auto at = static_cast<std::size_t>(std::ranges::lower_bound(all, number) - all.begin());
      const std::size_t begin = at - std::min(at, kStepsBefore);
      const std::size_t end = std::min(all.size(), at + 1 + kStepsAfter);
      std::fill(keep.begin() + static_cast<std::ptrdiff_t>(begin),
                keep.begin() + static_cast<std::ptrdiff_t>(end), true);
    };
    for (const LogPoint& point : shown_) keep_around(point.step);
    const std::size_t last = std::ranges::max(shown_, {}, &LogPoint::step).step;
    std::size_t decisions = 0;
    for (const std::size_t number : all) {
      const bool decides = log_.steps()[number].kind == LogStep::Kind::decision;
      if (decides && number < last && ++decisions <= kDecisionsMax) keep_around(number);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (keep[i]) {
        columns_.push_back(all[i]);
      } else if (columns_.empty() || columns_.back() != kGap) {
        columns_.push_back(kGap);
      }
    }
  }

  [[nodiscard]] Interleaving::Step describe(std::size_t number) const {
    if (number == kGap) return {.label = "...", .text = "steps left out", .marks = {}, .gap = true};
    const LogStep& step = log_.steps()[number];
    if (step.kind == LogStep::Kind::barrier) {
      return {
          .label = "barrier",
          .text = fmt::format("all threads of block {} have come to the barrier", step.warp.block),
          .marks = {}};
    }
    if (step.kind == LogStep::Kind::decision) {
      return {.label = fmt::format("{}", step.decision + 1),
              .text = vgpu::to_string(log_.decisions()[step.decision]),
              .marks = {},
              .decision = true};
    }
    const vgpu::AccessSide at = vgpu::side_at("", {.program = step.program, .pc = step.pc});
    return {.label = at.line == 0 ? "?" : fmt::format("{}", at.line),
            .text = fmt::format("{}:{}  {}  {} lanes {}", repository_path(at.file), at.line, at.ptx,
                                show(step.warp), vgpu::text_of_lanes(step.lanes)),
            .marks = {}};
  }

  Interleaving with_warp_rows() {
    Interleaving picture;
    for (const vgpu::WarpId& warp : warps_) {
      picture.rows.push_back(show(warp));
    }
    for (const std::size_t number : columns_) {
      Interleaving::Step column = describe(number);
      for (const vgpu::WarpId& warp : warps_) {
        column.marks.push_back(number == kGap ? Mark::none : mark_in(number, warp));
      }
      picture.steps.push_back(std::move(column));
    }
    return picture;
  }

  [[nodiscard]] Mark mark_in(std::size_t number, const vgpu::WarpId& warp) const {
    const LogStep& step = log_.steps()[number];
    const bool takes_part =
        step.kind == LogStep::Kind::barrier ? step.warp.block == warp.block : step.warp == warp;
    return takes_part ? mark_of(log_, step) : Mark::none;
  }

  // The sets of lanes that share a row: lanes that take part in the same columns; a lane that is a
  // side of the finding has its own.
  [[nodiscard]] std::vector<std::uint32_t> lane_sets() const {
    std::map<std::vector<bool>, std::uint32_t> alike;
    std::vector<std::uint32_t> sets;
    for (std::uint32_t rest = log_.lanes_of(launch_, warps_.begin()->warp); rest != 0;
         rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      const bool alone =
          std::ranges::any_of(shown_, [&](const LogPoint& point) { return point.lane == lane; });
      if (alone) {
        sets.push_back(1u << lane);
        continue;
      }
      std::vector<bool> pattern;
      for (const std::size_t number : columns_) {
        pattern.push_back(number != kGap && (log_.steps()[number].lanes >> lane & 1) != 0);
      }
      alike[pattern] |= 1u << lane;
    }
    for (const auto& [pattern, lanes] : alike) sets.push_back(lanes);
    std::ranges::sort(sets, {}, [](std::uint32_t lanes) { return std::countr_zero(lanes); });
    return sets;
  }

  Interleaving with_lane_rows() {
    Interleaving picture;
    picture.of = show(*warps_.begin());
    lane_sets_ = lane_sets();
    for (const std::uint32_t lanes : lane_sets_) {
      picture.rows.push_back(fmt::format("lane{} {}", std::has_single_bit(lanes) ? "" : "s",
                                         vgpu::text_of_lanes(lanes)));
    }
    for (const std::size_t number : columns_) {
      Interleaving::Step column = describe(number);
      for (const std::uint32_t lanes : lane_sets_) {
        const bool takes_part = number != kGap && (log_.steps()[number].lanes & lanes) != 0;
        column.marks.push_back(takes_part ? mark_of(log_, log_.steps()[number]) : Mark::none);
      }
      picture.steps.push_back(std::move(column));
    }
    return picture;
  }

  // From a decision until its next step, a row is held back.
  static void mark_held(Interleaving& picture) {
    for (std::size_t row = 0; row < picture.rows.size(); ++row) {
      bool held = false;
      for (Interleaving::Step& step : picture.steps) {
        if (step.gap) continue;
        Mark& mark = step.marks[row];
        if (mark == Mark::none && held)
          mark = Mark::held;
        else
          held = mark == Mark::decided;
      }
    }
  }

  [[nodiscard]] Point point_of(const LogPoint& point) const {
    const auto column = std::ranges::find(columns_, point.step);
    const auto step = static_cast<std::size_t>(column - columns_.begin());
    if (of_lanes_) {
      const auto row = std::ranges::find(lane_sets_, 1u << point.lane);
      return {static_cast<std::size_t>(row - lane_sets_.begin()), step};
    }
    const auto row = warps_.find(step_at(point).warp);
    return {static_cast<std::size_t>(std::distance(warps_.begin(), row)), step};
  }

  static constexpr std::size_t kGap = SIZE_MAX;
  static constexpr std::size_t kWarpsMax = 16, kDecisionsMax = 8;

  const TrialLog& log_;
  std::vector<std::optional<LogPoint>> sides_;
  std::vector<LogPoint> shown_;  // the sides that the log has
  std::uint32_t launch_ = 0;
  bool of_lanes_ = false;
  std::set<vgpu::WarpId> warps_;          // rows of warps; for rows of lanes: the one warp
  std::vector<std::uint32_t> lane_sets_;  // rows of lanes
  std::vector<std::size_t> columns_;
};

}  // namespace

std::vector<std::optional<Interleaving>> interleavings(const Report& report, Engine& engine,
                                                       std::size_t steps_max) {
  const std::vector<vgpu::Finding>& findings = report.verdict.findings;
  TrialLog log(findings, steps_max);
  FirstTrialWatched logged_engine(engine, log);
  vgpu::Replay replay(report.verdict.schedule);
  vgpu::LoggedStrategy strategy(
      replay, [&log](const vgpu::Decision& decision) { log.add_decision(decision); });
  static_cast<void>(TrialRunner(logged_engine).run(report.a_case, strategy));

  const bool left_out_writes =
      std::ranges::any_of(log.steps(), [&](const LogStep& step) { return is_of_past(log, step); });
  std::vector<std::optional<Interleaving>> pictures(findings.size());
  for (std::size_t i = 0; i < findings.size(); ++i) {
    std::vector<std::optional<LogPoint>> sides = log.sides_of(i);
    const bool any = std::ranges::any_of(sides, [](const auto& side) { return side.has_value(); });
    if (any) {
      pictures[i] = Drawing(log, std::move(sides)).draw();
    } else if (findings[i].accesses.empty() && left_out_writes) {
      pictures[i] = Drawing(log).draw();
    }
  }
  return pictures;
}

}  // namespace warpcheck
