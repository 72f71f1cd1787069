// Schedules to try on one input: strategies with seeds, and every single decision.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/case/case.hpp"
#include "harness/input/function_ref.hpp"
#include "harness/trial/trial.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck {

// Records every point at which a strategy may decide, and follows the default policy.
class ScheduleProbe final : public vgpu::Strategy {
 public:
  struct Point {
    // held: the active lanes; next: the default's choice.  past: the lanes that could leave out
    // writes, and how many.
    vgpu::Decision at;
    std::uint32_t other_ready = 0;     // lanes of the same warp that could continue instead
    std::vector<vgpu::WarpId> others;  // ready warps that a decision could run instead
  };

  // Records the first `points_max` points.
  explicit ScheduleProbe(std::size_t points_max) : points_max_(points_max) {}

  std::uint64_t next_access(std::uint32_t, vgpu::WarpId, std::uint64_t from) override;
  vgpu::StartOrder choose_start(const vgpu::StartPoint& point) override;
  [[nodiscard]] bool decides_stops() const override { return true; }
  [[nodiscard]] bool decides_releases() const override { return true; }
  std::optional<vgpu::Choice> decide(const vgpu::SchedulePoint& point) override;
  std::uint32_t choose_operation(const vgpu::OperationPoint& point) override;
  [[nodiscard]] bool chooses_past(std::uint32_t) const override { return true; }
  std::optional<vgpu::PastChoice> choose_past(const vgpu::PastPoint& point) override;

  [[nodiscard]] const std::vector<Point>& points() const { return points_; }

 private:
  std::size_t points_max_;
  std::vector<Point> points_;
};

// Every possible single decision at `points`, simplest first (case.hpp: weight()): another block or
// warp first, writes left out, one lane held, all but one held, all held while lanes of their warp
// that are elsewhere continue, another warp run.
std::vector<vgpu::Decision> single_decisions(const std::vector<ScheduleProbe::Point>& points,
                                             vgpu::WarpModel model);

// Strategies and their seeds in the order in which to try them; `index` from 0, without end.
StrategyChoice policy(std::uint64_t index);

// Limits of the schedules that are tried on one input.
struct ScheduleLimits {
  std::uint64_t policies_max = 24;
  // For all single decisions; if an input has more of them, none is tried.
  std::uint64_t single_decisions_max = 1'000;
};

// Runs a trial of the case, under `strategy` if it is not null; returns empty if no further trial
// is allowed.
using ScheduleTrial = FunctionRef<std::optional<Verdict>(const Case&, vgpu::Strategy*)>;

// The verdict of the first schedule under which the input of `a_case` gives the `wanted` result; it
// is the verdict of a replay of its recorded decisions.
std::optional<Verdict> search_schedules(const Case& a_case, const ScheduleLimits& limits,
                                        ScheduleTrial trial,
                                        FunctionRef<bool(const Verdict&)> wanted);

}  // namespace warpcheck
