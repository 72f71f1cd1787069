// First values of variables that are read before anything writes them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/fix/patch.hpp"
#include "cli/fix/source_tree.hpp"

namespace warpcheck {

// A first value for a local variable, or for the shared `variable`: what leaves it as it is in what
// the function does with it (0 of a sum, the least of its type of a maximum, 1 of a product); then
// others.
//   of_use_only: no others, because nothing would show that they are wrong
std::vector<Patch> initial_values(const std::string& file, const SourceTree& tree, std::size_t node,
                                  std::string_view variable, bool of_use_only);

}  // namespace warpcheck
