// The memory pools that a program makes by itself, and the regions that it hands out of them, as it
// describes them by NVTX (nvToolsExtMem.h): heaps and regions in NVTX's words.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "vgpu/machine/memory/memory.hpp"
#include "vgpu/machine/memory/regions/regions.hpp"

namespace warpcheck::cudart {

class Suballocators {
 public:
  struct Range {
    std::uint64_t address = 0, bytes = 0;
  };
  // How a program refers to a region.
  struct Reference {
    bool is_number = false;  // as add_region() has returned it; otherwise the address
    std::uint64_t value = 0;
  };
  static constexpr std::uint64_t kProcessWide = 0;  // a heap of all memory, which always exists

  // The program refers to a heap by its address; of several, to the latest.
  //   hands_out: only its regions may be used
  // Returns false if some of its bytes are in no live allocation.
  bool add_heap(vgpu::DeviceMemory& memory, Range range, bool hands_out, std::string name);
  // Calls ended(object) for the heap (end_heap) and its regions; returns false if there is no such
  // heap.
  using Ended = std::function<void(const vgpu::Allocation&)>;
  bool end_heap(vgpu::DeviceMemory& memory, std::uint64_t heap, const Ended& ended);
  bool reset_heap(vgpu::DeviceMemory& memory, std::uint64_t heap, const Ended& ended);

  struct Added {
    const vgpu::Allocation* region = nullptr;  // null: not in the heap, or not in memory
    std::uint64_t number = 0;
    bool is_fresh = false;  // it was handed out: what its bytes were before is gone
  };
  Added add_region(vgpu::DeviceMemory& memory, std::uint64_t heap, Range range);
  // Returns the bytes that have been handed out in addition; false: there is no such region.
  bool resize_region(vgpu::DeviceMemory& memory, Range range, Range& added);
  bool end_region(vgpu::DeviceMemory& memory, Reference reference, const Ended& ended);

  // Returns the live region, or the allocation that begins at the address; nullptr: there is none.
  [[nodiscard]] const vgpu::Allocation* find(vgpu::DeviceMemory& memory, Reference reference) const;
  // Returns the region that began at the address and has ended; nullptr: there is none.
  [[nodiscard]] static const vgpu::Allocation* find_gone(vgpu::DeviceMemory& memory,
                                                         std::uint64_t address);
  bool name(vgpu::DeviceMemory& memory, Reference reference, std::string name);

  // Returns the regions that have been handed out, by address.
  [[nodiscard]] std::vector<const vgpu::Allocation*> handed_out() const;
  // The allocation is freed: its regions end.
  void forget(const vgpu::Allocation& allocation, const Ended& ended);
  void clear() { *this = {}; }

  // Calls visit(allocation, begin, end) for the allocations of a range, which lie side by side,
  // with offsets in them; returns false, after some calls, where there is none.
  using Visit = std::function<void(vgpu::Allocation&, std::uint64_t, std::uint64_t)>;
  static bool for_each_allocation(vgpu::DeviceMemory& memory, Range range, const Visit& visit);

 private:
  using Object = std::shared_ptr<vgpu::Allocation>;
  // `object` is a view of the bytes.
  struct Heap {
    Object object;
    bool hands_out = false;
  };
  struct Region {
    Object object;
    bool hands_out = false;
  };
  using Regions = std::map<std::uint64_t, Region>;  // by number

  [[nodiscard]] Heap* find_heap(std::uint64_t handle, Range inside);
  [[nodiscard]] Regions::iterator find_region(Reference reference);
  [[nodiscard]] Object make(vgpu::DeviceMemory& memory, Range range, std::string name);
  void set(vgpu::DeviceMemory& memory, Range range, vgpu::Regions::Use use, const Object& object);
  Regions::iterator drop(Regions::iterator region, const Ended& ended);
  void end_inside(vgpu::DeviceMemory& memory, const vgpu::Allocation& object, const Ended& ended);

  std::vector<Heap> heaps_;
  Regions regions_;
  std::multimap<std::uint64_t, std::uint64_t> by_address_;  // numbers of regions_
  std::uint64_t last_number_ = 0;
  std::vector<Object> all_heaps_;  // regions refer to them
  // Regions that have ended, oldest first; kernels may refer to them.
  static constexpr std::size_t kGoneMin = 1 << 15;
  std::deque<Object> gone_;
};

}  // namespace warpcheck::cudart
