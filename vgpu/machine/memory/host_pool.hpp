// The host bytes of allocations, with slack at both ends for reads of whole rows (kRowSlack).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vgpu/machine/memory/host_pages.hpp"
#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::vgpu {

inline constexpr std::byte kFreshByte{0xa5};  // content of memory before it is written

// Small blocks are kept for reuse by size class; large ones are returned to the host.
class HostPool {
 public:
  ~HostPool() {
    for (const std::vector<std::byte*>& blocks : free_) {
      for (std::byte* block : blocks) ::operator delete (block, std::align_val_t{64});
    }
  }
  // Returns nullptr if the host has not enough memory.
  std::byte* take(std::uint64_t bytes) {
    if (bytes > kSmallMax) return take_large(bytes);
    std::vector<std::byte*>& blocks = free_[class_of(bytes)];
    std::byte* block = nullptr;
    if (blocks.empty()) {
      const std::size_t size = std::size_t{1} << class_of(bytes);
      block = static_cast<std::byte*>(
          ::operator new (size + 2 * kRowSlack, std::align_val_t{64}, std::nothrow));
      if (block == nullptr) return nullptr;
    } else {
      block = blocks.back();
      blocks.pop_back();
    }
    std::memset(block, static_cast<int>(kFreshByte), bytes + 2 * kRowSlack);
    return block + kRowSlack;
  }
  //   bytes: the size passed to take(); data: may be null
  void give(std::byte* data, std::uint64_t bytes) {
    if (data == nullptr) return;
    if (bytes > kSmallMax) {
      large_.erase(data);
    } else {
      free_[class_of(bytes)].push_back(data - kRowSlack);
    }
  }

 private:
  static constexpr std::uint64_t kSmallMax = HostPages::kMappedMin;
  static constexpr unsigned kClasses = std::bit_width(kSmallMax);

  std::byte* take_large(std::uint64_t bytes) {
    HostPages pages(bytes + 2 * kRowSlack, kFreshByte);
    if (pages.is_empty()) return nullptr;
    std::byte* const data = pages.data() + kRowSlack;
    large_.emplace(data, std::move(pages));
    return data;
  }
  // At least 64 bytes.
  static unsigned class_of(std::uint64_t bytes) {
    return static_cast<unsigned>(std::bit_width(std::max<std::uint64_t>(bytes, 64) - 1));
  }
  std::array<std::vector<std::byte*>, kClasses> free_;
  std::unordered_map<std::byte*, HostPages> large_;
};

}  // namespace warpcheck::vgpu
