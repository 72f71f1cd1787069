// .func and .entry: parameters, performance directives, body (PTX ISA 9.0, 5.4, 7, 11.2 - 11.4).
#pragma once

#include "vgpu/ptx/parse/context.hpp"

namespace warpcheck::ptx {

// Parses what follows `.func` or `.entry` into the module.  A prototype and its later body are one
// function.
Function& parse_function(Context& context, bool is_entry);

// Parses the parameters in `(.param .b32 a, .reg .u32 b)`.  The registers of those that are
// registers are added to `registers`.
std::vector<Variable> parse_parameters(Context& context, std::vector<Register>& registers);

}  // namespace warpcheck::ptx
