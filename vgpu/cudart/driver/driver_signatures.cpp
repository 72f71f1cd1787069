// Formats a failed call of the driver API, by the parameter types in cuda.h.
#include <cuda.h>
#include <cudaProfiler.h>

#include "vgpu/cudart/api/calls/call_arguments.hpp"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // old and new functions are described

namespace warpcheck::cudart {

std::string describe_driver_call(std::string_view name, const ApiCall& call,
                                 const KnownAddresses& known) {
#define SIGNATURE(function)                                                                        \
  if (name == #function) {                                                                         \
    return std::string(name) + show_all(static_cast<decltype(&::function)>(nullptr), call, known); \
  }
#include "driver_signatures.def"
#undef SIGNATURE
  return std::string(name);
}

}  // namespace warpcheck::cudart
