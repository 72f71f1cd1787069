// Health: whether trials that found nothing had a chance to find anything.
//
// A claim that holds because nothing was checked is worse than one that fails.  So a check of a
// claim without failures is itself a failure when:
//
//   discards        most inputs that .arbitrary drew were outside .domain: only the rest is
//                   tested
//   required-class  a class of inputs that the pair requires (pair.hpp) was never drawn
//   no-launch       no trial launched a kernel
//   no-comparison   every output was empty, and so was every reference
//   no-expectation  no trial of a property evaluated an EXPECT_* or ASSERT_*
//
// All of that is counted, never timed, so the answer for a seed is the same on every machine.  Only
// a clock can show that a reference takes longer than its kernel:
//
//   slow-reference  it takes ten times as long, in the quickest of several runs
//
// which is checked only on request (`check --health`); else it is a note.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/case/verdict.hpp"
#include "harness/pair/any_pair.hpp"
#include "harness/report/health_problem.hpp"
#include "harness/search/search.hpp"
#include "harness/search/statistics.hpp"
#include "harness/trial/trial.hpp"

namespace warpcheck {

// More than four of five inputs outside the domain, after this many draws.
inline constexpr double kDiscardsMax = 0.8;
inline constexpr std::uint64_t kDrawsToJudge = 100;
// Every class that a generator promises occurs within 1,000 draws at full size (generators.hpp),
// and half of a search's sizes are small.
inline constexpr int kDrawsForClasses = 2'000;

// A reference is slow if it takes this many times as long as its kernel, and at least this many
// seconds.
inline constexpr double kSlowFactor = 10;
inline constexpr double kSlowSecondsMin = 0.01;

// What the trials of one claim did.
struct TrialsSeen {
  DrawCount draws;
  std::uint64_t trials = 0;
  std::uint64_t launches = 0;
  std::uint64_t claims = 0;
  std::uint64_t for_every_schedule = 0;  // trials that hold for every schedule

  void add(const Verdict& verdict);
};

// `property` empty: the claim that the pair agrees with its reference.
std::vector<HealthProblem> health_problems(std::string_view property, const TrialsSeen& seen);
// Problems of the required classes alone.
std::vector<HealthProblem> health_problems(const CaseStatistics& statistics);
// Problems of the times of one trial; the message contains no times.
std::vector<HealthProblem> health_problems(const TrialSeconds& quickest);

// "its reference took 3.2 s, its kernel 0.4 s ...", if trials spend most of their time in the
// reference; else empty.
std::optional<std::string> slow_reference(const TrialSeconds& seconds);

// "UNHEALTHY scan.claim   1000 trials\n  no-launch: ...\n"
std::string health_text(std::string_view title, std::uint64_t trials,
                        const std::vector<HealthProblem>& problems);

}  // namespace warpcheck
