// A failed call as text: of the runtime API by the types that its headers give the parameters.
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>

#include "vgpu/cudart/api/calls/call_arguments.hpp"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // old and new functions are described

namespace warpcheck::cudart {

std::string describe(const ApiCall& call, const KnownAddresses& known) {
  const std::string_view name = without_suffixes(call.name == nullptr ? "a call" : call.name);
#define SIGNATURE(function)                                        \
  if (name == #function) {                                         \
    return std::string(name) + show_all(&::function, call, known); \
  }
#include "signatures.def"
#undef SIGNATURE
  if (is_driver_call(call)) return describe_driver_call(name, call, known);
  return std::string(name);
}

}  // namespace warpcheck::cudart
