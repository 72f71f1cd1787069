// Coverage-guided search of one pair: libFuzzer, in child processes.
//
// Children, because a kernel's host code that crashes, or libFuzzer's own limits, end the process
// they are in.  Failures do not end them: a failure becomes a case, is shrunk and saved at once,
// and the search goes on for others.
//
// A job that is given its seed and a number of executions finds the same on every machine, as
// long as it is alone: jobs of one corpus exchange what they find by the clock.
//
// A program that links this has libFuzzer's driver and its counters in the program (libfuzzer.cpp).
#pragma once

#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/case/settings.hpp"
#include "harness/pair/any_pair.hpp"
#include "harness/prove/proof.hpp"
#include "harness/report/report.hpp"
#include "harness/shrink/shrink.hpp"
#include "harness/trial/line_coverage.hpp"

namespace warpcheck {

struct FuzzOptions {
  const AnyPair* pair = nullptr;
  std::uint64_t seconds = 60;    // of each job; 0: no limit
  std::uint64_t executions = 0;  // of each job (--runs); 0: no limit
  unsigned jobs = 1;             // processes
  std::uint32_t seed = 1;
  // Read at the start and added to; empty: starts from nothing, keeps nothing.
  std::string corpus;
  // Cases go to a directory of the pair's name in it.
  std::string cases = "fuzz/cases";
  bool feedback = true;          // false (--no-feedback): the same engine, blind
  bool stop_when_found = false;  // ends a job at its first failure; of a specimen, when it has
                                 // met every kind that is expected
  bool coverage = false;         // whether to count source lines
  std::optional<cudart::Build> build;  // not given: inputs choose
  std::optional<vgpu::WarpModel> warp_model;
  ShrinkOptions shrink;
  // For progress: called a few times a second, and when no job is left.
  std::function<void()> on_wait = {};
  std::function<void()> on_done = {};
  // Becomes non-zero: the jobs are ended, and what was found until then is returned.
  const volatile std::sig_atomic_t* stop = nullptr;
};

struct FuzzOutcome {
  std::uint64_t executions = 0;     // of all jobs that came to an end
  BeyondTrials beyond{};            // of these
  std::vector<Report> reports;      // each failure once, in order of its case's path
  std::vector<std::string> errors;  // what ended a job before its time
  // Of the jobs that came to an end, where it was wanted.
  std::optional<LineCoverage> coverage;

  // Kinds of all reports, ascending, each once.
  [[nodiscard]] std::vector<vgpu::FindingKind> kinds() const;
};

// Throws std::invalid_argument for options without a pair or without an end.
FuzzOutcome run_fuzz(const FuzzOptions& options);

}  // namespace warpcheck
