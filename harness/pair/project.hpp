// The project to which this program's pairs belong: warpcheck, or a project that links it.
#pragma once

#include <string>

namespace warpcheck {

struct Project {
  std::string program;      // the command in replay lines: "warpcheck"
  std::string source_root;  // absolute; reports name source files relative to it
};

const Project& project();

// Called before main() begins; warpcheck_add_pairs (cmake/WarpcheckPairs.cmake) generates the call.
// Returns true, so that it can initialise a static object.
bool set_project(Project project);

}  // namespace warpcheck
