// Finds the place of an API call in the program: by the program's own line table (nvcc -g),
// otherwise by its symbols.  It uses libbacktrace (of GCC), if the compiler has it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpcheck::cudart {

struct CallPlace {
  std::string file;  // empty: not known
  std::uint32_t line = 0;
  // "main+0x2f", or "saxpy+0x11f2" in a program without symbols; empty: not known
  std::string code;
};

// Returns the return addresses of the calls that lead to this one, innermost first, from
// `return_address` outwards; only `return_address` if it is not on the stack.
std::vector<const void*> callers_from(const void* return_address);

// Sets the return address of the current call to the first one that is not in a function of the
// toolkit's headers which forwards the call, such as cudaMemcpyToSymbolAsync<float [4]>.  For what
// is asked for in a call and done later, when the call's frames have gone.
void ask_for_program();

// Sets the return address of the current call, which a stub of nvcc makes, to the place of its
// `<<<>>>`; if that is in a library, to that of the library's caller.
void ask_at_launch(const void* address);

// Returns the innermost of the places that is not in a header of the toolkit or the system.
CallPlace place_of(const std::vector<const void*>& return_addresses);

}  // namespace warpcheck::cudart
