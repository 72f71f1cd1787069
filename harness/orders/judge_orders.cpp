#include "harness/orders/judge_orders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <utility>

#include "harness/prove/prove_report.hpp"
#include "harness/search/search.hpp"
#include "harness/shrink/shrink.hpp"
#include "harness/trial/experiment_engine.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck {
namespace {

// A hang takes all its steps in each trial.
constexpr std::uint64_t kShrinkSteps = 10'000'000;

constexpr std::uint64_t kLockstepTimes = 4, kLockstepTrials = 20;

// One warp and less, whole and broken warps, many warps.
constexpr std::array kBlocksOfProof{1U, 2U, 31U, 33U, 64U, 100U, 256U, 1'024U};

// A plan has at most so many times as many points as were asked for.
constexpr std::uint64_t kPlansMax = 64;

// Trials number 0, 37, 74, 10 ...: their sizes differ much, and soon all sizes were tried.
constexpr std::uint64_t kSizeStride = 37;

bool is_stopped(const JudgeOptions& options) {
  return options.stop != nullptr && *options.stop != 0;
}

Settings changed_settings(cudart::Build build, vgpu::WarpModel model,
                          const std::shared_ptr<const ptx::Edits>& edits) {
  Settings settings;
  settings.build = build;
  settings.warp_model = model;
  settings.edits = edits;
  return settings;
}

Report shrunk_report(const Case& failing, std::uint64_t trial, TrialRunner& runner,
                     const JudgeOptions& options) {
  ShrinkOptions limits;
  limits.trials_max = options.shrink_trials;
  limits.steps_max = kShrinkSteps;
  ShrunkCase shrunk = shrink(failing, runner, limits);
  return {
      .a_case = std::move(shrunk.a_case),
      .verdict = std::move(shrunk.verdict),
      .search =
          Report::Search{.trials = trial, .shrinks = shrunk.shrinks, .complete = shrunk.complete},
      .replay_path = {}};
}

// Of the inputs that trials draw.
std::uint32_t largest_size(const AnyPair& pair, const JudgeOptions& options) {
  std::uint64_t largest = 1;
  for (std::uint64_t i = 0; i <= kSizeMax; ++i)
    largest = std::max(largest, size_of(nth_case(pair, "", {}, options.seed, i), {}).elements);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(largest, PointOptions{}.size_max));
}

std::string points_text(const std::vector<ProvedPoint>& points) {
  if (points.empty()) return {};
  std::string text = fmt::format("{}: size {}", counted(points.size(), "point"),
                                 range_of(points, &warpcheck::Point::size));
  if (points.back().point.block != 0)
    text += fmt::format(", block {}", range_of(points, &warpcheck::Point::block));
  return text;
}

std::string obstacle_of(const PairProof& proof) {
  if (!proof.errors.empty()) return proof.errors.front();
  if (proof.interrupted) return "the proof was interrupted";
  if (proof.points.size() < kPointsMin)
    return fmt::format("a proof has at least {}, and the domain has {} of those planned",
                       counted(kPointsMin, "point"), proof.points.size());
  for (const ProvedPoint& point : proof.points) {
    if (point.proof != Proof::all_data) return point.reason;
    if (!point.same_bytes) return "the order of threads shows in results: " + point.varies;
    if (point.equality == Equality::different) return point.unequal;
  }
  return {};
}

}  // namespace

std::string_view name_of(Need need) {
  static constexpr std::array kNames{std::string_view("needed"), std::string_view("redundant"),
                                     std::string_view("not-known")};
  return kNames[static_cast<std::size_t>(need)];
}

std::vector<cudart::Build> builds_of(const Order& order) {
  std::vector<cudart::Build> builds;
  for (std::size_t i = 0; i < kBuildNames.size(); ++i) {
    if (order.instructions[i] != 0) builds.push_back(kBuildNames[i].first);
  }
  return builds;
}

ChangeTrials try_change(const AnyPair& pair, const ptx::Edits& edits,
                        const std::vector<cudart::Build>& builds, vgpu::WarpModel model,
                        const JudgeOptions& options, bool shrinks) {
  const auto shared = edits.empty() ? nullptr : std::make_shared<const ptx::Edits>(edits);
  ChangeTrials tried;
  TrialRunner runner;
  for (std::uint64_t i = 0; i < options.trials; ++i) {
    for (const cudart::Build build : builds) {
      if (is_stopped(options)) return tried;
      const Case drawn =
          nth_case(pair, "", changed_settings(build, model, shared), options.seed, i * kSizeStride);
      Verdict verdict = runner.run(drawn);
      if (shared != nullptr && verdict.edited_places == 0) {  // it launched nothing that is changed
        if (tried.trials == 0 && !verdict.refusals.empty())
          tried.refusal = verdict.refusals.front();
        continue;
      }
      ++tried.trials;
      tried.refusal = verdict.refusals.empty() ? "" : verdict.refusals.front();
      if (!tried.refusal.empty()) return tried;
      if (!verdict.failed()) continue;
      tried.failure = shrinks ? shrunk_report(drawn, tried.trials, runner, options)
                              : Report{drawn, std::move(verdict), std::nullopt, {}};
      return tried;
    }
  }
  return tried;
}

