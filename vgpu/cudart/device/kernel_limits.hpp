// How much of a multiprocessor a kernel may use.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vgpu/cudart/device/registry.hpp"
#include "vgpu/cudart/device/virtual_gpu.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::cudart {

// Dynamic shared memory that a launch may ask for: what is left of 48 KiB beside the static, or
// what cudaFuncSetAttribute set in this generation of the device.
std::size_t dynamic_shared_bytes_max(const Kernel& kernel, const vgpu::Program& program,
                                     std::uint64_t generation);

// Blocks of `threads` threads that are resident on one multiprocessor at once; 0: none fits.
int resident_blocks(const virtual_gpu::Capability& capability, const vgpu::Program& program,
                    int threads, std::size_t dynamic_shared_bytes);

}  // namespace warpcheck::cudart
