// A library under the name that it had in an earlier release of the toolkit: every function is a
// jump to the one in the library of today, beside it, so that both share what there is of handles.
// Arguments have not changed in between; versions are told as they are today.
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
  void* const newer = dlopen(NEWER, RTLD_NOW | RTLD_NOLOAD);  // it is one that this one needs
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
