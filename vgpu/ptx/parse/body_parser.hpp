// The body of a function: declarations, scopes, labels, locations, instructions (PTX ISA 9.0, 4.3).
#pragma once

#include "vgpu/ptx/parse/context.hpp"

namespace warpcheck::ptx {

// Parses `{ ... }` into the function, whose parameters and header registers are already known.
void parse_body(Context& context, Function& function);

}  // namespace warpcheck::ptx
