#include "cli/fix/fix_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <tuple>
#include <utility>

#include "vgpu/text/counted.hpp"
#include "vgpu/text/file_text.hpp"

namespace warpcheck {
namespace {

// Behind all others.
constexpr int kRankOfLast = 100;

using cudart::Build;

std::set<std::string> kinds_and_places(const Verdict& verdict) {
  std::set<std::string> all;
  for (const vgpu::Finding& finding : verdict.findings) {
    if (finding.severity == vgpu::Severity::error) all.insert(vgpu::class_of(finding));
  }
  return all;
}

bool has_deadlock(const Verdict& verdict) {
  return std::ranges::any_of(verdict.findings, [](const vgpu::Finding& finding) {
    return finding.kind == vgpu::FindingKind::barrier_divergence ||
           finding.kind == vgpu::FindingKind::deadlock;
  });
}

// The bases for one more change: what passes most, then shows least; the best last.
std::vector<FixAttempt> most_promising(const FixAttempt& base, std::vector<FixAttempt> attempts) {
  constexpr std::size_t kBasesMax = 2;
  const auto shows = [](const FixAttempt& attempt) {
    return kinds_and_places(*attempt.failing).size();
  };
  std::erase_if(attempts, [&](const FixAttempt& attempt) {
    if (!attempt.failing || attempt.fails_to_compile) return true;
    if (!attempt.failing->refusals.empty() || has_deadlock(*attempt.failing)) return true;
    return attempt.passed < base.passed ||
           (attempt.passed == base.passed && shows(attempt) >= shows(base));
  });
  std::ranges::stable_sort(attempts, std::greater(), [&](const FixAttempt& attempt) {
    return std::tuple(attempt.passed, -static_cast<std::ptrdiff_t>(shows(attempt)), -attempt.rank);
  });
  if (attempts.size() > kBasesMax) attempts.resize(kBasesMax);
  std::ranges::reverse(attempts);
  return attempts;
}

}  // namespace

Fix FixSearch::refuse(std::string why) {
  fix_.refusal = std::move(why);
  return std::move(fix_);
}

void FixSearch::step(const std::string& line) const {
  if (options_.on_step) options_.on_step(line);
}

void FixSearch::add_unit(SourceUnit unit) {
  for (const std::string& kernel : unit.kernels) {
    std::string name = vgpu::kernel_name(kernel);
    name = name.substr(0, name.find('<'));
    const std::size_t scope = name.rfind(':');
    kernels_.names.push_back(scope == std::string::npos ? name : name.substr(scope + 1));
  }
  units_.push_back(std::move(unit));
}

void FixSearch::expect_of(const Causes& causes) {
  for (const HelpfulChange& change : causes.found) expected_.push_back(change.text);
}

void FixSearch::has_blocks_of(std::uint32_t threads) {
  kernels_.threads_max = std::max(kernels_.threads_max, threads);
}

void FixSearch::add_source(const std::string& name, const std::string& path) {
  if (sources_.contains(name)) return;
  sources_.try_emplace(name, SourceTree(text_of_file(path)));
  paths_[name] = path;
}

ChangedFiles FixSearch::changed_by(const Patch& patch) const {
  ChangedFiles changed;
  for (const auto& [file, edits] : patch.files)
    changed[paths_.at(file)] = edited_text(sources_.at(file).text(), edits);
  return changed;
}

bool FixSearch::compile(FixAttempt& attempt, Build build) {
  if (options_.is_interrupted && options_.is_interrupted()) attempt.fails_to_compile = true;
  if (attempt.fails_to_compile) return false;
  attempt.texts.resize(units_.size());
  const ChangedFiles changed = changed_by(attempt.patch);
  for (std::size_t i = 0; i < units_.size(); ++i) {
    std::string& text =
        build == Build::optimized ? attempt.texts[i].optimized : attempt.texts[i].unoptimized;
    if (!text.empty()) continue;
    ++compilations_;
    auto compiled = compile_unit(units_[i], changed, build, why_);
    attempt.fails_to_compile = !compiled;
    if (!compiled) return false;
    text = std::move(*compiled);
  }
  return true;
}

Fix FixSearch::search() {
  FixAttempt unchanged;
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
    return refuse("it does not fail with the source as it is now; build the program again");
  }
  extend(std::move(unchanged));
  return std::move(fix_);
}

