#include <cuda_runtime_api.h>

#include <algorithm>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/device/clusters.hpp"
#include "vgpu/cudart/device/kernel_limits.hpp"
#include "vgpu/cudart/device/launches.hpp"
#include "vgpu/cudart/device/virtual_gpu.hpp"

namespace warpcheck::cudart {
namespace {

using vgpu::Dim3;

constexpr Dim3 kNone{0, 0, 0};

bool was_set(const Kernel& kernel, std::uint64_t generation) {
  return kernel.generation == generation;
}

// What the kernel itself, or cudaFuncSetAttribute, wants; all 0: nothing.
Dim3 required_cluster(const Kernel& kernel, const vgpu::Program& program,
                      std::uint64_t generation) {
  if (program.cluster != kNone) return program.cluster;
  return was_set(kernel, generation) && kernel.cluster.count() != 0 ? kernel.cluster : kNone;
}

std::uint64_t blocks_max(const Kernel& kernel, std::uint64_t generation) {
  const bool is_wide = was_set(kernel, generation) && kernel.non_portable_clusters != 0;
  return is_wide ? virtual_gpu::kClusterBlocksMax : virtual_gpu::kPortableClusterBlocksMax;
}

}  // namespace

cudaError_t cluster_of(const Kernel& kernel, const vgpu::Program& program, std::uint64_t generation,
                       const Dim3& asked, const Dim3& grid, Dim3& cluster, bool& is_explicit) {
  const Dim3 required = required_cluster(kernel, program, generation);
  cluster = asked == kNone ? required : asked;
  is_explicit = cluster != kNone;
  if (!is_explicit) {
    cluster = {1, 1, 1};
    return cudaSuccess;
  }
  const bool agrees = required == kNone || cluster == required;
  if (!agrees || cluster.count() == 0 || cluster.count() > blocks_max(kernel, generation) ||
      grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0) {
    return cudaErrorInvalidClusterSize;
  }
  return cudaSuccess;
}

Dim3 asked_cluster(const cudaLaunchConfig_t& config) {
  Dim3 asked = kNone;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    if (config.attrs[i].id != cudaLaunchAttributeClusterDimension) continue;
    const auto& cluster = config.attrs[i].val.clusterDim;
    asked = {cluster.x, cluster.y, cluster.z};
  }
  return asked;
}

cudaError_t set_cluster_attribute(Kernel& kernel, const vgpu::Program& program, int attribute,
                                  int value) {
  const auto set_extent = [&](std::uint32_t required, std::uint32_t& extent) {
    const bool agrees = program.cluster == kNone || value == static_cast<int>(required);
    if (value < 0 || !agrees) return cudaErrorInvalidValue;
    extent = static_cast<std::uint32_t>(value);
    return cudaSuccess;
  };
  switch (attribute) {
    case cudaFuncAttributeRequiredClusterWidth:
      return set_extent(program.cluster.x, kernel.cluster.x);
    case cudaFuncAttributeRequiredClusterHeight:
      return set_extent(program.cluster.y, kernel.cluster.y);
    case cudaFuncAttributeRequiredClusterDepth:
      return set_extent(program.cluster.z, kernel.cluster.z);
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
      kernel.non_portable_clusters = value;
      return cudaSuccess;
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
      if (value < cudaClusterSchedulingPolicyDefault ||
          value > cudaClusterSchedulingPolicyLoadBalancing) {
        return cudaErrorInvalidValue;
      }
      kernel.cluster_policy = value;
      return cudaSuccess;
    default: return cudaErrorInvalidValue;  // ClusterDimMustBeSet can only be read
  }
}

void describe_clusters(const Kernel& kernel, const vgpu::Program& program, std::uint64_t generation,
                       cudaFuncAttributes& attributes) {
  const bool is_set = was_set(kernel, generation);
  const Dim3 extent = program.cluster != kNone ? program.cluster : is_set ? kernel.cluster : kNone;
  attributes.clusterDimMustBeSet = program.explicit_cluster ? 1 : 0;
  attributes.requiredClusterWidth = static_cast<int>(extent.x);
  attributes.requiredClusterHeight = static_cast<int>(extent.y);
  attributes.requiredClusterDepth = static_cast<int>(extent.z);
  attributes.clusterSchedulingPolicyPreference = is_set ? kernel.cluster_policy : 0;
  attributes.nonPortableClusterSizeAllowed = is_set ? kernel.non_portable_clusters : 0;
}

namespace {

// Blocks that are resident on the device at once; 0: none fits.
int resident_on_device(const Kernel& kernel, const vgpu::Program& program, Device& device,
                       const cudaLaunchConfig_t& config) {
  const Dim3 block = to_dim3(config.blockDim);
  if (config.dynamicSmemBytes >
      dynamic_shared_bytes_max(kernel, program, device.allocations().generation()))
    return 0;
  if (block.count() == 0 || block.count() > virtual_gpu::kBlockThreadsMax) return 0;
  return virtual_gpu::kMultiprocessors * resident_blocks(device.trial().capability(), program,
                                                         static_cast<int>(block.count()),
                                                         config.dynamicSmemBytes);
}

// What a launch of clusters would find.
struct ClusterLaunch {
  Dim3 cluster;
  bool is_explicit = false;
  int cluster_blocks_max = 0;
  int resident_blocks = 0;  // on the device
};

// Answers by `body(launch)`, unless there can be no such launch.
template <typename Body>
cudaError_t with_launch(Device& device, const void* function, const cudaLaunchConfig_t* config,
                        Body&& body) {
  if (function == nullptr) return cudaErrorInvalidDeviceFunction;
  if (config == nullptr || (config->numAttrs != 0 && config->attrs == nullptr) ||
      to_dim3(config->gridDim).count() == 0) {
    return cudaErrorInvalidValue;
  }
  Kernel* const kernel = Registry::instance().find_kernel(function);
  if (kernel == nullptr) return cudaErrorInvalidResourceHandle;
  const vgpu::Program& program =
      kernel->unit->code(device.trial(), kernel->name).link(kernel->name).program;
  const std::uint64_t generation = device.allocations().generation();
  ClusterLaunch launch;
  const cudaError_t error =
      cluster_of(*kernel, program, generation, asked_cluster(*config), to_dim3(config->gridDim),
                 launch.cluster, launch.is_explicit);
  if (error != cudaSuccess) return error;
  launch.cluster_blocks_max = static_cast<int>(blocks_max(*kernel, generation));
  launch.resident_blocks = resident_on_device(*kernel, program, device, *config);
  body(launch);
  return cudaSuccess;
}

}  // namespace
}  // namespace warpcheck::cudart

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

extern "C" {

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                           const cudaLaunchConfig_t* config) {
  return answer([&](Device& device) {
    if (clusters == nullptr) return cudaErrorInvalidValue;
    return with_launch(device, function, config, [&](const ClusterLaunch& launch) {
      *clusters = launch.is_explicit
                      ? launch.resident_blocks / static_cast<int>(launch.cluster.count())
                      : 0;
    });
  });
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* function,
                                                 const cudaLaunchConfig_t* config) {
  return answer([&](Device& device) {
    if (blocks == nullptr) return cudaErrorInvalidValue;
    return with_launch(device, function, config, [&](const ClusterLaunch& launch) {
      *blocks = std::min(launch.cluster_blocks_max, launch.resident_blocks);
    });
  });
}

}  // extern "C"
