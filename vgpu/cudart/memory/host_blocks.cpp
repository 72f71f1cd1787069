#include "vgpu/cudart/memory/host_blocks.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace warpcheck::cudart {
namespace {

// Copies what one side has changed since both were equal to the other side.
void bring_changes(const std::byte* from, std::byte* to, std::vector<std::byte>& agreed) {
  constexpr std::size_t kPiece = 256;
  for (std::size_t at = 0; at < agreed.size(); at += kPiece) {
    const std::size_t end = std::min(at + kPiece, agreed.size());
    if (std::memcmp(from + at, agreed.data() + at, end - at) == 0) continue;
    for (std::size_t byte = at; byte < end; ++byte) {
      if (from[byte] != agreed[byte]) to[byte] = agreed[byte] = from[byte];
    }
  }
}

}  // namespace

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
    copy(reinterpret_cast<std::byte*>(start), block);
  }
}

bool HostBlocks::has_registered_copies() const {
  return std::ranges::any_of(blocks_, [](const auto& one) {
    return one.second.registered && one.second.allocation != nullptr;
  });
}

void HostBlocks::copy_registered_to_device() {
  for_each_copy([](std::byte* own, HostBlock& block) {
    if (block.agreed.size() == block.bytes) {
      return bring_changes(own, block.allocation->data, block.agreed);
    }
    std::memcpy(block.allocation->data, own, block.bytes);
    block.agreed.assign(own, own + block.bytes);
  });
}

void HostBlocks::copy_registered_to_host() {
  for_each_copy([](std::byte* own, HostBlock& block) {
    if (block.agreed.size() == block.bytes) {
      bring_changes(block.allocation->data, own, block.agreed);
    }
  });
}

const std::byte* HostBlocks::host_bytes_of(const std::byte* of_device) const {
  for (const auto& [start, block] : blocks_) {
    if (!block.registered || block.allocation == nullptr) continue;
    const std::byte* const begin = block.allocation->data;
    if (of_device < begin || of_device >= begin + block.bytes) continue;
    return reinterpret_cast<const std::byte*>(start) + (of_device - begin);
  }
  return nullptr;
}

}  // namespace warpcheck::cudart
