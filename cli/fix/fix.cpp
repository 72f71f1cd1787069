#include "cli/fix/fix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "cli/cli.hpp"
#include "cli/fix/candidates.hpp"
#include "cli/fix/recompiled.hpp"
#include "harness/pair/source_path.hpp"
#include "harness/search/search.hpp"
#include "harness/shrink/shrink.hpp"
#include "harness/trial/schedule_search.hpp"
#include "harness/trial/trial.hpp"
#include "vgpu/machine/observer.hpp"
#include "vgpu/schedule/default_policy.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck {
namespace {

namespace fs = std::filesystem;
using cudart::Build;

constexpr std::uint64_t kSizesOfSearch = 101;  // nth_case(): sizes from 0 to 100, and again

class BarrierCount final : public vgpu::Observer {
 public:
  [[nodiscard]] vgpu::Watched watches() const override { return {.accesses = false}; }
  void on_sync(const vgpu::Sync& sync) override {
    if (sync.kind == vgpu::Sync::Kind::barrier_complete) ++count;
  }
  std::uint64_t count = 0;
};

std::string fix_source_text(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::set<std::string> kinds_and_places(const Verdict& verdict) {
  std::set<std::string> all;
  for (const vgpu::Finding& finding : verdict.findings) {
    if (finding.severity == vgpu::Severity::error) all.insert(vgpu::class_of(finding));
  }
  return all;
}

// A patch and what the compiler has made of it so far.
struct Attempted {
  Patch patch;
  int rank = 0;
  std::vector<cudart::BuildTexts> texts;  // of each unit that it changes
  bool fails_to_compile = false;
  // Of the first known case that fails with it: its number, the verdict and how much it shows.
  std::size_t passed = 0;
  std::optional<Verdict> failing;
  std::uint64_t barriers = 0, steps = 0;
};

class FixSearch {
 public:
  FixSearch(const CaseRecord& record, const FixOptions& options)
      : record_(record), options_(options) {}

  Fix run() {
    Verdict verdict = TrialRunner().run(record_.a_case);
    if (!verdict.refusals.empty()) {
      throw UsageError(fmt::format("the case cannot be run: {}", verdict.refusals.front()));
    }
    if (!verdict.failed()) return refuse("the case does not fail");
    find_sources(verdict);
    if (!fix_.refusal.empty()) return std::move(fix_);
    cases_.push_back(record_.a_case);
    Attempted unchanged;
    evaluate(unchanged);
    fix_.barriers_before = unchanged.barriers;
    fix_.steps_before = unchanged.steps;
    if (unchanged.fails_to_compile) {
      return refuse(fmt::format("the unchanged source does not compile here: {}", why_));
    }
    if (unchanged.failing && !unchanged.failing->failed()) {
      return refuse(fmt::format("the unchanged source, compiled again, does not run: {}",
                                unchanged.failing->refusals.empty()
                                    ? "nothing was launched"
                                    : unchanged.failing->refusals.front()));
    }
    if (!unchanged.failing) {
      return refuse("the case does not fail with the source as it is now; build the program again");
    }
    extend(std::move(unchanged));
    return std::move(fix_);
  }

 private:
  Fix refuse(std::string why) {
    fix_.refusal = std::move(why);
    return std::move(fix_);
  }

  void step(const std::string& line) const {
    if (options_.on_step) options_.on_step(line);
  }

  // The files that a patch may change: those of the launched kernels, and of the findings.
  void find_sources(const Verdict& verdict) {
    for (LaunchedUnit& unit : launched_units()) {
      if (unit.source.path.empty() || !fs::exists(unit.source.path)) continue;
      for (const std::string& kernel : unit.kernels) {
        std::string name = vgpu::kernel_name(kernel);
        name = name.substr(0, name.find('<'));
        kernels_.push_back(
            name.substr(name.rfind(':') == std::string::npos ? 0 : name.rfind(':') + 1));
      }
      add_source(unit.source.path);
      units_.push_back(std::move(unit));
    }
    if (units_.empty()) {
      fix_.refusal =
          "the sources of its kernels are not known here: a pair's kernels are compiled "
          "with warpcheck_kernels(), and the files must still be there";
      return;
    }
    for (const vgpu::Finding& finding : verdict.findings) {
      for (const vgpu::AccessSide& side : finding.accesses) {
        if (side.file.empty()) continue;
        const std::string path =
            fs::path(side.file).is_absolute() ? side.file : built_path(side.file);
        const bool is_ours = std::ranges::any_of(units_, [&](const LaunchedUnit& unit) {
          return !unit.source.root.empty() && path.starts_with(unit.source.root + "/");
        });
        if (is_ours && fs::exists(path)) add_source(path);
      }
    }
  }

  void add_source(const std::string& path) {
    const std::string name = repository_path(path);
    if (sources_.contains(name)) return;
    sources_.try_emplace(name, SourceTree(fix_source_text(path)));
    paths_[name] = path;
  }

  // Compiles what an attempt needs for the build.
  bool compile(Attempted& attempt, Build build) {
    if (attempt.fails_to_compile) return false;
    attempt.texts.resize(units_.size());
    ChangedFiles changed;
    for (const auto& [file, edits] : attempt.patch.files) {
      changed[paths_.at(file)] = edited_text(sources_.at(file).text(), edits);
    }
    for (std::size_t i = 0; i < units_.size(); ++i) {
      const std::string& text =
          build == Build::optimized ? attempt.texts[i].optimized : attempt.texts[i].unoptimized;
      if (!text.empty()) continue;
      ++compilations_;
      auto texts = compile_unit(units_[i], changed, build, why_);
      attempt.fails_to_compile = !texts;
      if (!texts) return false;
      (build == Build::optimized ? attempt.texts[i].optimized : attempt.texts[i].unoptimized) =
          std::move(*texts);
    }
    return true;
  }

  // Runs something with the code of an attempt; false: it does not compile.
  bool with_code(Attempted& attempt, Build build, FunctionRef<void()> body) {
    if (!compile(attempt, build)) return false;
    std::vector<std::unique_ptr<UnitTexts>> texts;
    for (std::size_t i = 0; i < units_.size(); ++i) {
      cudart::BuildTexts one;
      (build == Build::optimized ? one.optimized : one.unoptimized) =
          build == Build::optimized ? attempt.texts[i].optimized : attempt.texts[i].unoptimized;
      texts.push_back(std::make_unique<UnitTexts>(*units_[i].unit, std::move(one)));
    }
    body();
    return true;
  }

  static bool is_bad(const Verdict& verdict) {
    return verdict.failed() || !verdict.refusals.empty() || verdict.launches == 0;
  }

  // The verdict of the first schedule under which the input fails.
  std::optional<Verdict> failing_verdict(const Case& a_case, const ScheduleLimits& limits) {
    TrialRunner runner;
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

  // Runs the known cases until one fails.
  void evaluate(Attempted& attempt) {
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

  // One more change, until a patch is verified.
  void extend(Attempted base) {
    const Case& failing = record_.a_case;
    const bool knows_results = failing.pair->has_reference() || !failing.property.empty();
    for (unsigned changes = 1; changes <= options_.changes_max; ++changes) {
      std::vector<Attempted> attempts;
      std::optional<Verdict> why = base.failing;
      for (Candidate& candidate : candidates_for(sources_, *why, kernels_, knows_results)) {
        Attempted attempt;
        attempt.patch = base.patch;
        attempt.rank = base.rank + candidate.rank;
        if (!attempt.patch.add(candidate.patch)) continue;
        if (compilations_ >= options_.compilations_max) break;
        step(fmt::format("tries {}", candidate.patch.what.front()));
        evaluate(attempt);
        if (attempt.fails_to_compile) continue;
        ++fix_.tried;
        attempts.push_back(std::move(attempt));
      }
      if (verify_best(attempts)) return;
      const auto next = most_promising(base, attempts);
      if (!next) break;
      base = std::move(*next);
    }
    fix_.refusal = fmt::format("none of {} makes the case and the pair silent and right",
                               counted(fix_.tried, "change"));
  }

  // Of those with which all known cases are silent, the cheapest that can be verified.
  bool verify_best(std::vector<Attempted>& attempts) {
    while (true) {
      std::vector<Attempted*> silent;
      for (Attempted& attempt : attempts) {
        if (!attempt.failing && !attempt.fails_to_compile) silent.push_back(&attempt);
      }
      std::ranges::stable_sort(silent, {}, [](const Attempted* attempt) {
        return std::tuple(attempt->rank, attempt->barriers, attempt->steps);
      });
      if (silent.empty()) return false;
      Attempted& best = *silent.front();
      step(fmt::format("verifies {}", best.patch.what.front()));
      if (verify(best)) {
        fix_.other_fixes = silent.size() - 1;
        accept(best);
        return true;
      }
      if (best.fails_to_compile) continue;
      // Whatever else fails in the same case need not be verified.
      for (Attempted* attempt : silent) evaluate(*attempt);
      if (!best.failing) return false;  // seen once, by a schedule that is not found again
    }
  }

  // The base for one more change: what passes most cases, then shows least, and nothing new.
  std::optional<Attempted> most_promising(const Attempted& base, std::vector<Attempted>& attempts) {
    Attempted* best = nullptr;
    const auto shows = [](const Attempted& attempt) {
      return kinds_and_places(*attempt.failing).size();
    };
    for (Attempted& attempt : attempts) {
      if (!attempt.failing || attempt.fails_to_compile) continue;
      if (!attempt.failing->refusals.empty()) continue;
      const bool is_better = attempt.passed > base.passed ||
                             (attempt.passed == base.passed && shows(attempt) < shows(base));
      const bool has_deadlock =
          std::ranges::any_of(attempt.failing->findings, [](const vgpu::Finding& finding) {
            return finding.kind == vgpu::FindingKind::barrier_divergence ||
                   finding.kind == vgpu::FindingKind::deadlock;
          });
      if (!is_better || has_deadlock) continue;
      if (best == nullptr || std::tuple(best->passed, shows(attempt), attempt.rank) <
                                 std::tuple(attempt.passed, shows(*best), best->rank)) {
        best = &attempt;
      }
    }
    if (best == nullptr) return std::nullopt;
    return std::move(*best);
  }

  // The known cases under many schedules, and trials of the pair, in both builds and warp models.
  // A failing trial becomes a known case.
  bool verify(Attempted& attempt) {
    for (const Build build : {Build::optimized, Build::unoptimized}) {
      bool silent = true;
      const bool runs = with_code(attempt, build, [&] { silent = holds_in(build); });
      if (!runs || !silent) return false;
    }
    return true;
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
      TrialRunner runner;
      Settings settings = record_.a_case.settings;
      settings.build = build;
      settings.warp_model = model;
      const std::uint64_t trials = (options_.trials + 3) / 4;
      for (std::uint64_t trial = 0; trial < trials; ++trial) {
        Case a_case =
            nth_case(*record_.a_case.pair, record_.a_case.property, settings, options_.seed, trial);
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
      TrialRunner runner;
      ShrinkOptions options;
      options.trials_max = 400;
      ShrunkCase shrunk = shrink(a_case, runner, options);
      if (shrunk.kept) a_case = std::move(shrunk.a_case);
    }
    cases_.push_back(std::move(a_case));
    return false;
  }

  void accept(const Attempted& attempt) {
    fix_.patch = attempt.patch;
    fix_.cases = cases_.size();
    fix_.barriers_after = attempt.barriers;
    fix_.steps_after = attempt.steps;
    for (const auto& [file, edits] : attempt.patch.files) {
      fix_.before[file] = sources_.at(file).text();
      fix_.after[file] = edited_text(sources_.at(file).text(), edits);
    }
  }

  const CaseRecord& record_;
  const FixOptions& options_;
  Fix fix_;
  std::vector<LaunchedUnit> units_;
  std::vector<std::string> kernels_;
  Sources sources_;
  std::map<std::string, std::string> paths_;  // absolute, by the name in reports
  std::vector<Case> cases_;
  std::uint64_t compilations_ = 0;
  std::string why_;
};

}  // namespace

Fix fix_case(const CaseRecord& record, const FixOptions& options) {
  return FixSearch(record, options).run();
}

std::string diff_of(const Fix& fix) {
  std::string diff;
  for (const auto& [file, before] : fix.before) {
    diff += unified_diff(file, before, fix.after.at(file));
  }
  return diff;
}

}  // namespace warpcheck
