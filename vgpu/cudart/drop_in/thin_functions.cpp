// The functions of a thin library: a jump each to libwarpcheck_gpu.so, which passes on whatever the
// arguments are, so no header of the API is needed.  functions.def is written by CMake
// (warpcheck_thin_library()).
#ifndef __x86_64__
#error "The jumps of the thin libraries are written for x86-64."
#endif

#define THIN_FUNCTION(name, ...)           \
  asm(".pushsection .text\n"               \
      ".globl " #name                      \
      "\n"                                 \
      ".type " #name ", @function\n" #name \
      ":\n"                                \
      "endbr64\n" __VA_ARGS__ ".size " #name ", . - " #name "\n.popsection\n");
#define FORWARDED(name, other) THIN_FUNCTION(name, "jmp " #other "@PLT\n")
// Not supported: answered and told by libwarpcheck_gpu.so, which is given the name.
#define REFUSED(name)                        \
  THIN_FUNCTION(name,                        \
                "leaq 1f(%rip), %rdi\n"      \
                "jmp warpcheck_refuse@PLT\n" \
                ".pushsection .rodata\n"     \
                "1: .asciz \"" #name         \
                "\"\n"                       \
                ".popsection\n")
#include "functions.def"
