// The project whose pairs this program has: this one, or another that links warpcheck as a library.
#pragma once

#include <string>

namespace warpcheck {

struct Project {
  std::string program;      // what a replay command calls: "warpcheck"
  std::string source_root;  // absolute; reports name source files relative to it
};

const Project& project();

// Before main() begins; warpcheck_add_pairs (cmake/WarpcheckPairs.cmake) writes the call.  Returns
// true, so that it can initialise a static object.
bool set_project(Project project);

}  // namespace warpcheck
