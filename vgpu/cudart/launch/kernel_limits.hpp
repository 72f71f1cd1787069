// The resources of a multiprocessor that a kernel may use.
#pragma once

#include <cstddef>

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

}  // namespace warpcheck::cudart
