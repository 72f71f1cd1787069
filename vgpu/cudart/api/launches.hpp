// Checks what a launch requests.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "vgpu/cudart/device/device.hpp"
#include "vgpu/cudart/streams/work.hpp"

namespace warpcheck::cudart {

inline Dim3 to_dim3(const dim3& dim) { return {dim.x, dim.y, dim.z}; }

struct ExecutionConfiguration {
  dim3 grid, block;
  std::size_t dynamic_shared_bytes = 0;
  bool cooperative = false;
  Dim3 cluster{0, 0, 0};         // blocks; all 0: the kernel decides
  bool may_begin_early = false;  // programmatic stream serialization
};

// Prepares the work of a launch, with a copy of its arguments.  Throws vgpu::Refusal for a kernel
// that cannot run.
cudaError_t prepare(Device& device, const void* function,
                    const ExecutionConfiguration& configuration, void** arguments,
                    KernelWork& work);

// Returns the program that a launch runs.
const vgpu::Program& program_of(const KernelWork& work);

}  // namespace warpcheck::cudart
