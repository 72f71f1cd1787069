#include "vgpu/cudart/driver/driver_functions.hpp"

#include <string>

namespace warpcheck::cudart {
namespace {

FoundDriverFunction newest(std::string_view asked, int version) {
  FoundDriverFunction found;
  int best = -1;
  bool exists = false;
  for (const DriverFunction& one : driver_functions()) {
    if (one.asked != asked) continue;
    exists = true;
    if (one.version > version || one.version <= best) continue;
    best = one.version;
    found.function = one.function;
  }
  found.is_too_new = exists && found.function == nullptr;
  return found;
}

}  // namespace

FoundDriverFunction find_driver_function(std::string_view asked, int version, bool per_thread) {
  // From CUDA 12 on, cuda.h maps this name to the function with flags.
  constexpr int kInstantiatesWithFlags = 12000;
  if (asked == "cuGraphInstantiate" && version >= kInstantiatesWithFlags) {
    asked = "cuGraphInstantiateWithFlags";
  }
  if (per_thread) {
    for (const char* const suffix : {"_ptsz", "_ptds"}) {
      const FoundDriverFunction found = newest(std::string(asked) + suffix, version);
      if (found.function != nullptr) return found;
    }
  }
  return newest(asked, version);
}

}  // namespace warpcheck::cudart
