// The resources of a multiprocessor that a kernel may use.
#pragma once

#include <cstddef>
#include <string>

#include "vgpu/cudart/code/registry.hpp"
#include "vgpu/cudart/device/virtual_gpu.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::cudart {

// Returns the dynamic shared memory that a launch may request: the rest of 48 KiB after static
// shared memory, or the value set by cudaFuncSetAttribute.
std::size_t dynamic_shared_bytes_max(const KernelAttributes& attributes,
                                     const vgpu::Program& program);

// Returns how many blocks of `threads` threads are resident on one multiprocessor at once; 0: none
// fits.
int resident_blocks(const virtual_gpu::Capability& capability, const vgpu::Program& program,
                    int threads, std::size_t dynamic_shared_bytes);

// Each of these returns which limit a launch breaks, and by what, as "gridDim.y 75000 > 65535";
// empty: none.
//
// The limits of the device on grids and blocks.
std::string broken_device_limit(const Dim3& grid, const Dim3& block);
// `__launch_bounds__` and the dynamic shared memory.
std::string broken_kernel_limit(const KernelAttributes& attributes, const vgpu::Program& program,
                                const Dim3& block, std::size_t dynamic_shared_bytes);
// All blocks of a cooperative launch must be resident at once, on the virtual device's
// multiprocessors.
std::string broken_residence(const virtual_gpu::Capability& capability,
                             const vgpu::Program& program, const Dim3& grid, const Dim3& block,
                             std::size_t dynamic_shared_bytes);

}  // namespace warpcheck::cudart
