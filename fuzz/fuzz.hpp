// Coverage-guided search of one pair: libFuzzer, in child processes.
//
// A crash of a kernel's host code, or libFuzzer's own limits, end the process in which they occur;
// hence child processes.  Failures do not end them: a failure becomes a case, is shrunk and saved
// at once, and the search continues.
//
// A single job with a given seed and number of executions finds the same on every machine; several
// jobs on one corpus exchange entries at times that depend on the clock.
//
// A program that links this code contains libFuzzer's driver and counters (libfuzzer.cpp).
#pragma once

#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/case/settings.hpp"
#include "harness/pair/any_pair.hpp"
#include "harness/report/proof.hpp"
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
  // Read at the start and extended; empty: starts without entries, stores none.
  std::string corpus;
  // Cases are written to a directory with the pair's name in it.
  std::string cases = "fuzz/cases";
  bool feedback = true;                // false (--no-feedback): the same engine without feedback
  bool stop_when_found = false;        // ends a job at its first failure; for a specimen,
                                       // when every expected kind was found
  bool coverage = false;               // whether to count source lines
  std::optional<cudart::Build> build;  // absent: inputs select it
  std::optional<vgpu::WarpModel> warp_model;
  ShrinkOptions shrink;
  // For progress: called a few times a second, and when no job is left.
  std::function<void()> on_wait = {};
  std::function<void()> on_done = {};
  // Non-zero: the jobs are ended, and their results so far are returned.
  const volatile std::sig_atomic_t* stop = nullptr;
};

struct FuzzOutcome {
  std::uint64_t executions = 0;     // of all jobs; the last ones of a killed job are missing
  BeyondTrials beyond{};            // of these
  std::vector<Report> reports;      // each failure once, in order of its case's path
  std::vector<std::string> errors;  // errors that ended a job early; cases that were not saved
  // Of the jobs that ended normally, if requested.
  std::optional<LineCoverage> coverage;

  // Kinds of all reports, ascending, each once.
  [[nodiscard]] std::vector<vgpu::FindingKind> kinds() const;
};

// Throws std::invalid_argument for options without a pair or without an end.
FuzzOutcome run_fuzz(const FuzzOptions& options);

}  // namespace warpcheck
