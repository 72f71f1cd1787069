// Property trials of one pair, driven by RapidCheck, which decides their number, sizes and random
// numbers; shrinking is ours.
#pragma once

#include <csignal>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/report/report.hpp"
#include "harness/search/health.hpp"
#include "harness/search/search.hpp"
#include "harness/search/statistics.hpp"
#include "harness/shrink/shrink.hpp"
#include "harness/trial/trial.hpp"

namespace warpcheck {

struct CheckOptions {
  std::uint64_t seed = 1;
  int trials = 100;
  int size_max = kSizeMax;
  // Each trial draws one of these.
  std::vector<Settings> settings{Settings{}};
  ShrinkOptions shrink;
  bool shrink_failures = true;  // false: only the kinds are needed
  // Non-zero: start no further trial.
  const volatile std::sig_atomic_t* stop = nullptr;
  // Called after each trial with the number of trials, for progress.
  std::function<void(std::uint64_t trials)> on_trial = {};
};

// The options in RC_PARAMS of the environment, in RapidCheck's syntax, with RapidCheck's defaults.
// Throws std::runtime_error for a string that it cannot read.
CheckOptions options_of_rapidcheck();

// "pair", or "pair.property"
std::string claim_title(const AnyPair& pair, std::string_view property);

struct CheckOutcome {
  std::uint64_t trials = 0;
  std::uint64_t for_every_schedule = 0;  // trials that hold for every schedule
  std::vector<vgpu::FindingKind> kinds;  // of all failures
  std::vector<Report> failures;          // shrunk
  // Reasons why finding nothing means nothing (health.hpp); none if something failed.
  std::vector<HealthProblem> problems;

  [[nodiscard]] bool passed() const { return failures.empty() && problems.empty(); }
};

// The failures of one pair that have been shrunk.  Its claims launch the same kernels, so what one
// claim has found, another finds, too, and the smallest case is the same.
class ShrunkFailures {
 public:
  // Returns the case to which a failure of the same class has been shrunk, if this claim fails
  // there in the same way; else shrinks this one.
  ShrunkCase shrink(const Failure& failure, TrialRunner& runner, const ShrinkOptions& options);

 private:
  std::vector<ShrunkCase> shrunk_;
};

// Checks one claim: "agrees with its reference" (`property` empty), or a property.  Ends at the
// first failure; for a specimen, when every expected kind was found.
//   shrunk: what the pair's other claims have found; null: nothing
CheckOutcome check_claim(const AnyPair& pair, std::string_view property,
                         const CheckOptions& options, TrialRunner& runner,
                         ShrunkFailures* shrunk = nullptr);

// Draws the cases of check_claim(), in order, and passes each to `body`, which returns whether to
// continue.
void for_each_case(const AnyPair& pair, std::string_view property, const CheckOptions& options,
                   const std::function<bool(const Case&)>& body);

// Times of the largest of the first inputs that check_claim() draws for the pair itself, run
// several times: the shortest of its kernel and of its reference.  Empty if the domain has no
// input.
TrialSeconds quickest_times(const AnyPair& pair, const CheckOptions& options, Engine& engine);

// Adds the cases that a check of the statistics' pair draws, without running them, including those
// after a failure that would end the check.  Throws DomainError.
void add_drawn_cases(CaseStatistics& statistics, const CheckOptions& options);

}  // namespace warpcheck
