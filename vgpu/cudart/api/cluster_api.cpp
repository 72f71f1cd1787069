#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/api/launches.hpp"
#include "vgpu/cudart/device/virtual_gpu.hpp"
#include "vgpu/cudart/launch/clusters.hpp"
#include "vgpu/cudart/launch/kernel_limits.hpp"
#include "vgpu/program/dim3_text.hpp"

namespace warpcheck::cudart {
namespace {

constexpr Dim3 kNone{0, 0, 0};

// Returns the cluster that the kernel itself, or cudaFuncSetAttribute, requires; all 0: none.
Dim3 required_cluster(const KernelAttributes& attributes, const vgpu::Program& program) {
  if (program.cluster != kNone) return program.cluster;
  return attributes.cluster.count() != 0 ? attributes.cluster : kNone;
}

int blocks_max(const virtual_gpu::Capability& capability, const KernelAttributes& attributes) {
  if (attributes.non_portable_clusters != 0) return capability.cluster_blocks_max;
  return std::min(capability.cluster_blocks_max, virtual_gpu::kPortableClusterBlocksMax);
}

}  // namespace

cudaError_t cluster_of(const virtual_gpu::Capability& capability,
                       const KernelAttributes& attributes, const vgpu::Program& program,
                       const Dim3& asked, const Dim3& grid, Dim3& cluster, bool& is_explicit) {
  const Dim3 required = required_cluster(attributes, program);
  cluster = asked == kNone ? required : asked;
  is_explicit = cluster != kNone;
  if (!is_explicit) {
    cluster = {1, 1, 1};
    return cudaSuccess;
  }
  const bool fits = broken_cluster_limit(capability, attributes, program, cluster, grid).empty();
  return fits ? cudaSuccess : cudaErrorInvalidClusterSize;
}

std::string broken_cluster_limit(const virtual_gpu::Capability& capability,
                                 const KernelAttributes& attributes, const vgpu::Program& program,
                                 const Dim3& cluster, const Dim3& grid) {
  const Dim3 required = required_cluster(attributes, program);
  if (required != kNone && cluster != required) {
    return fmt::format("the cluster {} is not the kernel's {}", triple(cluster), triple(required));
  }
  if (cluster.count() == 0) return fmt::format("the cluster {} has no block", triple(cluster));
  const int most = blocks_max(capability, attributes);
  if (cluster.count() > static_cast<std::uint64_t>(most)) {
    return fmt::format("{} blocks a cluster > {}", cluster.count(), most);
  }
  const std::uint32_t grids[] = {grid.x, grid.y, grid.z};
  const std::uint32_t clusters[] = {cluster.x, cluster.y, cluster.z};
  for (int i = 0; i < 3; ++i) {
    if (grids[i] % clusters[i] == 0) continue;
    return fmt::format("gridDim.{} {} is no multiple of the cluster's {}", "xyz"[i], grids[i],
                       clusters[i]);
  }
  return {};
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

cudaError_t set_cluster_attribute(KernelAttributes& attributes, const vgpu::Program& program,
                                  int attribute, int value) {
  const auto set_extent = [&](std::uint32_t required, std::uint32_t& extent) {
    const bool agrees = program.cluster == kNone || value == static_cast<int>(required);
    if (value < 0 || !agrees) return cudaErrorInvalidValue;
    extent = static_cast<std::uint32_t>(value);
    return cudaSuccess;
  };
  switch (attribute) {
    case cudaFuncAttributeRequiredClusterWidth:
      return set_extent(program.cluster.x, attributes.cluster.x);
    case cudaFuncAttributeRequiredClusterHeight:
      return set_extent(program.cluster.y, attributes.cluster.y);
    case cudaFuncAttributeRequiredClusterDepth:
      return set_extent(program.cluster.z, attributes.cluster.z);
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
      attributes.non_portable_clusters = value;
      return cudaSuccess;
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
      if (value < cudaClusterSchedulingPolicyDefault ||
          value > cudaClusterSchedulingPolicyLoadBalancing) {
        return cudaErrorInvalidValue;
      }
      attributes.cluster_policy = value;
      return cudaSuccess;
    default: return cudaErrorInvalidValue;  // ClusterDimMustBeSet is read-only
  }
}

void describe_clusters(const KernelAttributes& attributes, const vgpu::Program& program,
                       cudaFuncAttributes& described) {
  const Dim3 extent = program.cluster != kNone ? program.cluster : attributes.cluster;
  described.clusterDimMustBeSet = program.explicit_cluster ? 1 : 0;
  described.requiredClusterWidth = static_cast<int>(extent.x);
  described.requiredClusterHeight = static_cast<int>(extent.y);
  described.requiredClusterDepth = static_cast<int>(extent.z);
  described.clusterSchedulingPolicyPreference = attributes.cluster_policy;
  described.nonPortableClusterSizeAllowed = attributes.non_portable_clusters;
}

namespace {

// Returns the number of blocks that are resident on a multiprocessor at once; 0: none fits.
int resident_on_one(const KernelAttributes& attributes, const vgpu::Program& program,
                    const virtual_gpu::Capability& capability, const cudaLaunchConfig_t& config) {
  const Dim3 block = to_dim3(config.blockDim);
  if (config.dynamicSmemBytes > dynamic_shared_bytes_max(attributes, program)) return 0;
  if (block.count() == 0 || block.count() > virtual_gpu::kBlockThreadsMax) return 0;
  return resident_blocks(capability, program, static_cast<int>(block.count()),
                         config.dynamicSmemBytes);
}

// Returns the number of clusters that are resident at once; those of few multiprocessors run one
// after the other, but they do run.
int resident_clusters(const virtual_gpu::Capability& capability, int on_one, int cluster_blocks) {
  int clusters = 0;
  for (const std::uint8_t group : capability.groups) clusters += group * on_one / cluster_blocks;
  return on_one == 0 ? 0 : std::max(clusters, 1);
}

// The properties of a launch with clusters.
struct ClusterLaunch {
  Dim3 cluster;
  bool is_explicit = false;
  int cluster_blocks_max = 0;
  int resident_blocks = 0;  // on one multiprocessor
};

// Returns the result of `body(launch)`, or an error if such a launch is not possible.
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
  const Allocations& memory = device.allocations();
  const vgpu::Program& program =
      kernel->unit->code(device.trial(), memory, kernel->name).link(kernel->name).program;
  const KernelAttributes& attributes = kernel->attributes_on(memory);
  ClusterLaunch launch;
  const cudaError_t error =
      cluster_of(device.trial().capability(), attributes, program, asked_cluster(*config),
                 to_dim3(config->gridDim), launch.cluster, launch.is_explicit);
  if (error != cudaSuccess) return error;
  launch.cluster_blocks_max = blocks_max(device.trial().capability(), attributes);
  launch.resident_blocks =
      resident_on_one(attributes, program, device.trial().capability(), *config);
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
                      ? resident_clusters(device.trial().capability(), launch.resident_blocks,
                                          static_cast<int>(launch.cluster.count()))
                      : 0;
    });
  });
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* function,
                                                 const cudaLaunchConfig_t* config) {
  return answer([&](Device& device) {
    if (blocks == nullptr) return cudaErrorInvalidValue;
    return with_launch(device, function, config, [&](const ClusterLaunch& launch) {
      const int most = *std::ranges::max_element(device.trial().capability().groups);
      *blocks = std::min(launch.cluster_blocks_max, most * launch.resident_blocks);
    });
  });
}

}  // extern "C"
