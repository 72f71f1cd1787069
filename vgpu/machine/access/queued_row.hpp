// Rows as they stand in a queue (access_record.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "vgpu/machine/access.hpp"
#include "vgpu/machine/access/access_record.hpp"

namespace warpcheck::vgpu {

// Takes the row that begins at `from`, and moves `from` behind it.
//   row: receives it, but no place and no allocation; valid as long as the queue keeps it
inline QueuedRow take_queued(const std::byte*& from, RowAccess& row) {
  QueuedRow queued;
  std::memcpy(&queued, from, sizeof queued);
  from += sizeof queued;
  row.pc = queued.pc;
  row.mask = queued.mask;
  row.first = queued.first;
  row.space = ptx::Space::global;
  row.kind = queued.scope == 0                    ? AccessKind::read
             : queued.scope == QueuedRow::kWrites ? AccessKind::write
                                                  : AccessKind::atomic;
  row.pattern = queued.pattern;
  row.bytes = row.element_bytes = queued.bytes;
  row.offsets = nullptr;
  if (queued.pattern == Pattern::scattered) {
    row.offsets = reinterpret_cast<const std::uint32_t*>(from);
    from += kQueuedRowMax - sizeof queued;
  }
  return queued;
}

}  // namespace warpcheck::vgpu
