// A patch for a failing case of a pair.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "cli/all_sizes/all_sizes.hpp"
#include "cli/cli.hpp"
#include "cli/fix/fix.hpp"
#include "cli/fix/fix_search.hpp"
#include "harness/causes/changes.hpp"
#include "harness/causes/find_causes.hpp"
#include "harness/pair/source_path.hpp"
#include "harness/search/search.hpp"
#include "harness/shrink/shrink.hpp"
#include "harness/trial/experiment_engine.hpp"
#include "harness/trial/schedule_search.hpp"
#include "harness/trial/trial.hpp"
#include "vgpu/machine/observer.hpp"
#include "vgpu/schedule/default_policy.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck {
namespace {

namespace fs = std::filesystem;
using cudart::Build;

class BarrierCount final : public vgpu::Observer {
 public:
  [[nodiscard]] vgpu::Watched watches() const override { return {.accesses = false}; }
  void on_sync(const vgpu::Sync& sync) override {
    if (sync.kind == vgpu::Sync::Kind::barrier_complete) ++count;
    if (sync.kind == vgpu::Sync::Kind::kernel_start)
      threads = std::max(threads, static_cast<std::uint32_t>(sync.block.count()));
  }
  std::uint64_t count = 0;
  std::uint32_t threads = 0;  // of a block
};

class CaseFix final : public FixSearch {
 public:
  CaseFix(const CaseRecord& record, const FixOptions& options)
      : FixSearch(options), record_(record) {}

  Fix run() {
    BarrierCount seen;
    Verdict verdict;
    {
      const cudart::Watch watch(seen);
      verdict = TrialRunner().run(record_.a_case);
    }
    has_blocks_of(seen.threads);
    if (!verdict.refusals.empty()) {
      throw UsageError(fmt::format("the case cannot be run: {}", verdict.refusals.front()));
    }
    if (!verdict.failed()) return refuse("the case does not fail");
    cases_.push_back(record_.a_case);
    if (holds_with_host_change(verdict)) return std::move(fix_);
    find_sources(verdict);
    if (units().empty()) {
      return refuse(
          "the sources of its kernels are not known here: a pair's kernels are compiled with "
          "warpcheck_kernels(), and the files must still be there");
    }
    expect_of(causes_of(record_.a_case, verdict));
    return search();
  }

 private:
  // Whether a change of the host's code alone leaves nothing that fails; sets what it is.
  bool holds_with_host_change(const Verdict& failing) {
    for (const vgpu::Finding& finding : failing.findings) {
      if (finding.severity != vgpu::Severity::error) continue;
      for (const Change& change : host_changes(finding, {}, evidence() != Evidence::none)) {
        step(fmt::format("supposes {}", change.text));
        const std::vector<Case> known = cases_;
        fix_.trials = 0;
        engine_.suppose(change.supposed);
        const bool is_silent = holds_in(Build::optimized) && holds_in(Build::unoptimized);
        engine_.suppose({});
        cases_ = known;
        if (!is_silent) continue;
        fix_.cases = cases_.size();
        fix_.host_change = change.text;
        return true;
      }
    }
    return false;
  }

  // The files that a patch may change: those of the launched kernels, and of the findings.
  void find_sources(const Verdict& verdict) {
    for (LaunchedUnit& launched : launched_units()) {
      const cudart::KernelSource& source = launched.source.source;
      if (source.path.empty() || !fs::exists(source.path)) continue;
      add_source(repository_path(source.path), source.path);
      loaded_.push_back(launched.unit);
      add_unit(std::move(launched.source));
    }
    for (const vgpu::Finding& finding : verdict.findings) {
      for (const vgpu::AccessSide& side : finding.accesses) {
        if (side.file.empty()) continue;
        const std::string path =
            fs::path(side.file).is_absolute() ? side.file : built_path(side.file);
        const bool is_ours = std::ranges::any_of(units(), [&](const SourceUnit& unit) {
          return !unit.source.root.empty() && path.starts_with(unit.source.root + "/");
        });
        if (is_ours && fs::exists(path)) add_source(repository_path(path), path);
      }
    }
  }

  // Runs something with the code of an attempt; false: it does not compile.
  bool with_code(FixAttempt& attempt, Build build, FunctionRef<void()> body) {
    if (!compile(attempt, build)) return false;
    std::vector<std::unique_ptr<UnitTexts>> texts;
    for (std::size_t i = 0; i < loaded_.size(); ++i) {
      cudart::BuildTexts one;
      (build == Build::optimized ? one.optimized : one.unoptimized) =
          build == Build::optimized ? attempt.texts[i].optimized : attempt.texts[i].unoptimized;
      texts.push_back(std::make_unique<UnitTexts>(*loaded_[i], std::move(one)));
    }
    body();
    return true;
  }

  static bool is_bad(const Verdict& verdict) {
    return verdict.failed() || !verdict.refusals.empty() || verdict.launches == 0;
  }

