// What the libraries inside of the virtual GPU find in place of the C runtime's.
#include <cstdio>

// Takes the place of __cxa_atexit (Itanium C++ ABI, 3.3.5): static objects live until the process
// has ended.
extern "C" int warpcheck_never_destroyed(void (*)(void*), void*, void*);

int warpcheck_never_destroyed(void (*)(void*), void*, void*) { return 0; }

// Takes the place of stderr in AsmJit, which prints there what it asserts.
extern "C" [[gnu::visibility("hidden")]] std::FILE* warpcheck_asmjit_stderr;

std::FILE* warpcheck_asmjit_stderr = stderr;
