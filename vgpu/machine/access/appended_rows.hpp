// Rows as they stand in the record of a block and in queues (access_record.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "vgpu/machine/access.hpp"
#include "vgpu/machine/access/access_record.hpp"
#include "vgpu/program/warp_rows.hpp"

namespace warpcheck::vgpu {

// Rows of one allocation, in [begin, end): take_queued() reads them.
struct QueuedRows {
  const Allocation* allocation = nullptr;
  const std::byte *begin = nullptr, *end = nullptr;
};

// What machine code has appended while it ran one block.
struct AppendedRows {
  const Allocation* shared = nullptr;  // the memory of `rows` and `atomics`
  WarpPlace place;                     // of the block's warp 0
  std::span<const RecordedRow> rows;
  const std::array<std::uint32_t, kWarpLanes>* offsets = nullptr;  // of scattered ones, by cell
  std::span<const RecordedAtomics> atomics;
  std::span<const QueuedRows> queued;
};

}  // namespace warpcheck::vgpu
