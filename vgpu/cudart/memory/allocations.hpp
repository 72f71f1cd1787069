// Device memory as the API's calls see it: allocated and freed by them, and looked up by the
// pointers that programs pass.  Observers are told, and misuse becomes findings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

#include "vgpu/cudart/memory/graph_memory.hpp"
#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {

class CallRecording;
class Findings;
class Observers;

// A pointer this far past an allocation still counts as meant for it, and so for the device.
inline constexpr std::uint64_t kOverrunBytesMax = std::uint64_t{1} << 20;

// A range of device memory that lies inside one live allocation.
struct DeviceRange {
  vgpu::Allocation* allocation = nullptr;
  std::uint64_t offset = 0;
  [[nodiscard]] std::byte* data() const { return allocation->data + offset; }
};

// What is known of the allocations of all devices: any of them may be freed through any.
struct SharedAllocations {
  GraphMemory of_graphs;
  std::set<const vgpu::Allocation*> to_be_freed;
  void clear() {
    of_graphs.clear();
    to_be_freed.clear();
  }
};

// Of one device where memory is given out; those of any device find all memory, as addresses are
// unified.
class Allocations {
 public:
  // Nothing is owned.
  Allocations(vgpu::DeviceMemory& memory, const Observers& observers, Findings& findings,
              const CallRecording& recording, SharedAllocations& of_all, unsigned device);

  // nullptr: out of memory.
  vgpu::Allocation* allocate(std::uint64_t bytes, ptx::Space space = ptx::Space::global,
                             std::string_view name = {});
  // At one address for host and device; its bytes count as written, as the host's writes are not
  // seen.  nullptr: out of memory.
  vgpu::Allocation* allocate_mapped(std::uint64_t bytes);
  // Memory without an address (cuMemCreate), and the same at one.  nullptr: out of memory.
  vgpu::Allocation* allocate_unmapped(std::uint64_t bytes);
  void free_unmapped(vgpu::Allocation& memory);
  vgpu::Allocation* map(const vgpu::Allocation& memory, std::uint64_t address) {
    return memory_.map(memory, address);
  }
  // Memory of a graph is kept for the graph's next launch.
  void free(vgpu::Allocation& allocation);
  // Memory of a graph begins anew: what was in it is gone.
  void take(const vgpu::Allocation& allocation);
  // The host has written these bytes, in an order that the checkers need not know.
  void written_by_host(const vgpu::Allocation& allocation, std::uint64_t offset,
                       std::uint64_t bytes) const;
  // The host has written all of it.
  void fill_from_host(const vgpu::Allocation& allocation) const;

  // The live allocation that holds the address, or nullptr.
  [[nodiscard]] vgpu::Allocation* find(const void* pointer) const;
  // The nearest one at or below, live or freed; nullptr: the address is not the device's.
  [[nodiscard]] const vgpu::Allocation* nearest(const void* pointer) const;
  // Whether an address that a program passed is one of the device's (live, freed, or just past
  // an allocation) and not the host's.
  [[nodiscard]] bool owns(const void* pointer) const { return nearest(pointer) != nullptr; }
  // The range of `bytes` at `pointer`, for the API function `call`; nothing, and a finding, when
  // it is not inside one allocation.
  std::optional<DeviceRange> range_at(std::string_view call, const void* pointer,
                                      std::uint64_t bytes, bool write);

  // Memory that a free which has not run yet will give back.
  void free_later(const vgpu::Allocation& allocation) { of_all_.to_be_freed.insert(&allocation); }
  void forget_later_free(const vgpu::Allocation& allocation) {
    of_all_.to_be_freed.erase(&allocation);
  }
  [[nodiscard]] bool is_freed_later(const vgpu::Allocation& allocation) const {
    return of_all_.to_be_freed.contains(&allocation);
  }

  [[nodiscard]] unsigned device() const { return device_; }
  GraphMemory& of_graphs() { return of_all_.of_graphs; }
  [[nodiscard]] std::uint64_t capacity_bytes() const { return memory_.capacity_bytes(); }
  [[nodiscard]] std::uint64_t used_bytes() const { return memory_.used_bytes(device_); }

  // Tells what is still there of what the program has allocated, on any device.
  void tell_what_is_left() const;
  // cudaDeviceReset frees everything.
  void tell_all_freed() const;
  // What is this device's, but for managed variables, is free from now on.
  void free_all();
  // Variables have to be placed anew.
  void begin_generation();
  // Another number after each reset, and for each device.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }

 private:
  void tell_allocated(const vgpu::Allocation& allocation) const;
  void tell_freed(const vgpu::Allocation& allocation) const;

  vgpu::DeviceMemory& memory_;
  const Observers& observers_;
  Findings& findings_;
  const CallRecording& recording_;
  SharedAllocations& of_all_;
  unsigned device_;
  std::uint64_t generation_;
};

}  // namespace warpcheck::cudart
