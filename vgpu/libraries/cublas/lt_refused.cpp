// The functions of libcublasLt that are not done: refused by name when they are called.  They
// ignore their arguments, which serves all callers under the x86-64 convention.
#include "vgpu/libraries/cublas/call.hpp"

extern "C" {
#define REFUSED(name) \
  int name();         \
  int name() { return warpcheck::libraries::cublas::refused(#name); }
#include "lt_refused.def"
}
