// The record of where the accesses of an instruction went.
#pragma once

#include <cstdint>

#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::vgpu {

struct RowQueue;  // access/access_record.hpp

// Where the accesses of one instruction went last, so that generated code can resolve them again:
// an address corresponds to the host byte at `data + (address - base)`.
struct AccessSite {
  static constexpr std::uint64_t kNowhere = std::uint64_t{1} << 63;
  std::uint64_t base = kNowhere;      // first address of the object's bytes
  std::uint64_t row_base = kNowhere;  // the same, if there is room for a row of all lanes
  // The largest distance from the base at which such a row may begin, and at which a single lane's
  // access may begin.
  std::uint64_t row_room = 0, lane_room = 0;
  std::uint64_t data = 0;    // host address of `base`; in shared memory: the offset in the block's
  std::uint64_t origin = 0;  // the same for the allocation's first byte
  std::uint32_t begin = 0;   // offset of `base` in the allocation
  ptx::Space space = ptx::Space::generic;  // of the allocation
  bool is_store = false;
  bool is_exclusive = false;  // no other process or machine, nor the host, changes the bytes
  std::uint8_t element_bytes = 0;
  std::uint8_t bytes = 0;            // per lane, all elements of a vector
  Allocation* allocation = nullptr;  // null: the block's shared memory
  RowQueue* queue = nullptr;         // of the allocation; null: rows are reported
  bool is_unseen = false;            // nobody needs its reads
};

}  // namespace warpcheck::vgpu
