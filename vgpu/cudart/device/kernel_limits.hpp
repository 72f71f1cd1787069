// How much of a multiprocessor a kernel may use.
#pragma once

#include <cstddef>

#include "vgpu/cudart/code/registry.hpp"
#include "vgpu/cudart/device/virtual_gpu.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::cudart {

// Dynamic shared memory that a launch may ask for: what is left of 48 KiB beside the static, or
// what cudaFuncSetAttribute has set.
std::size_t dynamic_shared_bytes_max(const KernelAttributes& attributes,
                                     const vgpu::Program& program);

// Blocks of `threads` threads that are resident on one multiprocessor at once; 0: none fits.
int resident_blocks(const virtual_gpu::Capability& capability, const vgpu::Program& program,
                    int threads, std::size_t dynamic_shared_bytes);

}  // namespace warpcheck::cudart