ChangeProof prove_change(const AnyPair& pair, const ptx::Edits& edits,
                         const std::vector<cudart::Build>& builds, const JudgeOptions& options) {
  if (options.points == 0) return {.obstacle = "no proof was tried"};
  ProveOptions limits;
  limits.points.size_max = largest_size(pair, options);
  limits.points.blocks = {kBlocksOfProof.begin(), kBlocksOfProof.end()};
  limits.executions.runs = 0;
  limits.builds = builds;
  limits.jobs = options.jobs;
  limits.stop = options.stop;
  ExperimentEngine engine(virtual_gpu(), edits);
  ProofLog log("");
  const std::array pairs{&pair};
  PairProof proof;
  // Of a plan, the domain may have few points.
  for (std::uint64_t times = 1; times <= kPlansMax; times *= 4) {
    limits.points_max = options.points * times;
    std::vector<PairProof> proofs = prove_pairs(pairs, limits, log, {}, engine);
    if (proofs.empty()) return {.obstacle = "the proof was interrupted"};
    proof = std::move(proofs.front());
    if (proof.points.size() >= std::max(options.points / 2, kPointsMin)) break;
    if (!proof.errors.empty() || proof.interrupted || proof.worst() != Proof::all_data) break;
  }
  ChangeProof result{.points = points_text(proof.points), .obstacle = obstacle_of(proof)};
  result.has_same_results = result.obstacle.empty();
  result.equals_reference =
      result.has_same_results && proof.count(Equality::equal) == proof.points.size();
  return result;
}

void require_clean(const AnyPair& pair, const JudgeOptions& options) {
  const std::vector<cudart::Build> builds{cudart::Build::optimized, cudart::Build::unoptimized};
  const ChangeTrials as_it_is =
      try_change(pair, {}, builds, vgpu::WarpModel::independent, options, false);
  if (!as_it_is.refusal.empty()) throw std::runtime_error(as_it_is.refusal);
  if (!as_it_is.failure) return;
  throw std::runtime_error(fmt::format(
      "pair '{}' fails as it is ({}, trial {}): what its orders are needed for shows only when it "
      "is repaired; see `warpcheck check {}`",
      pair.name(), show_kinds(failure_kinds(as_it_is.failure->verdict)), as_it_is.trials,
      pair.name()));
}

void show_need(JudgedOrder& judged, Case failing, const JudgeOptions& options) {
  failing.settings.edits = std::make_shared<const ptx::Edits>(judged.order.edits);
  TrialRunner runner;
  judged.tried.failure = shrunk_report(failing, judged.tried.trials, runner, options);
  judged.need = Need::needed;
  judged.proof.clear();
  judged.why_not.clear();
}

JudgedOrder judge_order(const AnyPair& pair, Order order, const JudgeOptions& options) {
  JudgedOrder judged;
  judged.order = std::move(order);
  const std::vector<cudart::Build> builds = builds_of(judged.order);
  const ptx::Edits& edits = judged.order.edits;
  judged.tried = try_change(pair, edits, builds, vgpu::WarpModel::independent, options, true);
  if (judged.tried.failure) {
    judged.need = Need::needed;
    // Many more than it took with independent lanes.
    JudgeOptions few = options;
    few.trials = std::min(options.trials, kLockstepTimes * judged.tried.trials + kLockstepTrials);
    const ChangeTrials lockstep =
        try_change(pair, edits, builds, vgpu::WarpModel::lockstep, few, false);
    if (lockstep.refusal.empty() && !lockstep.failure) judged.lockstep_trials = lockstep.trials;
    return judged;
  }
  if (!judged.tried.refusal.empty() || is_stopped(options)) {
    judged.why_not = judged.tried.refusal.empty() ? "interrupted" : judged.tried.refusal;
    return judged;
  }
  if (!judged.order.beside.empty() && judged.order.executed != 0) {
    judged.need = Need::redundant;
    judged.proof = fmt::format(
        "all sizes: the barrier at {} orders the same, no access to memory lies between",
        judged.order.beside);
    return judged;
  }
  ChangeProof proof = prove_change(pair, edits, builds, options);
  if (proof.has_same_results) {
    judged.need = Need::redundant;
    judged.proof = std::move(proof.points);
  } else {
    judged.why_not = std::move(proof.obstacle);
  }
  return judged;
}

}  // namespace warpcheck
