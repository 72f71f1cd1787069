// The functions of a thin library: each is a jump to libwarpcheck_gpu.so, which preserves all
// arguments, so no header of the API is needed.  CMake writes functions.def
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
// Not supported: passes the name to libwarpcheck_gpu.so, which reports it and returns the error.
#define REFUSED(name)                        \
  THIN_FUNCTION(name,                        \
                "leaq 1f(%rip), %rdi\n"      \
                "jmp warpcheck_refuse@PLT\n" \
                ".pushsection .rodata\n"     \
                "1: .asciz \"" #name         \
                "\"\n"                       \
                ".popsection\n")
#include "functions.def"
