// Replacements of C runtime functions for the libraries inside the virtual GPU.
#include <cstdio>

// Replaces __cxa_atexit (Itanium C++ ABI, 3.3.5): static objects live until the process ends.
extern "C" int warpcheck_never_destroyed(void (*)(void*), void*, void*);

int warpcheck_never_destroyed(void (*)(void*), void*, void*) { return 0; }

// Replaces stderr in AsmJit, which prints its assertions there.
extern "C" [[gnu::visibility("hidden")]] std::FILE* warpcheck_asmjit_stderr;

std::FILE* warpcheck_asmjit_stderr = stderr;
