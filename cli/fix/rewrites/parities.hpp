// The parity that a function waits for with a phase of an mbarrier: a wait that a loop repeats is
// for the other parity each time.
#pragma once

#include <string>
#include <vector>

#include "cli/fix/patch.hpp"
#include "cli/fix/source_tree.hpp"

namespace warpcheck {

// For each wait of the file: a variable that flips behind it in place of a constant; the round of a
// ring in place of a constant, `(i / slots) & 1` beside `[i % slots]`; a flip of its variable
// behind it; the opposite parity.
std::vector<Patch> other_parities(const std::string& file, const SourceTree& tree);

}  // namespace warpcheck
