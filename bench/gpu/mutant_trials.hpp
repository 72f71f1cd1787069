// Runs of the mutants of the fast kernels on the virtual GPU: for their test and for the table of
// the gallery (bench/gpu/mutant_schedules.cpp).
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/specimens/fast_mutants/mutants.hpp"

namespace warpcheck {

struct MutantRun {
  std::set<std::string> kinds;     // of the errors
  std::vector<std::uint32_t> out;  // mutant_out_words() words
};

// Runs enough words for several tiles of each kernel, in a trial of its own.
MutantRun run_mutant(fast::MutantKernel kernel, std::string_view strategy, std::uint64_t seed);

struct MutantSearch {
  std::uint64_t schedules = 0;  // until something was found; 0: never
  std::set<std::string> kinds;  // of that run; "mismatch" if only the output is wrong
};

// Tries the seeds from `first` on.
MutantSearch search_mutant(const fast::Mutant& mutant, std::string_view strategy,
                           std::uint64_t first, std::uint64_t schedules_max,
                           const std::vector<std::uint32_t>& expected);

}  // namespace warpcheck
