// The types that optimised code accesses variables with.  Its PTX declares arrays as bytes
// (`.shared .b8 share[256]`), but an access says more: `st.shared.f32 [%r2]`.
#pragma once

#include <map>
#include <string>

#include "vgpu/ptx/module.hpp"

namespace warpcheck::debug {

// By the name of a variable, the type of all accesses to it in one function, if there is just one.
// What a register may point at is followed through moves and sums, not through memory.
std::map<std::string, ptx::Type> accessed_types(const ptx::Module& module,
                                                const ptx::Function& function);

}  // namespace warpcheck::debug
