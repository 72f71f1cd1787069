// Memory pools of the virtual devices.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "vgpu/cudart/memory/process_files.hpp"
#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {

class Device;
struct Stream;

enum class PoolMemory : std::uint8_t { of_device, of_host, managed };

struct MemoryPool {
  PoolMemory memory = PoolMemory::of_device;
  unsigned device = 0;          // the device whose memory it provides; 0 for other memory
  std::uint16_t open_to = 0;    // other devices (one bit each) that may use it
  std::uint64_t bytes_max = 0;  // 0: no limit of its own
  std::uint64_t release_threshold = 0;
  std::uint64_t used_high = 0;
  std::array<int, 3> reuse{1, 1, 1};  // follow events, opportunistic, internal dependencies
  bool destroyed = false;             // its allocations remain valid
  bool can_be_shared = false;         // other processes may import it and its allocations
  bool is_imported = false;           // from another process: nothing is allocated from it
  std::shared_ptr<ProcessFile> file;  // the pool as processes know it; null: none but this one does
  std::vector<vgpu::Allocation*> allocations;
  std::uint64_t used_bytes = 0;  // of those that are live
  std::uint64_t reserved_high = 0;

  // Returns how many bytes the pool holds: those of live allocations and, up to the release
  // threshold, of freed ones.
  std::uint64_t reserved_bytes() { return keep(release_threshold); }
  // Gives back what is more than `bytes` and not in use.
  std::uint64_t keep(std::uint64_t bytes) {
    return kept_bytes = std::max(used_bytes, std::min(kept_bytes, bytes));
  }

 private:
  std::uint64_t kept_bytes = 0;  // held when this was asked last
};

class MemoryPools {
 public:
  static cudaMemPool_t handle_of(MemoryPool& pool) {
    return reinterpret_cast<cudaMemPool_t>(&pool);
  }
  // Returns the pool that an allocation is of; nullptr: it is of none.
  MemoryPool* pool_of(const vgpu::Allocation& allocation);
  // Returns nullptr if there is no such pool.
  MemoryPool* find(cudaMemPool_t handle);
  MemoryPool& add(unsigned device, PoolMemory memory = PoolMemory::of_device);
  MemoryPool& default_pool(unsigned device, PoolMemory memory = PoolMemory::of_device);
  // Returns the pool that cudaMallocAsync uses in streams of the device, or that of other memory.
  MemoryPool& current(unsigned device, PoolMemory memory = PoolMemory::of_device);
  // Sets the current pool of the pool's memory.
  void set_current(MemoryPool& pool) { current_[{pool.memory, pool.device}] = &pool; }
  // Drops the pools of the device.
  void forget(unsigned device);
  void clear() {
    pools_.clear();
    default_.clear();
    current_.clear();
  }

 private:
  std::vector<std::unique_ptr<MemoryPool>> pools_;
  std::map<std::pair<PoolMemory, unsigned>, MemoryPool*> default_, current_;
};

// Lets the pool count a new allocation, and decide who may use it.
void add_to_pool(MemoryPool& pool, vgpu::Allocation& allocation);

// Allocates in the order of the stream, by the API function `call`.
cudaError_t allocate_from(Device& device, MemoryPool& pool, Stream& stream, std::string_view call,
                          void** pointer, std::size_t bytes);

}  // namespace warpcheck::cudart
