// The body of a function: declarations, scopes, labels, locations, instructions (PTX ISA 9.0, 4.3).
#pragma once

#include "vgpu/ptx/parse/context.hpp"

namespace warpcheck::ptx {

// Parses `{ ... }` into the function, whose parameters and header registers are already known.
void parse_body(Context& context, Function& function);

// Parses `{ ... }` into a function with an empty body, whose registers, variables and labels are
// known already and may be used. Where several scopes have a name in common, the first has it.
void parse_statements(Context& context, Function& function);

}  // namespace warpcheck::ptx
