#include "vgpu/cudart/entry_points.hpp"

#ifndef __x86_64__
#error "The jumps of the runtime API's functions are written for x86-64."
#endif

// Slots are data that the linker fills in, so that they are right before any static constructor.
#define ENTRY_POINT(name)                  \
  asm(".pushsection .data\n"               \
      ".balign 8\n"                        \
      "warpcheck_slot_" #name              \
      ":\n"                                \
      ".quad virtual_" #name               \
      "\n"                                 \
      ".popsection\n"                      \
      ".pushsection .text\n"               \
      ".globl " #name                      \
      "\n"                                 \
      ".type " #name ", @function\n" #name \
      ":\n"                                \
      "endbr64\n"                          \
      "jmp *warpcheck_slot_" #name         \
      "(%rip)\n"                           \
      ".size " #name ", . - " #name        \
      "\n"                                 \
      ".popsection\n");                    \
  extern "C" void* warpcheck_slot_##name;  \
  extern "C" char virtual_##name[];
#define UNSUPPORTED(name) ENTRY_POINT(name)
#include "vgpu/cudart/entry_points.def"
#include "vgpu/cudart/unsupported.def"
#undef ENTRY_POINT

namespace warpcheck::cudart {

std::span<const EntryPoint> entry_points() {
  static const EntryPoint kAll[] = {
#define ENTRY_POINT(name) {#name, &warpcheck_slot_##name, virtual_##name},
#include "vgpu/cudart/entry_points.def"
#include "vgpu/cudart/unsupported.def"
#undef ENTRY_POINT
#undef UNSUPPORTED
  };
  return kAll;
}

}  // namespace warpcheck::cudart
