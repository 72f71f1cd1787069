#include "harness/device.hpp"

#include <fmt/format.h>

#include "harness/source_path.hpp"

namespace warpcheck {

CudaError::CudaError(cudaError_t code, const std::source_location& where)
    : std::runtime_error(fmt::format("{} ({}) at {}:{}", cudaGetErrorName(code),
                                     cudaGetErrorString(code), repository_path(where.file_name()),
                                     where.line())),
      code_(code) {}

void check(cudaError_t code, std::source_location where) {
  if (code != cudaSuccess) throw CudaError(code, where);
}

}  // namespace warpcheck
