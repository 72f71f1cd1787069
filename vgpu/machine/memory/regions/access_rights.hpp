// Which accesses the kernel of a launch may make, where its program has restricted them (NVTX).
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::vgpu {

struct AccessRights {
  // The values are those of NVTX_MEM_PERMISSIONS_REGION_FLAGS_*.
  static constexpr std::uint8_t kRead = 1, kWrite = 2, kAtomic = 4, kAll = 7;

  std::unordered_map<const Allocation*, std::uint8_t> of_object;  // a region or an allocation
  // All other memory, by the device that owns it.
  std::array<std::uint8_t, kDevicesMax> of_others{};

  // Returns the rights for an object in an allocation.  Those of the allocation are those of its
  // regions too, unless they have their own.
  [[nodiscard]] std::uint8_t of(const Allocation* object, const Allocation& allocation) const {
    for (; object != nullptr; object = object->pool) {
      const auto found = of_object.find(object);
      if (found != of_object.end()) return found->second;
    }
    const auto found = of_object.find(&allocation);
    return found != of_object.end() ? found->second : of_others[allocation.device];
  }
};

}  // namespace warpcheck::vgpu
