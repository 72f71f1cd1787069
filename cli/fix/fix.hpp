// From something that fails, a case or a program, to a verified patch of its kernels' sources.
//
// A candidate is tried as the program that it would be: the changed source is compiled in both
// builds, and the pair, or the program, runs with that code (fix_search.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "cli/fix/patch.hpp"
#include "harness/case/case_file.hpp"

namespace warpcheck {

struct FixOptions {
  std::uint64_t trials = 1'000;  // of the pair, with the patch
  std::uint64_t seed = 1;
  bool all_sizes = false;                                // also asks `prove --all-sizes`
  std::uint64_t compilations_max = 150;                  // of one build of one file
  unsigned changes_max = 4;                              // in a patch
  std::function<void(const std::string&)> on_step = {};  // for a line of progress
  std::function<bool()> is_interrupted = {};             // then nothing more is tried
};

struct Fix {
  std::string refusal;  // not empty: why there is no patch
  // Not empty: what the host's code has to do, supposed in the runs that verify it.
  std::string host_change;
  // Empty, with a host_change: what the host's code has to do is known, and not how.
  Patch patch;
  bool is_of_host = false;  // the patch changes host code: verified in the program built again
  // By the file's name in the patch: texts, and where it is.
  std::map<std::string, std::string> before, after, paths;
  std::uint64_t tried = 0;                                // candidates that compiled
  std::uint64_t other_fixes = 0;                          // verified ones that cost more
  std::uint64_t cases = 0;                                // what failed, and is silent with it
  std::uint64_t schedules = 0, trials = 0;                // verified with
  bool proved = false;                                    // for every size (all_sizes)
  std::uint64_t barriers_before = 0, barriers_after = 0;  // completed ones of the case
  std::uint64_t steps_before = 0, steps_after = 0;        // instructions: of warps, of threads
};

// Throws UsageError for a case that cannot be run.
Fix fix_case(const CaseRecord& record, const FixOptions& options);

// The unified diff of all files.
std::string diff_of(const Fix& fix);

}  // namespace warpcheck
