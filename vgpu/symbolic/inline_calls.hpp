// Calls of functions of the module, replaced by the functions' code.
#pragma once

#include "vgpu/ptx/module.hpp"

namespace warpcheck::vgpu::symbolic {

// Returns the kernel with the bodies of what it calls, and what these call.  Arguments and results
// become registers.  A call through a pointer becomes a choice between the functions of its shape
// whose address is taken.  Calls of unknown functions and recursion stay as they are; printf() is
// left out.
[[nodiscard]] ptx::Function with_calls_inlined(const ptx::Module& module,
                                               const ptx::Function& kernel);

}  // namespace warpcheck::vgpu::symbolic
