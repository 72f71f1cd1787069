// A patch for the kernels of a program that fails under `exec`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/exec/supervisor.hpp"
#include "cli/fix/fix.hpp"

namespace warpcheck {

struct ProgramToFix {
  std::string path;                    // of its file
  std::vector<std::string> arguments;  // without the program
  unsigned devices = 1;
  int runs = 20;                    // in each build and warp model
  std::string nvcc;                 // options; empty: those of the build, if they are known
  std::filesystem::path directory;  // of a RunDirectory
};

// The folder that names in patches begin at: the next one above the current folder that holds a
// repository, else the current one.
std::filesystem::path patch_root();

// Throws ProgramError if the program cannot be started, UsageError if nvcc cannot.
Fix fix_program(const ProgramToFix& program, Supervisor& supervisor, const FixOptions& options);

}  // namespace warpcheck
