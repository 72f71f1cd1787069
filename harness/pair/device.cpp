#include "harness/pair/device.hpp"

#include <fmt/format.h>

#include "harness/pair/source_path.hpp"

namespace warpcheck {

CudaError::CudaError(cudaError_t code, const char* file, unsigned line)
    : std::runtime_error(fmt::format("{} ({}) at {}:{}", cudaGetErrorName(code),
                                     cudaGetErrorString(code), repository_path(file), line)),
      code_(code) {}

void check(cudaError_t code, const char* file, unsigned line) {
  if (code != cudaSuccess) throw CudaError(code, file, line);
}

}  // namespace warpcheck
