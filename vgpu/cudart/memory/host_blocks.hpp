// Page-locked host memory, by address: blocks from cudaHostAlloc, and memory of the program that
// cudaHostRegister has locked.
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
  unsigned flags = 0;       // as passed by the program
  bool registered = false;  // the program's own memory
  // The memory that kernels use: the same bytes, or, for registered memory, a copy that is updated
  // around every kernel.  Null: kernels cannot access it.
  vgpu::Allocation* allocation = nullptr;
  unsigned device = 0;  // current device of the creating thread
  // For such a copy: the content when the copy and the host's bytes were last equal.
  std::vector<std::byte> agreed{};

  [[nodiscard]] std::size_t offset_of(const void* pointer) const {
    return reinterpret_cast<std::uintptr_t>(pointer) - start;
  }
};

class HostBlocks {
 public:
  void add(const HostBlock& block) { blocks_[block.start] = block; }
  // Removes the block.
  void remove(const HostBlock& block) { blocks_.erase(block.start); }
  void clear() { blocks_.clear(); }

  // Returns the block that contains the address; nullptr: there is none.  Among overlapping blocks,
  // the one that begins last.
  [[nodiscard]] HostBlock* find(const void* pointer);
  [[nodiscard]] const HostBlock* find(const void* pointer) const {
    return const_cast<HostBlocks*>(this)->find(pointer);
  }

  // Kernels access a copy of registered memory, because the program's own memory has no slack
  // around it.  Changes of either side since the last update are copied to the other side, so a
  // suspended kernel and the host can write alternately.
  void copy_registered_to_device();
  void copy_registered_to_host();
  [[nodiscard]] bool has_registered_copies() const;
  // Returns the host bytes for an address in such a copy; nullptr: it is in no copy.
  [[nodiscard]] const std::byte* host_bytes_of(const std::byte* of_device) const;

 private:
  template <typename Copy>
  void for_each_copy(Copy&& copy);

  std::map<std::uintptr_t, HostBlock> blocks_;  // by start address
};

}  // namespace warpcheck::cudart
