#include "vgpu/machine/access/row_batches.hpp"

#include <utility>

#include "vgpu/machine/access/queued_row.hpp"

namespace warpcheck::vgpu {

void RowBatches::hand_over_rows(const AccessRecord& record, const Slot& slot) {
  queued_.clear();
  const std::span<const OpenQueue> queues = accesses_.open_queues();
  for (std::size_t i = 0; i < next_queued_.size(); ++i) {
    const std::byte* const end = queues[i].queue->next;
    const std::byte* const begin = std::exchange(next_queued_[i], end);
    if (begin != end) queued_.push_back({queues[i].allocation, begin, end});
  }
  const AppendedRows appended{
      .shared = slot.shared,
      .place = {slot.block, 0, slot.index, slot.phase},
      .rows = {std::exchange(next_, record.next), record.next},
      .offsets = record.offsets,
      .atomics = {std::exchange(next_update_, record.next_update), record.next_update},
      .queued = queued_};
  rows_.clear();
  for (Observer* const observer : launch_.observers().of_rows) {
    if (observer->takes_appended(launch_.program(), appended)) continue;
    if (rows_.empty()) convert(appended);
    observer->on_rows(launch_.program(), rows_);
  }
}

void RowBatches::convert(const AppendedRows& appended) {
  RowAccess any;
  any.allocation = appended.shared;
  any.place = appended.place;
  any.space = ptx::Space::shared;
  for (const RecordedRow& recorded : appended.rows) {
    RowAccess& row = rows_.emplace_back(any);
    row.place.warp = recorded.warp;
    row.pc = recorded.pc;
    row.mask = recorded.mask;
    row.kind = recorded.write ? AccessKind::write : AccessKind::read;
    row.pattern = recorded.pattern();
    row.bytes = static_cast<std::uint8_t>(recorded.bytes());
    const ptx::Modifiers& modifiers = launch_.program().code[recorded.pc].modifiers;
    row.element_bytes = static_cast<std::uint8_t>(ptx::bytes_of(modifiers.type));
    if (recorded.scattered) {
      row.offsets = appended.offsets[recorded.cell].data();
    } else {
      row.first = static_cast<std::uint32_t>(recorded.cell) * 4;
    }
  }
  for (const RecordedAtomics& recorded : appended.atomics) {
    RowAccess& row = rows_.emplace_back(any);
    row.place.warp = recorded.warp;
    row.pc = recorded.pc;
    row.mask = recorded.mask;
    row.kind = AccessKind::atomic;
    row.pattern = Pattern::scattered;
    row.bytes = row.element_bytes = recorded.bytes;
    row.offsets = recorded.offset.data();
  }
  for (const QueuedRows& queued : appended.queued) {
    RowAccess global;
    global.allocation = queued.allocation;
    for (const std::byte* from = queued.begin; from != queued.end;) {
      take_queued(from, rows_.emplace_back(global));
    }
  }
}

}  // namespace warpcheck::vgpu
