#include "vgpu/machine/access/row_batches.hpp"

#include <cstring>
#include <utility>

#include "vgpu/machine/access/queued_row.hpp"

namespace warpcheck::vgpu {

void RowBatches::hand_over_rows(const AccessRecord& record, const Slot& slot) {
  rows_.clear();
  RowAccess any;
  any.allocation = slot.shared;
  any.place = {slot.block, 0, slot.index, slot.phase};
  any.space = ptx::Space::shared;
  add_rows(record, any);
  const std::span<const OpenQueue> queues = accesses_.open_queues();
  for (std::size_t i = 0; i < next_queued_.size(); ++i) {
    add_queued(queues[i], std::exchange(next_queued_[i], queues[i].queue->next));
  }
  if (rows_.empty()) return;
  for (Observer* const observer : launch_.observers().of_rows) {
    observer->on_rows(launch_.program(), rows_);
  }
}

// Adds the rows of shared memory, or counts them.
//   any: what all of them have in common
void RowBatches::add_rows(const AccessRecord& record, RowAccess any) {
  InstrTally* const tally = launch_.observers().tally_rows ? launch_.observers().tally : nullptr;
  for (; next_ != record.next; ++next_) {
    if (tally != nullptr && next_->mask == ~0u && !next_->scattered) {
      InstrTally& counts = tally[next_->pc];
      ++(next_->uniform ? counts.uniform_rows : counts.rows);
      continue;
    }
    RowAccess& row = rows_.emplace_back(any);
    row.place.warp = next_->warp;
    row.pc = next_->pc;
    row.mask = next_->mask;
    row.kind = next_->write ? AccessKind::write : AccessKind::read;
    row.pattern = next_->uniform     ? Pattern::uniform
                  : next_->scattered ? Pattern::scattered
                                     : Pattern::strided;
    row.bytes = static_cast<std::uint8_t>(next_->bytes());
    const ptx::Modifiers& modifiers = launch_.program().code[next_->pc].modifiers;
    row.element_bytes = static_cast<std::uint8_t>(ptx::bytes_of(modifiers.type));
    if (next_->scattered) {
      row.offsets = record.offsets[next_->cell].data();
    } else {
      row.first = static_cast<std::uint32_t>(next_->cell) * 4;
    }
  }
  for (; next_update_ != record.next_update; ++next_update_) {
    RowAccess& row = rows_.emplace_back(any);
    row.place.warp = next_update_->warp;
    row.pc = next_update_->pc;
    row.mask = next_update_->mask;
    row.kind = AccessKind::atomic;
    row.pattern = Pattern::scattered;
    row.bytes = row.element_bytes = next_update_->bytes;
    row.offsets = next_update_->offset.data();
  }
}

// Adds the rows of one allocation, or counts them.
void RowBatches::add_queued(const OpenQueue& queue, const std::byte* from) {
  const Instr* const code = launch_.program().code.data();
  InstrTally* const tally = launch_.observers().tally;
  const std::byte* const end = queue.queue->next;
  RowAccess any;
  any.allocation = queue.allocation;
  while (from != end) {
    QueuedRow queued;
    std::memcpy(&queued, from, sizeof queued);
    const bool is_plain = queued.scope == 0 || queued.scope == QueuedRow::kWrites;
    const bool is_counted = is_plain && queued.mask == ~0u &&
                            queued.pattern != Pattern::scattered &&
                            code[queued.pc].modifiers.space == ptx::Space::global;
    if (!is_counted) {
      take_queued(from, rows_.emplace_back(any));
      continue;
    }
    from += sizeof queued;
    InstrTally& counts = tally[queued.pc];
    const bool is_shifted = (queue.allocation->address + queued.first) % kTallySector != 0;
    ++(queued.pattern == Pattern::uniform ? counts.uniform_rows
       : is_shifted                       ? counts.shifted_rows
                                          : counts.rows);
  }
}

}  // namespace warpcheck::vgpu
