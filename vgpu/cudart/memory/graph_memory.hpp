// Memory of the allocation nodes of graphs.  Its address is fixed, because kernels contain it, so
// it belongs to the device until the device is reset; the launches of a graph take it and return
// it.  What a launch has returned is not live: until another launch takes it, a use of it is a use
// of freed memory.
#pragma once

#include <cstdint>
#include <map>

#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {

class GraphMemory {
 public:
  void add(const vgpu::Allocation& allocation) { in_use_.emplace(&allocation, false); }
  void clear() { in_use_.clear(); }

  [[nodiscard]] bool has(const vgpu::Allocation& allocation) const {
    return in_use_.contains(&allocation);
  }
  // Returns whether it is memory of a graph that no launch has taken.
  [[nodiscard]] bool is_unused(const vgpu::Allocation& allocation) const {
    const auto found = in_use_.find(&allocation);
    return found != in_use_.end() && !found->second;
  }
  void take(vgpu::Allocation& allocation) { set(allocation, true); }
  void give_back(vgpu::Allocation& allocation) { set(allocation, false); }

  [[nodiscard]] std::uint64_t used_bytes() const { return bytes(true); }
  [[nodiscard]] std::uint64_t reserved_bytes() const { return bytes(false); }

 private:
  [[nodiscard]] std::uint64_t bytes(bool only_used) const {
    std::uint64_t sum = 0;
    for (const auto& [allocation, in_use] : in_use_) {
      if (in_use || !only_used) sum += allocation->bytes;
    }
    return sum;
  }

  void set(vgpu::Allocation& allocation, bool in_use) {
    in_use_[&allocation] = allocation.live = in_use;
    for (vgpu::Allocation& part : allocation.parts) part.live = in_use;
  }

  std::map<const vgpu::Allocation*, bool> in_use_;
};

}  // namespace warpcheck::cudart
