// Where the memories of a multicast object are.
//
// An address at which a multicast object is mapped (cuMemMap) leads to no memory: only multimem may
// access it (PTX ISA 9.0, 9.7.9.14).  The memory that is bound for the object's device number n is
// mapped a second time, at a place that follows from that address and n, and no program can
// reserve.
#pragma once

#include <cstdint>

#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::vgpu {

inline constexpr unsigned kMulticastDevicesMax = 8;
inline constexpr std::uint64_t kMulticastBase = 0x100'0000'0000;  // below all other memory
inline constexpr std::uint64_t kMulticastStep = kVirtualEnd - kVirtualBase;
inline constexpr std::uint64_t kMulticastEnd =
    kMulticastBase + kMulticastDevicesMax * kMulticastStep;

constexpr bool is_multicast_place(std::uint64_t address) {
  return address >= kMulticastBase && address < kMulticastEnd;
}
// address: at which the object is mapped, so from kVirtualBase to kVirtualEnd
constexpr std::uint64_t multicast_place(std::uint64_t address, unsigned number) {
  return kMulticastBase + number * kMulticastStep + (address - kVirtualBase);
}

}  // namespace warpcheck::vgpu
