#include "vgpu/check/race/general/deferred/deferred_reads.hpp"

#include <bit>
#include <utility>

#include "vgpu/check/order/clocks/bits.hpp"
#include "vgpu/check/race/general/deferred/slot_time.hpp"
#include "vgpu/machine/memory/rows.hpp"

namespace warpcheck::vgpu {

void DeferredReads::clear() {
  for (const std::unique_ptr<Queue>& queue : queues_) {
    if (queue == nullptr) continue;
    queue->rows.clear(room_);
    queue->left_in = 0;
  }
  open_.clear();
  takes_ = false;
}

void DeferredReads::forget(std::uint32_t allocation) {
  if (allocation >= queues_.size() || queues_[allocation] == nullptr) return;
  Queue& queue = *queues_[allocation];
  queue.rows.clear(room_);
  queue.left_in = 0;
  std::erase(open_, &queue);
}

void DeferredReads::begin_launch(bool takes) {
  settle();
  for (Queue* const queue : std::exchange(open_, {})) queue->rows.close();
  takes_ = takes;
}

void DeferredReads::add_queue(std::uint32_t allocation) {
  if (allocation >= queues_.size()) queues_.resize(allocation + 1);
  queues_[allocation] = std::make_unique<Queue>();
}

bool DeferredReads::take(const RowAccess& row) {
  if (!takes_ || row.kind != AccessKind::read) return false;
  Queue& queue = of(row.allocation->id);
  if (!queue.rows.takes({}, launch()) && !begin(*row.allocation, queue)) return false;
  const SegmentId now = state_.order.segment_of(row.place, false);
  if (queue.rows.take(row, now, room_)) [[likely]]
    return true;
  perform_all();
  return begin(*row.allocation, queue) && queue.rows.take(row, now, room_);
}

// Lets rows wait from now on.  False: they must not, or there is no room.
bool DeferredReads::begin(const Allocation& allocation, Queue& queue) {
  if (queue.left_in == launch()) return false;
  atomics_.leave(allocation.id);
  atomics_.perform(allocation.id);
  const ShadowPeriod period{.number = launch(), .launch = launch(), .global = true};
  if (!queue.rows.begin({}, period, allocation.limit(), room_)) return false;
  queue.bytes = allocation.limit();
  state_.memories.of(allocation).note(state_.order.launches().current(), {0, queue.bytes});
  open_.push_back(&queue);
  return true;
}

void DeferredReads::settle(Queue& queue) {
  queue.rows.for_each_new([&](QueuedRow& row) {
    if (!SlotTime::is_of_slot(row.time)) return;
    const WarpPlace place = SlotTime::place_of(row.time, state_.order.threads());
    row.time = state_.order.segment_of(place, false);
  });
}

void DeferredReads::perform_all() {
  for (std::uint32_t id = 0; id < queues_.size(); ++id) perform(id);
}

void DeferredReads::record_rows(std::uint32_t allocation, Queue& queue) {
  settle(queue);
  std::erase(open_, &queue);
  CellMemory& memory = state_.memories.of(allocation, queue.bytes, true);
  queue.rows.perform(
      room_, [](const ShadowPeriod&, std::uint32_t) {},
      [&](const RowAccess& row, std::uint64_t time, QueuedKind) {
        record(row, static_cast<SegmentId>(time), memory);
      });
}

void DeferredReads::record(const RowAccess& row, SegmentId now, CellMemory& memory) {
  if (row.bytes < memory.cell_bytes()) memory.narrow_to(row.bytes, state_.lists, state_.order);
  if (CellLines* const lines = memory.lines()) {
    if (row.bytes >= 4 && row.pattern != Pattern::uniform && take_in_lines(row, now, *lines)) {
      return;
    }
  }
  ++state_.work.in_cells;
  CellEntry reads{.segment = now, .lanes = row.mask, .pc = row.pc};
  if (row.pattern == Pattern::uniform) {
    return record_in_cells(row.first, row.bytes, reads, memory);
  }
  for_each_bit(row.mask, [&](unsigned lane) {
    reads.lanes = 1u << lane;
    record_in_cells(row.offset_of(lane), row.bytes, reads, memory);
  });
}

bool DeferredReads::take_in_lines(const RowAccess& row, SegmentId now, CellLines& lines) {
  constexpr std::uint32_t kRunsMax = 8;
  CellLines::Part part;
  part.segment = now;
  part.pc = row.pc;
  const auto comes_before = [&](const CellLines::Part& earlier, const CellLines::Part& later) {
    return all_before(earlier.segment, later.segment) ||
           (earlier.has_lanes_of(later) &&
            state_.order.segments().are_of_same_warp(earlier.segment, later.segment));
  };
  const auto take = [&](std::int64_t first, std::uint32_t lanes) {
    return lines.for_each_line(CellLines::row_of(first, lanes, row.bytes), part,
                               [&](CellLines::Line& line, const CellLines::Part& in_line) {
                                 return lines.add(line, in_line, comes_before);
                               });
  };
  if (row.pattern == Pattern::strided) return take(start_of(row.first), row.mask);
  const LaneRuns runs = runs_(row.offsets, row.mask, row.bytes);
  if (runs.count > kRunsMax) return false;
  return for_each_run_of(runs, row.offsets, row.mask, row.bytes, take);
}

//   reads: of these bytes
void DeferredReads::record_in_cells(std::uint32_t offset, std::uint32_t bytes,
                                    const CellEntry& reads, CellMemory& memory) {
  memory.to_cells(offset, offset + bytes, state_.lists, state_.order);
  const bool is_one = std::has_single_bit(reads.lanes);
  const auto lane = static_cast<unsigned>(std::countr_zero(reads.lanes));
  const std::uint32_t end = (offset + bytes - 1) >> memory.shift();
  for (std::uint32_t at = offset >> memory.shift(); at <= end; ++at) {
    Cell& cell = memory.cells()[at];
    const bool is_replaced = !cell.has_list() && cell.rest != 0 &&
                             (is_one ? is_before({cell.rest}, reads.segment, lane)
                                     : all_before(Record{cell.rest}.segment(), reads.segment));
    if (is_replaced) cell.rest = 0;
    if (is_one && cell.rest == 0) {
      cell.rest = Record::of(reads.segment, lane, reads.pc).bits;
    } else if (cell.has_list()) {
      state_.lists.add_reads(cell, reads, state_.order);
    } else {
      state_.lists.add(cell, reads, state_.order);
    }
  }
}

// Returns whether what the warp of an earlier segment did comes before what any lane does in `now`.
bool DeferredReads::all_before(SegmentId earlier, SegmentId now) const {
  const Segment &one = state_.order.segments().at(earlier),
                &other = state_.order.segments().at(now);
  if (one.launch != other.launch) return one.launch < other.launch;
  if (one.block != other.block || one.asynchronous) return false;
  return one.phase < other.phase ||
         (one.warp == other.warp && state_.order.threads().is_lockstep());
}

bool DeferredReads::is_before(const Record& earlier, SegmentId now, unsigned lane) const {
  return all_before(earlier.segment(), now) ||
         (earlier.lane() == lane &&
          state_.order.segments().are_of_same_warp(earlier.segment(), now));
}

}  // namespace warpcheck::vgpu
