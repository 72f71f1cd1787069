// Page-locked host memory, by address: blocks that cudaHostAlloc has made, and the program's own
// that cudaHostRegister has locked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

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

  // Kernels see a copy of registered memory: the program's own has no room around it.
  void copy_registered_to_device();
  void copy_registered_to_host();

 private:
  template <typename Copy>
  void for_each_copy(Copy&& copy);

  std::map<std::uintptr_t, HostBlock> blocks_;  // by start
};

}  // namespace warpcheck::cudart
