// The user's compiler.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace warpcheck {

// The path of nvcc, searched in CUDA_HOME, on PATH and in /usr/local/cuda; it may not exist.
[[nodiscard]] std::string nvcc_program();

// Runs a command whose first word is that path; returns its exit status.  Throws UsageError if it
// cannot be started.
//   messages: the file for what it prints; empty: standard error
int run_nvcc(const std::vector<std::string>& command, const std::filesystem::path& messages = {});

}  // namespace warpcheck
