// .func and .entry: parameters, performance directives, body (PTX ISA 9.0, 5.4, 7, 11.2 - 11.4).
#pragma once

#include "vgpu/ptx/parse/context.hpp"

namespace warpcheck::ptx {

// Parses what follows `.func` or `.entry` into the module.  A prototype and its later body are one
// function.
Function& parse_function(Context& context, bool is_entry);

// The parameters in `(.param .b32 a, .param .b64 b)`; in old PTX they may be registers.
struct ParameterList {
  std::vector<Variable> variables;
  std::vector<Register> registers;
};
ParameterList parse_parameters(Context& context);

}  // namespace warpcheck::ptx
