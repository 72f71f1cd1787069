#include "vgpu/check/race/general/strong_operations.hpp"

#include "vgpu/check/race/race_class.hpp"

namespace warpcheck::vgpu {

StrongOperation StrongOperations::begin(const CheckedRow& row) {
  const Access& access = *row.access;
  StrongOperation operation(access);
  operation.block = state_.order.launches().block_key(access.place);
  if (state_.polls.polls(access)) {
    operation.polls = &state_.polls;
  } else if (operation.reads && state_.takes.takes(access)) {
    operation.takes = &state_.takes;
  }
  return operation;
}

void StrongOperations::set_lane(StrongOperation& operation, const LaneAccess& mine) {
  operation.lane = mine.lane;
  operation.offset = mine.offset;
  operation.bytes = static_cast<std::uint8_t>(mine.bytes);
  operation.writes = AccessClass::of_index(mine.access_class).write;
}

void StrongOperations::perform(const CheckedRow& row, StrongOperation& operation,
                               const LaneAccess& mine) {
  const Access& access = *row.access;
  set_lane(operation, mine);
  operation.fences = &state_.order.threads().at(access.place, mine.lane).fence;
  if (access.sources != nullptr) {
    const std::uint32_t element = (mine.offset - access.offset[mine.lane]) / mine.bytes;
    operation.source = access.sources[mine.lane * 4 + element];
  }
  perform(row, operation, mine.access_class, state_.variables);
}

void StrongOperations::perform(const CheckedRow& row, StrongOperation& operation,
                               unsigned access_class, SyncVariables& variables) {
  const Access& access = *row.access;
  const Segment& segment = state_.order.segments().at(row.now);
  operation.phase = segment.phase;
  operation.ticks = state_.order.segments().tick_of(segment, operation.lane);
  Miss miss;
  // An asynchronous operation is not part of the synchronisation patterns of the thread that began
  // it.
  const ChainPlace place = access.asynchronous ? ChainPlace{} : variables.perform(operation, miss);
  if (miss.missed != Missed::nothing && operation.is_present) {
    state_.missed.add(access.place.slot, miss);
  }
  CellEntry entry;
  entry.segment = row.now;
  entry.lanes = 1u << operation.lane;
  entry.pc = access.pc;
  entry.access_class = static_cast<std::uint8_t>(access_class);
  entry.observes = operation.reads;
  entry.place = place;
  const LaneAccess mine{operation.lane, operation.offset, operation.bytes, access_class};
  row.for_each_cell(mine, [&](Cell& cell) { state_.lists.add(cell, entry, state_.order); });
}

}  // namespace warpcheck::vgpu
