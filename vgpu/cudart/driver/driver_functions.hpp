// Every function of the driver API, by name and version, for cuGetProcAddress.
#pragma once

#include <span>
#include <string_view>

namespace warpcheck::cudart {

struct DriverFunction {
  std::string_view name;   // "cuMemAlloc_v2"
  std::string_view asked;  // "cuMemAlloc"; for per-thread default streams "cuMemcpy_ptds"
  // of CUDA, e.g. 3020: the first one in which the name means this function
  int version = 0;
  void* function = nullptr;
};

std::span<const DriverFunction> driver_functions();

struct FoundDriverFunction {
  void* function = nullptr;
  bool is_too_new = false;  // there is one, but only in later versions
};

// per_thread: prefer the function for per-thread default streams.
FoundDriverFunction find_driver_function(std::string_view asked, int version, bool per_thread);

}  // namespace warpcheck::cudart
