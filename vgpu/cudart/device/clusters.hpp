// Thread block clusters in launches (CUDA C++ Programming Guide, "Thread Block Clusters").
//
// What is accepted, and which errors are answered, is what CUDA 13.0 does on an H200 with driver
// 580, found by trying.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "vgpu/cudart/device/registry.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::cudart {

// The blocks of a cluster in a launch.
//   generation: of the device's memory, for which attributes of the kernel were set or not
//   asked: by the launch; all 0: nothing
//   cluster: what it is; one block where nobody asks for any
//   is_explicit: somebody does
cudaError_t cluster_of(const Kernel& kernel, const vgpu::Program& program, std::uint64_t generation,
                       const vgpu::Dim3& asked, const vgpu::Dim3& grid, vgpu::Dim3& cluster,
                       bool& is_explicit);

// What the attributes of a launch ask for; all 0: nothing.
vgpu::Dim3 asked_cluster(const cudaLaunchConfig_t& config);

// cudaFuncSetAttribute, for those attributes that are about clusters.
cudaError_t set_cluster_attribute(Kernel& kernel, const vgpu::Program& program, int attribute,
                                  int value);
void describe_clusters(const Kernel& kernel, const vgpu::Program& program, std::uint64_t generation,
                       cudaFuncAttributes& attributes);

}  // namespace warpcheck::cudart
