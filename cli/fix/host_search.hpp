// The changes of host code that might remove what a program shows, likely ones first.
#pragma once

#include <vector>

#include "cli/fix/candidates.hpp"

namespace warpcheck {

//   results_are_known: as for candidates_for()
std::vector<Patch> host_patches_for(const Sources& sources, const Verdict& verdict,
                                    bool results_are_known);

}  // namespace warpcheck
