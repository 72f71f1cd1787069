// Every function of the driver API, by name and version: what cuGetProcAddress looks up.
#pragma once

#include <span>
#include <string_view>

namespace warpcheck::cudart {

struct DriverFunction {
  std::string_view name;   // "cuMemAlloc_v2"
  std::string_view asked;  // "cuMemAlloc"; of per-thread default streams "cuMemcpy_ptds"
  int version = 0;         // of CUDA, 3020, from which on it is what the name means
  void* function = nullptr;
};

std::span<const DriverFunction> driver_functions();

struct FoundDriverFunction {
  void* function = nullptr;
  bool is_too_new = false;  // there is one, in later versions only
};

// per_thread: the one of per-thread default streams where there is one.
FoundDriverFunction find_driver_function(std::string_view asked, int version, bool per_thread);

}  // namespace warpcheck::cudart
