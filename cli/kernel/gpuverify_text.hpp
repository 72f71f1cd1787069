// What GPUVerify's annotations in a source say: conditions, launches, and claims.
#pragma once

#include <cstddef>
#include <string_view>

#include "cli/kernel/contracts.hpp"

namespace warpcheck {

// The options in the comments at the beginning of the file.
void add_gpuverify_header(std::string_view source, Contracts& contracts);

// The annotations.  [begin, end): the kernel, with what stands before it; its __requires() and
// __assume(), and each __axiom() of the file, are conditions.  Macros of the file are replaced.
void add_gpuverify_annotations(std::string_view source, std::size_t begin, std::size_t end,
                               Contracts& contracts);

// Whether a condition claims something that no thread can compute.
[[nodiscard]] bool names_other_threads(std::string_view condition);

}  // namespace warpcheck
