// Property trials of one pair, driven by RapidCheck: it decides how many, of which sizes and from
// which random numbers; shrinking is ours.
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
  // Each trial draws one of them.
  std::vector<Settings> settings{Settings{}};
  ShrinkOptions shrink;
  bool shrink_failures = true;  // false: only the kinds are wanted
  // Becomes non-zero: no further trial.
  const volatile std::sig_atomic_t* stop = nullptr;
  // Called after each trial with how many there were: for progress.
  std::function<void(std::uint64_t trials)> on_trial = {};
};

// What RC_PARAMS in the environment asks for, in RapidCheck's syntax; defaults are RapidCheck's.
// Throws std::runtime_error for a string that it cannot read.
CheckOptions options_of_rapidcheck();

// "pair", or "pair.property"
std::string claim_title(const AnyPair& pair, std::string_view property);

struct CheckOutcome {
  std::uint64_t trials = 0;
  std::uint64_t for_every_schedule = 0;  // of the trials: they stand for all of them
  std::vector<vgpu::FindingKind> kinds;  // of everything that failed
  std::vector<Report> failures;          // shrunk
  // Why finding nothing means nothing (health.hpp); none where something failed.
  std::vector<HealthProblem> problems;

  [[nodiscard]] bool passed() const { return failures.empty() && problems.empty(); }
};

// Checks one claim: agrees with its reference (`property` empty), or a property.  Ends at the
// first failure; of a specimen, when every kind that it expects was found.
CheckOutcome check_claim(const AnyPair& pair, std::string_view property,
                         const CheckOptions& options, TrialRunner& runner);

// Draws the cases that check_claim() draws, in order, and hands each to `body`, which returns
// whether to go on.
void for_each_case(const AnyPair& pair, std::string_view property, const CheckOptions& options,
                   const std::function<bool(const Case&)>& body);

// The largest of the first inputs that check_claim() draws for the pair itself, run several times:
// the shortest time of its kernel and of its reference.  Nothing where the domain has no input.
TimeSpent quickest_times(const AnyPair& pair, const CheckOptions& options, Engine& engine);

// Adds the cases that a check of the statistics' pair draws, without running any: all of them, also
// those behind the failure that would end the check.  Throws DomainError.
void add_drawn_cases(CaseStatistics& statistics, const CheckOptions& options);

}  // namespace warpcheck
