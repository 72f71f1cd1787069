// The functions of libcusparse that are not implemented: a call is refused and reported by name.
// They ignore their arguments, which is compatible with all callers under the x86-64 calling
// convention; so this file does not include their declarations.
#include "vgpu/libraries/stand_in.hpp"

#define REFUSED(name)                                                        \
  extern "C" int name();                                                     \
  extern "C" int name() {                                                    \
    warpcheck::libraries::refuse(#name, "the virtual GPU does not have it"); \
    return 10; /* CUSPARSE_STATUS_NOT_SUPPORTED */                           \
  }
#include "refused.def"
