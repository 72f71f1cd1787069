// The functions of libcublasLt that are not implemented: a call is refused and reported by name.
// They ignore their arguments, which is compatible with all callers under the x86-64 calling
// convention.
#include "vgpu/libraries/cublas/call.hpp"

extern "C" {
#define REFUSED(name) \
  int name();         \
  int name() { return warpcheck::libraries::cublas::refused(#name); }
#include "lt_refused.def"
}
