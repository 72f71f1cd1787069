// The latest loads of a warp from shared and global memory, for an observer that needs to know
// which loads come before an operation of the warp.  Machine code adds loads, as calls do.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "vgpu/machine/access.hpp"

namespace warpcheck::vgpu {

// A ring buffer.  Generated code depends on the layout.
struct LoadLog {
  static constexpr std::uint32_t kLoads = 64;
  struct Load {
    std::uint32_t time = 0, pc = 0, mask = 0, phase = 0;
    std::uint32_t allocation = 0, first = 0;  // the offset that lane 0 would have
    std::uint16_t bytes = 0, stride = 0;
    std::uint32_t scattered = 0;  // 1: the lanes are at `offsets`
  };

  std::uint32_t time = 0, loads = 0;  // of the latest event; their number so far
  std::array<Load, kLoads> load{};
  std::array<std::array<std::uint32_t, kWarpLanes>, kLoads> offsets{};

  void add(const RowAccess& row) {
    const std::uint32_t at = loads++ % kLoads;
    Load& entry = load[at];
    entry.time = ++time;
    entry.pc = row.pc;
    entry.mask = row.mask;
    entry.phase = row.place.phase;
    entry.allocation = row.allocation->id;
    entry.first = row.first;
    entry.bytes = row.bytes;
    entry.stride = row.pattern == Pattern::strided ? row.bytes : std::uint16_t{0};
    entry.scattered = row.pattern == Pattern::scattered ? 1 : 0;
    if (entry.scattered != 0) std::copy_n(row.offsets, kWarpLanes, offsets[at].begin());
  }
};

}  // namespace warpcheck::vgpu
