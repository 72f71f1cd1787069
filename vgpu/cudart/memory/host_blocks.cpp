#include "vgpu/cudart/memory/host_blocks.hpp"

#include <cstring>
#include <iterator>

namespace warpcheck::cudart {

HostBlock* HostBlocks::find(const void* pointer) {
  const auto after = blocks_.upper_bound(reinterpret_cast<std::uintptr_t>(pointer));
  if (after == blocks_.begin()) return nullptr;
  HostBlock& block = std::prev(after)->second;
  return block.offset_of(pointer) < block.bytes ? &block : nullptr;
}

template <typename Copy>
void HostBlocks::for_each_copy(Copy&& copy) {
  for (auto& [start, block] : blocks_) {
    if (!block.registered || block.allocation == nullptr) continue;
    copy(reinterpret_cast<std::byte*>(start), block.allocation->data, block.bytes);
  }
}

void HostBlocks::copy_registered_to_device() {
  for_each_copy([](std::byte* own, std::byte* of_device, std::size_t bytes) {
    std::memcpy(of_device, own, bytes);
  });
}

void HostBlocks::copy_registered_to_host() {
  for_each_copy([](std::byte* own, std::byte* of_device, std::size_t bytes) {
    std::memcpy(own, of_device, bytes);
  });
}

}  // namespace warpcheck::cudart
