// Where in the program a call of the runtime API stands: by the program's own line table (nvcc -g),
// else by its symbols.  Read by libbacktrace (of GCC), where the compiler has it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpcheck::cudart {

struct CallPlace {
  std::string file;  // empty: not known
  std::uint32_t line = 0;
  std::string code;  // "main+0x2f", "saxpy+0x11f2" of a program without symbols; empty: not known
};

// The addresses to which the calls that lead to this one return, the innermost first, from
// `return_address` outwards; only that where it is not on the stack.
std::vector<const void*> callers_from(const void* return_address);

// The innermost of the places that is no header of the toolkit's or the system's.
CallPlace place_of(const std::vector<const void*>& return_addresses);

}  // namespace warpcheck::cudart
