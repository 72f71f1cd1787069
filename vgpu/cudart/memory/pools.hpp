// Memory pools of the virtual device.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {

class Allocations;

struct MemoryPool {
  std::uint64_t bytes_max = 0;  // 0: no limit of its own
  std::uint64_t release_threshold = 0;
  std::uint64_t used_high = 0;
  std::array<int, 3> reuse{1, 1, 1};  // follow events, opportunistic, internal dependencies
  bool destroyed = false;             // what was taken from it lives on
  std::vector<const vgpu::Allocation*> allocations;
  [[nodiscard]] std::uint64_t used_bytes() const;
};

class MemoryPools {
 public:
  static cudaMemPool_t handle_of(MemoryPool& pool) {
    return reinterpret_cast<cudaMemPool_t>(&pool);
  }
  // nullptr: no such pool.
  MemoryPool* find(cudaMemPool_t handle);
  MemoryPool& add();
  MemoryPool& default_pool();
  // What cudaMallocAsync uses.
  MemoryPool& current();
  void set_current(MemoryPool& pool) { current_ = &pool; }
  void clear() {
    pools_.clear();
    current_ = nullptr;
  }

 private:
  std::vector<std::unique_ptr<MemoryPool>> pools_;  // the default one first
  MemoryPool* current_ = nullptr;
};

// As cudaMallocAsync does.
cudaError_t allocate_from(Allocations& allocations, MemoryPool& pool, void** pointer,
                          std::size_t bytes);

}  // namespace warpcheck::cudart
