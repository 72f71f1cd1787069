// The functions of a release of the runtime library that the virtual GPU defines under another
// name, or not at all.  functions.def is written by CMake from functions_RELEASE.txt.
//
// No header of the API is included: under the x86-64 calling convention a jump passes on whatever
// the arguments are, and a function that ignores them serves all callers.
#include <string_view>

namespace warpcheck::cudart {
int not_supported_by_name(std::string_view call);  // vgpu/cudart/api/unsupported.cpp
}

#define RENAMED(name, other)               \
  asm(".pushsection .text\n"               \
      ".globl " #name                      \
      "\n"                                 \
      ".type " #name ", @function\n" #name \
      ":\n"                                \
      "endbr64\n"                          \
      "jmp " #other                        \
      "@PLT\n"                             \
      ".size " #name ", . - " #name "\n.popsection\n");
#define REFUSED(name)
#include "functions.def"
#undef RENAMED
#undef REFUSED

extern "C" {
// Takes the place of __cxa_atexit (Itanium C++ ABI, 3.3.5) in the virtual GPU: its static objects
// live until the process has ended.
int warpcheck_never_destroyed(void (*)(void*), void*, void*) { return 0; }

#define RENAMED(name, other)
#define REFUSED(name) \
  int name() { return warpcheck::cudart::not_supported_by_name(#name); }
#include "functions.def"
}
