// The functions of the driver API as libcuda.so.1 calls them, warpcheck_cuMemAlloc_v2 for
// cuMemAlloc_v2: each records the call (vgpu/cudart/api/calls/api_call.hpp) and jumps to the
// function of this folder, virtual_cuMemAlloc_v2.  If there is none, the function is refused by
// name.
//
// CMakeLists.txt finds out which functions there are, so that the references are strong: a weak one
// takes no function out of an archive.
//
// The function for a per-thread default stream (..._ptsz, ..._ptds) is the function without this
// suffix: the frame of all functions evaluates the name of the call (driver_call.hpp).
#include <cuda.h>

#include "vgpu/cudart/driver/driver_functions.hpp"

#ifndef __x86_64__
#error "The jumps of the driver API's functions are written for x86-64."
#endif

#define DRIVER_ENTRY(name, function)                    \
  asm(".pushsection .rodata\n"                          \
      "warpcheck_driver_name_" #name                    \
      ":\n"                                             \
      ".asciz \"" #name                                 \
      "\"\n"                                            \
      ".popsection\n"                                   \
      ".pushsection .text\n"                            \
      ".globl warpcheck_" #name                         \
      "\n"                                              \
      ".type warpcheck_" #name                          \
      ", @function\n"                                   \
      "warpcheck_" #name                                \
      ":\n"                                             \
      "endbr64\n"                                       \
      "leaq warpcheck_driver_name_" #name               \
      "(%rip), %r10\n"                                  \
      "movq " #function                                 \
      "@GOTPCREL(%rip), %r11\n"                         \
      "jmp warpcheck_note_call\n"                       \
      ".size warpcheck_" #name ", . - warpcheck_" #name \
      "\n"                                              \
      ".popsection\n");                                 \
  extern "C" char warpcheck_##name[];
#include "driver_entries.def"
#undef DRIVER_ENTRY

namespace warpcheck::cudart {

std::span<const DriverFunction> driver_functions() {
  static const DriverFunction kAll[] = {
#define DRIVER_FUNCTION(name, asked, version) {#name, #asked, version, warpcheck_##name},
#include "vgpu/cudart/driver/driver_functions.def"
#undef DRIVER_FUNCTION
  };
  return kAll;
}

}  // namespace warpcheck::cudart
