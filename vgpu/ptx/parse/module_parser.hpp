// A whole text: its directives, variables and functions (PTX ISA 9.0, 4.3.1, 11.1, 11.5, 11.6).
#pragma once

#include <string_view>

#include "vgpu/ptx/parse/context.hpp"

namespace warpcheck::ptx {

// Returns the state of the parsers at the beginning of a text, whose content goes to the module.
//   text, name: must outlive it
Context begin_module(Module& module, std::string_view text, std::string_view name);

// Parses all of the text.
void parse_module(Context& context);

}  // namespace warpcheck::ptx
