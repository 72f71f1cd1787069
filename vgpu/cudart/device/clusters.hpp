// Thread block clusters in launches (CUDA C++ Programming Guide, "Thread Block Clusters").
//
// What is accepted, and which errors are answered, is what CUDA 13.0 does on an H200 with driver
// 580, found by trying.
#pragma once

#include <cuda_runtime_api.h>

#include "vgpu/cudart/code/registry.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::cudart {

// The blocks of a cluster in a launch.
//   asked: by the launch; all 0: nothing
//   cluster: what it is; one block where nobody asks for any
//   is_explicit: somebody does
cudaError_t cluster_of(const KernelAttributes& attributes, const vgpu::Program& program,
                       const Dim3& asked, const Dim3& grid, Dim3& cluster, bool& is_explicit);

// What the attributes of a launch ask for; all 0: nothing.
Dim3 asked_cluster(const cudaLaunchConfig_t& config);

// cudaFuncSetAttribute, for those attributes that are about clusters.
cudaError_t set_cluster_attribute(KernelAttributes& attributes, const vgpu::Program& program,
                                  int attribute, int value);
void describe_clusters(const KernelAttributes& attributes, const vgpu::Program& program,
                       cudaFuncAttributes& described);

}  // namespace warpcheck::cudart
