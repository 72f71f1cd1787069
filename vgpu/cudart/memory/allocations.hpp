// Device memory for the API's calls: it is allocated and freed, and found by the pointers that
// programs pass.  Allocations are reported to observers, and misuse becomes findings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string_view>

#include "vgpu/cudart/api/calls/known_addresses.hpp"
#include "vgpu/cudart/memory/graph_memory.hpp"
#include "vgpu/cudart/memory/permissions.hpp"
#include "vgpu/cudart/memory/suballocators.hpp"
#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {

class CallRecording;
class Findings;
class Observers;

// A range of device memory inside one live allocation.
struct DeviceRange {
  vgpu::Allocation* allocation = nullptr;
  std::uint64_t offset = 0;
  [[nodiscard]] std::byte* data() const { return allocation->data + offset; }
};

// The shared state of the allocations of all devices: any of them may be freed through any device.
struct SharedAllocations {
  GraphMemory of_graphs;
  std::set<const vgpu::Allocation*> to_be_freed;
  Suballocators suballocators;
  Permissions permissions;
  void clear() {
    of_graphs.clear();
    suballocators.clear();
    permissions.clear();
    to_be_freed.clear();
  }
};

// The allocations of one device.  Lookups find the memory of all devices, because addresses are
// unified.
class Allocations {
 public:
  // Nothing is owned.
  Allocations(vgpu::DeviceMemory& memory, const Observers& observers, Findings& findings,
              const CallRecording& recording, SharedAllocations& of_all, unsigned device);

  // Returns nullptr if it is out of memory.
  vgpu::Allocation* allocate(std::uint64_t bytes, ptx::Space space = ptx::Space::global,
                             std::string_view name = {});
  // Allocates memory at one address for host and device.  Its bytes count as written, because the
  // host's writes are not seen.  Returns nullptr if it is out of memory.
  vgpu::Allocation* allocate_mapped(std::uint64_t bytes, std::string_view name = {});
  // Allocates memory without an address (cuMemCreate), or maps it at one.  Return nullptr if it is
  // out of memory.
  vgpu::Allocation* allocate_unmapped(std::uint64_t bytes);
  void free_unmapped(vgpu::Allocation& memory);
  vgpu::Allocation* map(const vgpu::Allocation& memory, std::uint64_t address) {
    return memory_.map(memory, address);
  }
  // Memory of a graph is kept for the graph's next launch.
  void free(vgpu::Allocation& allocation);
  // A graph has allocated its memory again: the old content is gone.
  void renew(const vgpu::Allocation& allocation) { notify_allocated(allocation); }
  // A region of an allocation has been handed out: the old content is gone.
  void hand_out(const vgpu::Allocation& allocation, std::uint64_t offset,
                std::uint64_t bytes) const;
  // The host has written these bytes, in an order that the checkers need not know.
  void written_by_host(const vgpu::Allocation& allocation, std::uint64_t offset,
                       std::uint64_t bytes) const;
  // The host has written all bytes.
  void fill_from_host(const vgpu::Allocation& allocation) const;

  // Returns the live allocation that contains the address, or nullptr.
  [[nodiscard]] vgpu::Allocation* find(const void* pointer) const;
  // Returns the region that an address in an allocation with regions is in, or is closest to;
  // otherwise the allocation.
  [[nodiscard]] static const vgpu::Allocation& object_for(const vgpu::Allocation& allocation,
                                                          std::uint64_t address);
  // Returns whether a call may use the bytes of a live allocation: they are in it, and in one of
  // its regions if it has regions.
  [[nodiscard]] static bool may_use(const vgpu::Allocation& allocation, std::uint64_t address,
                                    std::uint64_t bytes);
  // Returns the nearest allocation, live or freed, if the address is in it, just before or after
  // it; nullptr: it is no device address.
  [[nodiscard]] const vgpu::Allocation* nearest(const void* pointer) const;
  // Returns whether an address that a program passed belongs to a device (live, freed, or just
  // beside an allocation) and not to the host.
  [[nodiscard]] bool owns(const void* pointer) const { return nearest(pointer) != nullptr; }
  // Returns the range of `bytes` at `pointer`, for the API function `call`; nothing, with a
  // finding, if it is not inside one allocation.
  std::optional<DeviceRange> range_at(std::string_view call, const void* pointer,
                                      std::uint64_t bytes, bool write);

  // Memory that will be freed by a pending operation.
  void free_later(const vgpu::Allocation& allocation);
  void forget_later_free(const vgpu::Allocation& allocation) {
    of_all_.to_be_freed.erase(&allocation);
  }
  [[nodiscard]] bool is_freed_later(const vgpu::Allocation& allocation) const {
    return of_all_.to_be_freed.contains(&allocation);
  }

  [[nodiscard]] unsigned device() const { return device_; }
  GraphMemory& of_graphs() { return of_all_.of_graphs; }
  Suballocators& suballocators() { return of_all_.suballocators; }
  Permissions& permissions() { return of_all_.permissions; }
  vgpu::DeviceMemory& memory() { return memory_; }
  [[nodiscard]] std::uint64_t capacity_bytes() const { return memory_.capacity_bytes(); }
  [[nodiscard]] std::uint64_t used_bytes() const { return memory_.used_bytes(device_); }

  // Reports the allocations of the program that are left on any device, or those that are meant.
  using IsMeant = std::function<bool(const vgpu::Allocation&)>;
  void report_what_is_left(const IsMeant& is_meant = {}) const;
  // cudaDeviceReset frees everything: reports it.
  void notify_all_freed() const;
  // Frees the memory of this device, except managed variables.
  void free_all();
  // Starts a generation in which variables must be placed again.
  void begin_generation();
  // A number that differs after each reset, and for each device.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }

 private:
  void notify_allocated(const vgpu::Allocation& allocation) const;
  void notify_freed(const vgpu::Allocation& allocation) const;

  vgpu::DeviceMemory& memory_;
  const Observers& observers_;
  Findings& findings_;
  const CallRecording& recording_;
  SharedAllocations& of_all_;
  unsigned device_;
  std::uint64_t generation_;
};

}  // namespace warpcheck::cudart
