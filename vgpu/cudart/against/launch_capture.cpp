#include "vgpu/cudart/against/launch_capture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

namespace warpcheck::cudart {
namespace {

using vgpu::InstrKind;

// The bytes of all memory together; each launch is copied four times.
constexpr std::uint64_t kBytesMax = std::uint64_t{2} << 30;

bool has(const vgpu::Program& program, std::initializer_list<InstrKind> kinds) {
  return std::ranges::any_of(program.code, [&](const vgpu::Instr& instr) {
    return std::ranges::find(kinds, instr.kind) != kinds.end();
  });
}

MemoryImage copy_of(const vgpu::Allocation& allocation, std::string variable) {
  return {.variable = std::move(variable),
          .address = allocation.address,
          .bytes = {allocation.data, allocation.data + allocation.bytes},
          .is_constant = allocation.space == ptx::Space::constant};
}

bool is_in_memory(const vgpu::Allocation& allocation) {
  return allocation.address != 0 && allocation.bytes != 0 && !allocation.on_heap() &&
         allocation.data != nullptr;
}

std::uint64_t bytes_of(const vgpu::DeviceMemory& memory) {
  std::uint64_t sum = 0;
  for (const vgpu::Allocation* const one : memory.live()) sum += one->bytes;
  return sum;
}

// Finds the parameters that are addresses in module variables.
void find_addresses(LaunchImage& image) {
  for (std::size_t at = 0; at + 8 <= image.parameters.size(); at += 8) {
    std::uint64_t value = 0;
    std::memcpy(&value, &image.parameters[at], sizeof value);
    for (const MemoryImage& one : image.memory) {
      if (one.variable.empty() || value - one.address >= one.bytes.size()) continue;
      image.addresses.push_back(
          {static_cast<std::uint32_t>(at), one.variable, value - one.address});
    }
  }
}

}  // namespace

std::string why_not_elsewhere(const vgpu::Launch& launch, const LinkedKernel& kernel,
                              const vgpu::DeviceMemory& memory) {
  const vgpu::Program& program = kernel.program;
  if (launch.devices > 1) return "the program uses several devices";
  if (program.uses_heap) return "it allocates memory in device code";
  if (!program.texture_instrs.empty()) return "it reads textures or surfaces";
  if (!program.device_calls.empty()) return "it calls the runtime in device code";
  if (has(program, {InstrKind::tensor_copy})) return "it copies by tensor maps";
  if (kernel.code->is_linked()) return "its code is linked of several parts";
  if (memory.is_shared_by_processes()) return "processes share memory";
  if (const std::uint64_t bytes = bytes_of(memory); bytes > kBytesMax) {
    return fmt::format("the program's memory has {} bytes; at most {} are compared", bytes,
                       kBytesMax);
  }
  return {};
}

LaunchImage capture(const vgpu::Launch& launch, const LinkedKernel& kernel,
                    const vgpu::DeviceMemory& memory, Allocations& allocations) {
  LaunchImage image{.ptx = std::string(kernel.code->text()),
                    .kernel = kernel.program.kernel,
                    .grid = launch.grid,
                    .block = launch.block,
                    .cluster = launch.cluster,
                    .explicit_cluster = launch.explicit_cluster,
                    .cooperative = launch.cooperative,
                    .dynamic_shared_bytes = launch.dynamic_shared_bytes,
                    .parameters = {launch.parameters.begin(), launch.parameters.end()},
                    .addresses = {},
                    .memory = {}};
  std::set<std::uint64_t> variables;
  for (const ptx::Variable& variable : kernel.code->module().variables) {
    if (variable.space != ptx::Space::global && variable.space != ptx::Space::constant) continue;
    const vgpu::Allocation* const place = kernel.code->variable(variable.name, allocations);
    // Addresses in its first bytes are other ones on another device.
    if (place == nullptr || !is_in_memory(*place) || !variable.relocations.empty()) continue;
    image.memory.push_back(copy_of(*place, variable.name));
    variables.insert(place->address);
  }
  for (const vgpu::Allocation* const one : memory.live()) {
    if (!is_in_memory(*one) || variables.contains(one->address)) continue;
    image.memory.push_back(copy_of(*one, {}));
  }
  find_addresses(image);
  return image;
}

std::vector<MemoryImage> capture_again(const LaunchImage& image, vgpu::DeviceMemory& memory) {
  std::vector<MemoryImage> now;
  for (const MemoryImage& one : image.memory) {
    const vgpu::Allocation* const place = memory.find(one.address);
    now.push_back(copy_of(*place, one.variable));
  }
  return now;
}

void restore(const std::vector<MemoryImage>& images, vgpu::DeviceMemory& memory) {
  for (const MemoryImage& one : images) {
    if (one.is_constant) continue;
    std::memcpy(memory.find(one.address)->data, one.bytes.data(), one.bytes.size());
  }
}

}  // namespace warpcheck::cudart
