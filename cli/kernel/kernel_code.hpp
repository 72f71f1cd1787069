// What the code of a kernel, and of the functions that it calls, asks for: the extents of its
// threads and blocks, variables of its module.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/ptx/module.hpp"

namespace warpcheck {

// The kernel, and every function that it may call.  Of a call through a register these are all
// functions of the module.
[[nodiscard]] std::vector<const ptx::Function*> reachable_functions(const ptx::Module& module,
                                                                    const std::string& kernel);

// How many extents the user's code asks for.  Libraries do not count: the rank of a thread in its
// block is computed from all three, whatever the kernel is made for.
struct Dimensions {
  int grid = 0, block = 0;
};
[[nodiscard]] Dimensions dimensions_of(const ptx::Module& module, const std::string& kernel);

// Bytes of the shared variables of a kernel and of the module.
[[nodiscard]] std::uint64_t shared_bytes_of(const ptx::Module& module, const std::string& kernel);

// Whether the kernel names a __constant__ variable that has no initial value.
[[nodiscard]] bool uses_unset_constants(const ptx::Module& module, const std::string& kernel);

}  // namespace warpcheck
