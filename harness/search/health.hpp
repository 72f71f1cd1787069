// Health: whether trials that found nothing had a chance to find anything.
//
// A claim that holds because nothing was looked at is worse than one that fails.  So a check of a
// claim that found no failure is itself a failure when:
//
//   discards        most inputs that .arbitrary drew were outside .domain: what is tested is
//                   what happened to be left over
//   required-class  a class of inputs that the pair requires (pair.hpp) was never drawn
//   no-launch       no trial launched a kernel
//   no-comparison   every output was empty, and so was every reference
//   no-expectation  no trial of a property evaluated an EXPECT_* or ASSERT_*
//
// All of that is counted, never timed, so a seed that is healthy is healthy on every machine.  A
// reference that takes longer than the kernel it is compared with can only be told by a clock:
//
//   slow-reference  it takes ten times as long, in the quickest of several runs
//
// which is looked for on request alone (`check --health`); else it is a note.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/pair/any_pair.hpp"
#include "harness/search/search.hpp"
#include "harness/search/statistics.hpp"
#include "harness/trial/trial.hpp"
#include "harness/trial/verdict.hpp"

namespace warpcheck {

// More than four of five inputs outside the domain, once this many were drawn.
inline constexpr double kDiscardsMax = 0.8;
inline constexpr std::uint64_t kDrawsToJudge = 100;
// Every class that a generator promises is seen within 1,000 draws at full size (generators.hpp),
// and half of a search's sizes are small.
inline constexpr int kDrawsForClasses = 2'000;

// A reference is slow that takes so many times as long as its kernel, and so many seconds at least.
inline constexpr double kSlowFactor = 10;
inline constexpr double kSlowSecondsMin = 0.01;

struct HealthProblem {
  std::string check;    // "no-launch": one of those above
  std::string message;  // one sentence: what was seen, and what to do
  friend bool operator==(const HealthProblem&, const HealthProblem&) = default;
};

// What the trials of one claim did.
struct TrialsSeen {
  DrawCount draws;
  std::uint64_t trials = 0;
  std::uint64_t launches = 0;
  std::uint64_t claims = 0;
  std::uint64_t for_every_schedule = 0;  // trials that stand for all of them

  void add(const Verdict& verdict);
};

// `property` empty: the claim that the pair agrees with its reference.
std::vector<HealthProblem> health_problems(std::string_view property, const TrialsSeen& seen);
// Of the required classes alone.
std::vector<HealthProblem> health_problems(const CaseStatistics& statistics);
// Of what one trial took; the message has no times in it.
std::vector<HealthProblem> health_problems(const TimeSpent& quickest);

// "its reference took 3.2 s, its kernel 0.4 s ...", where trials spend their time in the reference;
// nothing when that is not worth a word.
std::optional<std::string> slow_reference(const TimeSpent& spent);

// "UNHEALTHY scan.claim   1000 trials\n  no-launch: ...\n"
std::string health_text(std::string_view title, std::uint64_t trials,
                        const std::vector<HealthProblem>& problems);

}  // namespace warpcheck
