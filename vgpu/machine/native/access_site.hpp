// Where the accesses of an instruction go, as the code of its program remembers it.
#pragma once

#include <cstdint>

#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::vgpu {

// Where the accesses of one instruction went last, so that generated code finds it again: an
// address lies `address - base` bytes behind `data`.
struct AccessSite {
  static constexpr std::uint64_t kNowhere = std::uint64_t{1} << 63;
  std::uint64_t base = kNowhere;      // of the bytes that are meant
  std::uint64_t row_base = kNowhere;  // the same, where they have room for a row of all lanes
  // The largest distance from there at which such a row may begin, and a single lane's access.
  std::uint64_t row_room = 0, lane_room = 0;
  std::uint64_t data = 0;    // of `base` on the host; of shared memory: bytes into the block's
  std::uint64_t origin = 0;  // the same of the allocation's first byte
  std::uint32_t begin = 0;   // of `base`: bytes into the allocation
  ptx::Space space = ptx::Space::generic;  // of the allocation
  bool is_store = false;
  bool is_exclusive = false;  // no other process or machine, nor the host, changes the bytes
  std::uint8_t element_bytes = 0;
  std::uint8_t bytes = 0;            // of a lane, all elements of a vector
  Allocation* allocation = nullptr;  // null: the block's shared memory
};

}  // namespace warpcheck::vgpu