  [[nodiscard]] Evidence evidence() const override {
    const bool knows = record_.a_case.pair->has_reference() || !record_.a_case.property.empty();
    return knows ? Evidence::results : Evidence::none;
  }

  // The verdict of the first schedule under which the input fails.
  std::optional<Verdict> failing_verdict(const Case& a_case, const ScheduleLimits& limits) {
    TrialRunner runner(engine_);
    Verdict recorded = runner.run(a_case);
    if (is_bad(recorded)) return recorded;
    vgpu::DefaultPolicy policy;
    Verdict by_default = runner.run(a_case, policy);
    if (is_bad(by_default)) return by_default;
    const auto trial = [&](const Case& other, vgpu::Strategy* strategy) -> std::optional<Verdict> {
      ++fix_.schedules;
      return strategy == nullptr ? runner.run(other) : runner.run(other, *strategy);
    };
    return search_schedules(a_case, limits, trial,
                            [](const Verdict& verdict) { return is_bad(verdict); });
  }

  void evaluate(FixAttempt& attempt) override {
    attempt.failing.reset();
    attempt.passed = 0;
    for (const Case& a_case : cases_) {
      const bool runs = with_code(attempt, a_case.settings.build, [&] {
        attempt.failing = failing_verdict(a_case, {.policies_max = 12, .single_decisions_max = 0});
        if (attempt.passed != 0) return;
        BarrierCount barriers;
        const cudart::Watch watch(barriers);
        vgpu::DefaultPolicy policy;
        attempt.steps = TrialRunner().run(a_case, policy).steps;
        attempt.barriers = barriers.count;
      });
      if (!runs || attempt.failing) return;
      ++attempt.passed;
    }
  }

  // The known cases under many schedules, and trials of the pair, in both builds and warp models.
  bool verify(FixAttempt& attempt) override {
    for (const Build build : {Build::optimized, Build::unoptimized}) {
      bool silent = true;
      const bool runs = with_code(attempt, build, [&] {
        silent = holds_in(build);
        if (silent && build == Build::optimized && options().all_sizes) silent = holds_for_all();
      });
      if (!runs || !silent) return false;
    }
    fix_.cases = cases_.size();
    return true;
  }

  // From the code alone; a size that the solver suspects has failed in a run.
  bool holds_for_all() {
    step("asks for every size");
    PairOfAllSizes proof = prove_all_sizes(*record_.a_case.pair);
    fix_.proved = proof.is_proved();
    if (!proof.failure) return true;
    const Verdict verdict = TrialRunner().run(*proof.failure);
    return add_case(std::move(*proof.failure), verdict);
  }

  bool holds_in(Build build) {
    for (const auto& [model, name] : kWarpModelNames) {
      const std::size_t known = cases_.size();
      for (std::size_t i = 0; i < known; ++i) {
        Case a_case = cases_[i];
        a_case.settings.build = build;
        a_case.settings.warp_model = model;
        if (auto failing = failing_verdict(a_case, {.policies_max = 60})) {
          return add_case(std::move(a_case), *failing);
        }
      }
      TrialRunner runner(engine_);
      Settings settings = record_.a_case.settings;
      settings.build = build;
      settings.warp_model = model;
      const std::uint64_t trials = (options().trials + 3) / 4;
      for (std::uint64_t trial = 0; trial < trials; ++trial) {
        Case a_case = nth_case(*record_.a_case.pair, record_.a_case.property, settings,
                               options().seed, trial);
        const Verdict verdict = runner.run(a_case);
        if (is_bad(verdict) && verdict.failed()) return add_case(std::move(a_case), verdict);
        if (!verdict.refusals.empty()) return false;
        ++fix_.trials;
      }
    }
    return true;
  }

  // Always false.  The case is made smaller first: its findings are what candidates come from.
  bool add_case(Case a_case, const Verdict& verdict) {
    fix_.trials = 0;
    fix_.schedules = 0;
    a_case.schedule = verdict.schedule;
    if (verdict.failed()) {
      TrialRunner runner(engine_);
      ShrinkOptions options;
      options.trials_max = 400;
      ShrunkCase shrunk = shrink(a_case, runner, options);
      if (shrunk.kept) a_case = std::move(shrunk.a_case);
    }
    cases_.push_back(std::move(a_case));
    return false;
  }

  const CaseRecord& record_;
  ExperimentEngine engine_{virtual_gpu()};
  std::vector<cudart::Unit*> loaded_;  // of the units
  std::vector<Case> cases_;
};

}  // namespace

Fix fix_case(const CaseRecord& record, const FixOptions& options) {
  return CaseFix(record, options).run();
}

std::string diff_of(const Fix& fix) {
  std::string diff;
  for (const auto& [file, before] : fix.before) {
    diff += unified_diff(file, before, fix.after.at(file));
  }
  return diff;
}

}  // namespace warpcheck
