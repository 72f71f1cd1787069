// Changes of source code that might remove a finding: what a programmer would try, at the places
// that its sides lead to.  A candidate is only a guess; fix.hpp tries it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/fix/patch.hpp"
#include "cli/fix/source_tree.hpp"
#include "harness/case/verdict.hpp"

namespace warpcheck {

// The sources of a case's kernels, by their names in reports.
using Sources = std::map<std::string, SourceTree>;

struct Candidate {
  Patch patch;
  // Of two that both work, the one with the smaller rank is preferred: an order before an atomic,
  // an order more before other code.
  int rank = 0;
};

// What would show that a change of values is wrong.
enum class Evidence : std::uint8_t {
  none,        // nothing: only orders and atomics are proposed
  same_bytes,  // what the program brings to the host must stay the same
  results      // the reference, or the program itself, knows the results
};

// Those that the case, or program, launched.
struct KernelsToFix {
  std::vector<std::string> names;  // "scan_kernel"
  std::uint32_t threads_max = 0;   // of a block
};

// The candidates for the findings of a verdict, likely ones first, each once.
std::vector<Candidate> candidates_for(const Sources& sources, const Verdict& verdict,
                                      const KernelsToFix& kernels, Evidence evidence);

// Returns whether the two sides of a race are in functions that another one calls: what orders them
// belongs there, and not in a function that others call, too.
bool lies_in_a_caller(const vgpu::Finding& finding);

// What an experiment has inserted in the PTX (HelpfulChange::text), "__threadfence() after
// scan.cu:14 and before scan.cu:20", "atomicAdd() at scan.cu:9", as a candidate that is preferred
// to all others. Nothing: it is of another kind, or the source has no such place.
std::optional<Candidate> candidate_of_experiment(const Sources& sources, const std::string& text);

// Those of several experiments, each of which some of the findings vanish with, together; then with
// barriers of the block in place of those of a warp.
std::vector<Candidate> joint_candidates(const Sources& sources,
                                        const std::vector<std::string>& texts);

}  // namespace warpcheck