// One more change, until a patch is verified: to the most promising attempt first, then to others.
void FixSearch::extend(FixAttempt unchanged) {
  struct Base {
    unsigned changes;
    FixAttempt attempt;
  };
  std::vector<Base> bases;
  bases.push_back({0, std::move(unchanged)});
  while (!bases.empty()) {
    const auto [changes, base] = std::move(bases.back());
    bases.pop_back();
    const Verdict why = *base.failing;
    std::vector<Candidate> candidates = candidates_for(sources_, why, kernels_, evidence());
    const bool may_lie_in_a_caller = std::ranges::any_of(why.findings, lies_in_a_caller);
    for (const std::string& text : expected_) {
      auto expected = candidate_of_experiment(sources_, text);
      if (!expected) continue;
      // An experiment changes the line of an access, wherever that is called.
      if (may_lie_in_a_caller) expected->rank = kRankOfLast;
      candidates.push_back(*std::move(expected));
    }
    for (Candidate& joint : joint_candidates(sources_, expected_))
      candidates.push_back(std::move(joint));
    std::ranges::stable_sort(candidates, {}, &Candidate::rank);
    const UniformPlaces places(sources_);
    std::erase_if(candidates, [&](const Candidate& one) { return !places.all_come_by(one.patch); });
    std::vector<FixAttempt> attempts;
    // What costs more is tried only if what costs less does not do.
    while (!candidates.empty()) {
      const auto more = std::ranges::find_if(
          candidates, [&](const Candidate& one) { return one.rank != candidates.front().rank; });
      const std::vector<Candidate> next(candidates.begin(), more);
      candidates.erase(candidates.begin(), more);
      try_candidates(base, next, attempts);
      if (verify_best(attempts)) return;
    }
    if (changes + 1 == options_.changes_max) continue;
    for (FixAttempt& next : most_promising(base, std::move(attempts)))
      bases.push_back({changes + 1, std::move(next)});
  }
  fix_.refusal = fix_.tried == 0 ? "no change of device code is known for what fails"
                                 : fmt::format("something fails with each of {} that were tried",
                                               counted(fix_.tried, "change"));
}

void FixSearch::try_candidates(const FixAttempt& base, const std::vector<Candidate>& candidates,
                               std::vector<FixAttempt>& attempts) {
  for (const Candidate& candidate : candidates) {
    FixAttempt attempt;
    attempt.patch = base.patch;
    attempt.rank = base.rank + candidate.rank;
    if (!attempt.patch.add(candidate.patch)) continue;
    if (compilations_ >= options_.compilations_max) return;
    step(fmt::format("tries {}", candidate.patch.what.front()));
    evaluate(attempt);
    if (attempt.fails_to_compile) continue;
    ++fix_.tried;
    attempts.push_back(std::move(attempt));
  }
}

// Of those with which nothing known fails, the cheapest that can be verified.
bool FixSearch::verify_best(std::vector<FixAttempt>& attempts) {
  while (true) {
    std::vector<FixAttempt*> silent;
    for (FixAttempt& attempt : attempts) {
      if (!attempt.failing && !attempt.fails_to_compile) silent.push_back(&attempt);
    }
    std::ranges::stable_sort(silent, {}, [](const FixAttempt* attempt) {
      return std::tuple(attempt->rank, attempt->barriers, attempt->steps);
    });
    if (silent.empty()) return false;
    FixAttempt& best = *silent.front();
    step(fmt::format("verifies {}", best.patch.what.front()));
    if (verify(best)) {
      fix_.other_fixes = silent.size() - 1;
      accept(best);
      return true;
    }
    if (best.fails_to_compile) continue;
    // Whatever else fails in the same way need not be verified.
    for (FixAttempt* attempt : silent) evaluate(*attempt);
    if (!best.failing) return false;  // seen once, by a schedule that is not found again
  }
}

void FixSearch::accept(const FixAttempt& attempt) {
  fix_.patch = attempt.patch;
  fix_.barriers_after = attempt.barriers;
  fix_.steps_after = attempt.steps;
  for (const auto& [file, edits] : attempt.patch.files) {
    fix_.paths[file] = paths_.at(file);
    fix_.before[file] = sources_.at(file).text();
    fix_.after[file] = edited_text(sources_.at(file).text(), edits);
  }
}

}  // namespace warpcheck
