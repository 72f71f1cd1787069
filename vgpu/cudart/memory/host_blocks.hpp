// Page-locked host memory, by address: blocks that cudaHostAlloc has made, and the program's own
// that cudaHostRegister has locked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {

struct HostBlock {
  std::uintptr_t start = 0;
  std::size_t bytes = 0;
  unsigned flags = 0;       // as the program gave them
  bool registered = false;  // the program's own memory
  // What kernels use: the same bytes, or, of registered memory, a copy of them that is brought up
  // to date around every kernel.  Null: no kernel can know it.
  vgpu::Allocation* allocation = nullptr;
  unsigned device = 0;  // that was the thread's when it was made
  // Of such a copy: what it and the host's bytes held when they were the same.
  std::vector<std::byte> agreed{};

  [[nodiscard]] std::size_t offset_of(const void* pointer) const {
    return reinterpret_cast<std::uintptr_t>(pointer) - start;
  }
};

class HostBlocks {
 public:
  void add(const HostBlock& block) { blocks_[block.start] = block; }
  // The block is gone then.
  void remove(const HostBlock& block) { blocks_.erase(block.start); }
  void clear() { blocks_.clear(); }

  // The block that holds the address; nullptr: none does.  Of blocks that overlap, the one that
  // begins last.
  [[nodiscard]] HostBlock* find(const void* pointer);
  [[nodiscard]] const HostBlock* find(const void* pointer) const {
    return const_cast<HostBlocks*>(this)->find(pointer);
  }

  // Kernels see a copy of registered memory: the program's own has no room around it.  What either
  // side has changed since the last time is brought to the other one, so that a kernel that is left
  // in the middle and the host can write there by turns.
  void copy_registered_to_device();
  void copy_registered_to_host();
  // Where the host has what a kernel finds there; nullptr: it is not of such a copy.
  [[nodiscard]] const std::byte* host_bytes_of(const std::byte* of_device) const;

 private:
  template <typename Copy>
  void for_each_copy(Copy&& copy);

  std::map<std::uintptr_t, HostBlock> blocks_;  // by start
};

}  // namespace warpcheck::cudart
