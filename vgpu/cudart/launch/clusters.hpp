// Thread block clusters in launches (CUDA C++ Programming Guide, "Thread Block Clusters").
//
// The accepted values and the returned errors are those of CUDA 13.0 on an H200 with driver 580,
// found by experiment.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "vgpu/cudart/code/registry.hpp"
#include "vgpu/cudart/device/virtual_gpu.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::cudart {

// Determines the blocks of a cluster in a launch.
//   asked: the launch's request; all 0: none
//   cluster: the result; one block if neither launch nor kernel requests clusters
//   is_explicit: receives whether one of them does
cudaError_t cluster_of(const virtual_gpu::Capability& capability,
                       const KernelAttributes& attributes, const vgpu::Program& program,
                       const Dim3& asked, const Dim3& grid, Dim3& cluster, bool& is_explicit);

// Returns which limit a cluster breaks, as "gridDim.x 6 is no multiple of 4 blocks of a cluster";
// empty: none.
std::string broken_cluster_limit(const virtual_gpu::Capability& capability,
                                 const KernelAttributes& attributes, const vgpu::Program& program,
                                 const Dim3& cluster, const Dim3& grid);

// Returns the request in the attributes of a launch; all 0: none.
Dim3 asked_cluster(const cudaLaunchConfig_t& config);

// Implements cudaFuncSetAttribute for the attributes that concern clusters.
cudaError_t set_cluster_attribute(KernelAttributes& attributes, const vgpu::Program& program,
                                  int attribute, int value);
void describe_clusters(const KernelAttributes& attributes, const vgpu::Program& program,
                       cudaFuncAttributes& described);

}  // namespace warpcheck::cudart
