// Threads that end early, before a barrier at which the others wait.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/fix/patch.hpp"
#include "cli/fix/source_tree.hpp"

namespace warpcheck {

// `if (c) return;` before a barrier of the grid or in a function that a kernel calls, and
// `if (c) continue;` before a barrier in the loop: those threads leave behind the last such barrier
// of the block of statements, and take no part in what lies between.
//   node: the barrier
std::vector<Patch> postponed_ends(const std::string& file, const SourceTree& tree,
                                  std::size_t node);

}  // namespace warpcheck
