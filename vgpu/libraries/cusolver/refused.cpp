// The functions of libcusolver that are not done: refused by name when they are called.  They
// ignore their arguments, which serves all callers under the x86-64 convention; so this file does
// without their declarations.
#include "vgpu/libraries/stand_in.hpp"

#define REFUSED(name)                                                        \
  extern "C" int name();                                                     \
  extern "C" int name() {                                                    \
    warpcheck::libraries::refuse(#name, "the virtual GPU does not have it"); \
    return 9; /* CUSOLVER_STATUS_NOT_SUPPORTED */                            \
  }
#include "refused.def"
