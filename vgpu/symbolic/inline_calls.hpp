// Calls of functions of the module, replaced by the functions' code.
#pragma once

#include "vgpu/ptx/module.hpp"

namespace warpcheck::vgpu::symbolic {

// Returns the kernel with the bodies of what it calls, and what these call.  Arguments and results
// become registers.  Calls of unknown functions and through pointers, recursion and functions with
// shared variables of their own stay as they are; printf() is left out.
[[nodiscard]] ptx::Function with_calls_inlined(const ptx::Module& module,
                                               const ptx::Function& kernel);

}  // namespace warpcheck::vgpu::symbolic
