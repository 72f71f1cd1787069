// A library under its name in an earlier release of the toolkit.  Every function is a jump to the
// function of the current library, which lies in the same directory, so that both share their
// handles.  The functions have the same arguments in both releases; version functions report the
// current release.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#define FORWARDED(name)                                               \
  extern "C" __attribute__((visibility("hidden"))) void* slot_##name; \
  void* slot_##name = nullptr;  // NOLINT
#include "forwarded.def"
#undef FORWARDED

#define FORWARDED(name)                                                                   \
  asm(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\njmp *slot_" #name \
      "(%rip)\n.size " #name ", . - " #name "\n");
#include "forwarded.def"
#undef FORWARDED

namespace {

__attribute__((constructor)) void find_functions() {
  // already loaded, because this library depends on it
  void* const newer = dlopen(NEWER, RTLD_NOW | RTLD_NOLOAD);
  const auto find = [&](void*& slot, const char* name) {
    slot = newer == nullptr ? nullptr : dlsym(newer, name);
    if (slot != nullptr) return;
    std::fprintf(stderr, "%s: no %s\n", NEWER, name);
    std::abort();
  };
#define FORWARDED(name) find(slot_##name, #name);
#include "forwarded.def"
#undef FORWARDED
}

}  // namespace
