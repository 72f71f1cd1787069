// The files of a pair for a kernel that is there: a launcher, the pair, and a reference to fill in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/kernel/kernel_options.hpp"
#include "harness/pair/new_pair.hpp"

namespace warpcheck {

// NAME_launch.cu, NAME_reference.hpp, NAME_pair.cpp and CMakeLists.txt, in this order.  Throws
// UsageError for a kernel whose parameters a pair cannot hold.
[[nodiscard]] std::vector<NewFile> kernel_pair_files(std::string_view name,
                                                     const AssumedKernel& kernel,
                                                     const KernelOptions& options);

// The line of a CMakeLists.txt that makes the pair's programs.  launcher: the file with its launch
// function.
[[nodiscard]] std::string add_pairs_text(std::string_view name, std::string_view launcher,
                                         const KernelOptions& options);

// The launcher of another pair in that directory that includes the same file, because a program
// defines a kernel once; empty: there is none.
[[nodiscard]] std::string launcher_beside(const std::string& directory, const NewFile& launcher);
// What a launcher has after that include.
[[nodiscard]] std::string launch_function_of(const NewFile& launcher);

// A pair's name for a kernel: "scan_int_256" for "Scan<int, 256>".
[[nodiscard]] std::string pair_name_of(std::string_view kernel);

}  // namespace warpcheck
