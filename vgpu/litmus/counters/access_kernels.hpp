// The kernels of access_kernels.def, for the comparison of counters of memory with a GPU's.
#pragma once

#include <cuda_runtime.h>

#include <vector>

namespace warpcheck::litmus {

inline constexpr unsigned kGlobalBytes = 64 * 1024;
inline constexpr unsigned kSharedBytes = 8 * 1024;

struct AccessKernel {
  const char* name;
  unsigned threads;
  void (*kernel)(char* memory, unsigned* out);
};

[[nodiscard]] const std::vector<AccessKernel>& access_kernels();

// Allocates memory, which is all zeros, and launches one block.
void run(const AccessKernel& kernel);

}  // namespace warpcheck::litmus
