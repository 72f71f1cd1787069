// All other functions of the runtime API: they can be linked, and return cudaErrorNotSupported with
// their name.
//
// The header with their real signatures is not included here: under the x86-64 calling convention,
// a function that ignores its arguments and returns an int serves all callers.
#include <string_view>

namespace warpcheck::cudart {
int not_supported_by_name(std::string_view call);  // unsupported.cpp
}

extern "C" {
#define UNSUPPORTED(name) \
  int name() { return warpcheck::cudart::not_supported_by_name(#name); }
#include "vgpu/cudart/api/unsupported/unsupported.def"
#undef UNSUPPORTED
}
