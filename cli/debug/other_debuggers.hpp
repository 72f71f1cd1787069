// Commands of gdb and cuda-gdb that the prompt does not have, and what to type instead.
#pragma once

#include <string>
#include <string_view>

namespace warpcheck::debug {

// Returns the answer to a command; empty: no debugger has it.
std::string instead_of(std::string_view command);

}  // namespace warpcheck::debug
