#include "vgpu/cudart/launch/kernel_limits.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "vgpu/cudart/api/calls/call_place.hpp"

namespace warpcheck::cudart {
namespace {

// Returns "gridDim.y 75000 > 65535"; empty: every extent is between 1 and its limit.
std::string broken_extent(std::string_view name, const Dim3& extent, const int (&max)[3]) {
  const std::uint32_t extents[] = {extent.x, extent.y, extent.z};
  for (int i = 0; i < 3; ++i) {
    const char axis = "xyz"[i];
    if (extents[i] < 1) return fmt::format("{}.{} 0 < 1", name, axis);
    if (extents[i] > static_cast<std::uint32_t>(max[i])) {
      return fmt::format("{}.{} {} > {}", name, axis, extents[i], max[i]);
    }
  }
  return {};
}

std::string broken_shared_limit(const KernelAttributes& attributes, const vgpu::Program& program,
                                std::size_t asked, std::size_t max) {
  if (attributes.dynamic_shared_bytes_max < 0) {
    const std::string used = program.static_shared_bytes == 0
                                 ? std::string()
                                 : fmt::format(" - {} static", program.static_shared_bytes);
    return fmt::format(
        "{} bytes of dynamic shared memory > {}{}; cudaFuncSetAttribute with "
        "cudaFuncAttributeMaxDynamicSharedMemorySize allows more",
        asked, virtual_gpu::kBlockSharedBytes, used);
  }
  const CallPlace place = place_of(attributes.dynamic_shared_bytes_set_at);
  const std::string where =
      place.file.empty()
          ? place.code
          : fmt::format("{}:{}", place.file.substr(place.file.rfind('/') + 1), place.line);
  return fmt::format("{} bytes of dynamic shared memory > {} set{}", asked, max,
                     where.empty() ? "" : " at " + where);
}

}  // namespace

std::size_t dynamic_shared_bytes_max(const KernelAttributes& attributes,
                                     const vgpu::Program& program) {
  if (attributes.dynamic_shared_bytes_max >= 0) {
    return static_cast<std::size_t>(attributes.dynamic_shared_bytes_max);
  }
  const std::size_t used = program.static_shared_bytes;
  return used < virtual_gpu::kBlockSharedBytes ? virtual_gpu::kBlockSharedBytes - used : 0;
}

int resident_blocks(const virtual_gpu::Capability& capability, const vgpu::Program& program,
                    int threads, std::size_t dynamic_shared_bytes) {
  constexpr int kWarp = virtual_gpu::kWarpSize;
  if (threads > static_cast<int>(program.max_threads)) return 0;
  const int rounded = (threads + kWarp - 1) / kWarp * kWarp;
  int blocks = std::min(capability.multiprocessor_blocks_max,
                        capability.multiprocessor_threads_max / rounded);
  blocks =
      std::min(blocks, virtual_gpu::kBlockRegisters / (rounded * virtual_gpu::kThreadRegisters));
  const std::size_t shared =
      program.static_shared_bytes + dynamic_shared_bytes + capability.reserved_shared_bytes;
  if (shared != 0) {
    blocks = std::min(blocks, static_cast<int>(capability.multiprocessor_shared_bytes / shared));
  }
  return blocks;
}

std::string broken_device_limit(const Dim3& grid, const Dim3& block) {
  std::string broken = broken_extent("gridDim", grid, virtual_gpu::kGridDimMax);
  if (broken.empty()) broken = broken_extent("blockDim", block, virtual_gpu::kBlockDimMax);
  if (broken.empty() && block.count() > std::uint64_t{virtual_gpu::kBlockThreadsMax}) {
    broken = fmt::format("{} threads a block > {}", block.count(), virtual_gpu::kBlockThreadsMax);
  }
  return broken;
}

std::string broken_kernel_limit(const KernelAttributes& attributes, const vgpu::Program& program,
                                const Dim3& block, std::size_t dynamic_shared_bytes) {
  if (block.count() > program.max_threads) {
    return fmt::format("{} threads a block > `__launch_bounds__({})`", block.count(),
                       program.max_threads);
  }
  const std::size_t max = dynamic_shared_bytes_max(attributes, program);
  if (dynamic_shared_bytes <= max) return {};
  return broken_shared_limit(attributes, program, dynamic_shared_bytes, max);
}

std::string broken_residence(const virtual_gpu::Capability& capability,
                             const vgpu::Program& program, const Dim3& grid, const Dim3& block,
                             std::size_t dynamic_shared_bytes) {
  const int resident =
      resident_blocks(capability, program, static_cast<int>(block.count()), dynamic_shared_bytes);
  const auto multiprocessors = static_cast<std::uint64_t>(capability.multiprocessors());
  const std::uint64_t max = static_cast<std::uint64_t>(resident) * multiprocessors;
  if (grid.count() <= max) return {};
  return fmt::format(
      "{} blocks of a cooperative grid > {} that are resident at once: {} on each of {} "
      "multiprocessors",
      grid.count(), max, resident, multiprocessors);
}

}  // namespace warpcheck::cudart
