#include "vgpu/cudart/api/entry_points.hpp"

#include <cstddef>

#include "vgpu/cudart/api/calls/api_call.hpp"

#ifndef __x86_64__
#error "The jumps of the runtime API's functions are written for x86-64."
#endif

// Fills in ApiCall (api_call.hpp), and jumps to the function in %r11.  No function of the API uses
// %rax as an argument, so it is free here, as are %r10 and %r11.
static_assert(offsetof(warpcheck::cudart::ApiCall, name) == 0);
static_assert(offsetof(warpcheck::cudart::ApiCall, return_address) == 8);
static_assert(offsetof(warpcheck::cudart::ApiCall, stack) == 16);
static_assert(offsetof(warpcheck::cudart::ApiCall, registers) == 24);
asm(".pushsection .text\n"
    ".globl warpcheck_note_call\n"  // also for the driver API
    ".hidden warpcheck_note_call\n"
    "warpcheck_note_call:\n"
    "movq warpcheck_api_call@gottpoff(%rip), %rax\n"
    "movq %r10, %fs:(%rax)\n"
    "movq (%rsp), %r10\n"
    "movq %r10, %fs:8(%rax)\n"
    "movq %rsp, %fs:16(%rax)\n"
    "movq %rdi, %fs:24(%rax)\n"
    "movq %rsi, %fs:32(%rax)\n"
    "movq %rdx, %fs:40(%rax)\n"
    "movq %rcx, %fs:48(%rax)\n"
    "movq %r8, %fs:56(%rax)\n"
    "movq %r9, %fs:64(%rax)\n"
    "jmp *%r11\n"
    ".popsection\n");

// The linker initialises the slots, so they are valid before any static constructor.
#define ENTRY_POINT(name)                  \
  asm(".pushsection .data\n"               \
      ".balign 8\n"                        \
      "warpcheck_slot_" #name              \
      ":\n"                                \
      ".quad warpcheck_enter_" #name       \
      "\n"                                 \
      ".popsection\n"                      \
      ".pushsection .rodata\n"             \
      "warpcheck_name_" #name              \
      ":\n"                                \
      ".asciz \"" #name                    \
      "\"\n"                               \
      ".popsection\n"                      \
      ".pushsection .text\n"               \
      "warpcheck_enter_" #name             \
      ":\n"                                \
      "endbr64\n"                          \
      "leaq warpcheck_name_" #name         \
      "(%rip), %r10\n"                     \
      "movq virtual_" #name                \
      "@GOTPCREL(%rip), %r11\n"            \
      "jmp warpcheck_note_call\n"          \
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
  extern "C" char warpcheck_enter_##name[];
#define UNSUPPORTED(name) ENTRY_POINT(name)
#include "vgpu/cudart/api/entry_points.def"
#include "vgpu/cudart/api/unsupported/unsupported.def"
#undef ENTRY_POINT

namespace warpcheck::cudart {

std::span<const EntryPoint> entry_points() {
  static const EntryPoint kAll[] = {
#define ENTRY_POINT(name) {#name, &warpcheck_slot_##name, warpcheck_enter_##name},
#include "vgpu/cudart/api/entry_points.def"
#include "vgpu/cudart/api/unsupported/unsupported.def"
#undef ENTRY_POINT
#undef UNSUPPORTED
  };
  return kAll;
}

}  // namespace warpcheck::cudart
