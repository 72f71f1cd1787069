// The main job: every pair, both builds, both warp models; every defect found, shrunk, explained.
//
// A pair meets its expectation if every expected kind was found, and no other error.  The search
// does not use what a pair expects: a specimen and a clean pair get the same trials under varied
// schedules.  So a defect that is not found in a specimen would not have been found in a clean pair
// either, and a specimen may show another kind than it declares.  A claim without failures counts
// only if its trials could have found some (health.hpp).
//
// Everything but --seconds counts trials, so the same seed finds the same failures, for any number
// of processes.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/pair/any_pair.hpp"
#include "harness/report/proof.hpp"
#include "harness/report/report.hpp"
#include "harness/search/health.hpp"
#include "harness/shrink/shrink.hpp"
#include "harness/trial/line_coverage.hpp"

namespace warpcheck {

struct HuntOptions {
  std::vector<const AnyPair*> pairs;
  std::uint64_t seed = 1;
  std::uint64_t trials = 500;           // of a pair, for each build and warp model
  std::uint64_t property_trials = 100;  // of each of its properties
  double seconds = 0;     // pairs without failures get more trials for this long; 0: none
  unsigned jobs = 2;      // processes
  bool coverage = false;  // whether to count source lines
  ShrinkOptions shrink;
  // Called a few times a second with the number of finished searches (a pair in one configuration).
  std::function<void(std::size_t done, std::size_t all)> on_wait = {};
};

// A claim that could not have failed (health.hpp).
struct UnhealthyClaim {
  std::string property;  // empty: "agrees with its reference"
  std::uint64_t trials = 0;
  std::vector<HealthProblem> problems;  // the first of each check
};

struct PairOutcome {
  // How many of its searches ended; fewer than all: the hunt was interrupted.
  enum class Hunted : std::uint8_t { wholly, in_part, not_at_all };

  const AnyPair* pair = nullptr;
  Hunted hunted = Hunted::wholly;
  std::uint64_t trials = 0;
  std::vector<vgpu::FindingKind> found;
  std::vector<Report> reports;             // without a replay_path: no case is written yet
  std::vector<std::string> errors;         // refusals, crashes
  std::optional<LineCoverage> coverage{};  // if requested
  std::vector<UnhealthyClaim> unhealthy{};
  BeyondTrials beyond{};

  [[nodiscard]] bool as_expected() const;
  // The hunt was interrupted before this pair showed anything that it does not expect.
  [[nodiscard]] bool is_undecided() const;
};

// Results in order of name.  When *stop becomes non-zero: those until then.
std::vector<PairOutcome> hunt(const HuntOptions& options, const volatile std::sig_atomic_t* stop);

// "ok", "NOT FOUND: data-race", "UNHEALTHY: no-launch", "interrupted", an error
std::string verdict_text(const PairOutcome& outcome);
// What is known beyond the trials of a pair that met its expectation (prove/proof.hpp).
std::string beyond_trials_text(const PairOutcome& outcome);

// The table at the end of a hunt; a clean pair's verdict says what is proved for it.  Pairs that an
// interrupted hunt did not reach are counted below it.
std::string hunt_table(const std::vector<PairOutcome>& outcomes);

}  // namespace warpcheck
