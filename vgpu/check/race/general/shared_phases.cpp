#include "vgpu/check/race/general/shared_phases.hpp"

#include <algorithm>
#include <bit>

#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

// Returns whether everything that a block does with its shared memory, except for copies that it
// has not waited for, comes before every access to it after the block's next barrier.
bool barriers_are_enough_in_shared_memory(const Program& program) {
  return !program.uses_clusters && std::ranges::none_of(program.code, [](const Instr& in) {
    return in.kind == InstrKind::bulk_copy || in.kind == InstrKind::tensor_copy ||
           in.kind == InstrKind::group_load || in.kind == InstrKind::tensor_memory ||
           in.opcode == ptx::Opcode::tensormap_;
  });
}

constexpr std::size_t kCopiesMax = 1024;  // rows that a block remembers at once

}  // namespace

void SharedPhases::close() {
  for (Phase& phase : now_.phases) phase.log.close();
}

void SharedPhases::begin_launch(const Program& program) {
  close();
  now_.program = &program;
  now_.are_ordered = barriers_are_enough_in_shared_memory(program);
  now_.has_copies =
      std::ranges::any_of(program.code, [](const Instr& in) { return in.kind == InstrKind::copy; });
  now_.polls_by_atomics = PollExits::may_poll_by_atomics(program);
}

void SharedPhases::begin_block(const WarpPlace& place, const Allocation* shared) {
  if (place.slot >= now_.phases.size()) now_.phases.resize(place.slot + 1);
  now_.phases[place.slot].shared = shared;
  now_.phases[place.slot].place = place;
  now_.phases[place.slot].copies.clear();
  now_.phases[place.slot].has_lost_copies = false;
  begin_phase(place);
}

void SharedPhases::begin_phase(const WarpPlace& place) {
  Phase& phase = now_.phases[place.slot];
  phase.first = state_.order.segments().count();
  if (now_.are_ordered) {
    phase.log.begin(phase.shared == nullptr ? 0 : phase.shared->limit(),
                    state_.order.threads().ordered_threads());
    if (!phase.copies.empty()) forget_known_copies(phase);
    if (phase.has_lost_copies) return phase.log.close();
    for (const OpenCopy& copy : phase.copies) {
      phase.log.mark_copied(copy.offsets, copy.mask, copy.bytes);
    }
    // Accesses to memory with synchronisation variables are looked at one by one.
    const bool lends = phase.shared != nullptr && state_.variables.is_empty(phase.shared->id);
    phase.log.let_record(lends, lends && phase.copies.empty() && !now_.polls_by_atomics &&
                                    deferred_.rows_max() != 0);
  } else {
    phase.log.close();
  }
}

void SharedPhases::settle(Phase& phase) {
  Access like;
  like.allocation = phase.shared;
  like.program = now_.program;
  like.place = phase.place;
  phase.log.settle(like, state_.order,
                   [&](const WarpPlace& place) { return state_.order.segment_of(place, false); });
}

// An asynchronous copy needs cells.
void SharedPhases::begin_copy(Phase& phase, const Access& access) {
  if (phase.copies.size() == kCopiesMax) phase.has_lost_copies = true;
  if (phase.has_lost_copies) {
    if (phase.log.is_open()) move_to_cells(phase);
    return;
  }
  phase.copies.push_back({.segment = state_.order.segment_of(access.place, true),
                          .mask = access.mask,
                          .bytes = access.bytes,
                          .offsets = access.offset});
  if (!phase.log.is_open()) return;
  settle(phase);
  if (!phase.log.mark_copy(access)) return move_to_cells(phase);
  const bool lends = state_.variables.is_empty(access.allocation->id);
  phase.log.let_record(lends, false);
}

// After a barrier, all threads of a block know the same of copies.
void SharedPhases::forget_known_copies(Phase& phase) {
  WarpPlace place = phase.place;
  place.warp = 0;
  const SegmentId now = state_.order.segment_of(place, false);
  std::erase_if(phase.copies, [&](const OpenCopy& copy) {
    return state_.order.before(copy.segment, now, place) == ThreadOrder::Before::all_lanes;
  });
}

// Returns whether the access must be reported to the variables: a weak write to a location through
// which threads synchronise.
bool SharedPhases::may_silence(const Allocation& allocation, AccessKind kind) const {
  return kind == AccessKind::write && !state_.variables.is_empty(allocation.id);
}

// Takes an access by `take`, also if other synchronisation than barriers of the block orders it.
template <typename Take>
inline bool SharedPhases::take_in_order(Phase& phase, Take take) {
  if (phase.log.follows_order()) ++state_.work.followed;
  if (take()) return true;
  if (phase.log.follows_order() || !phase.copies.empty()) return false;
  settle(phase);
  return phase.log.follow_order(state_.order, phase.place) && take();
}

bool SharedPhases::take(const RowAccess& access) {
  if (access.place.slot >= now_.phases.size()) return false;
  Phase& phase = now_.phases[access.place.slot];
  if (!phase.log.is_open()) return false;
  const SegmentId now = state_.order.segment_of(access.place, false);
  if (!may_silence(*access.allocation, access.kind) &&
      take_in_order(phase, [&] { return phase.log.take(access, now); })) {
    return true;
  }
  move_to_cells(phase);
  return false;
}

bool SharedPhases::take(const Access& access) {
  Phase& phase = now_.phases[access.place.slot];
  if (access.asynchronous && now_.are_ordered) {
    begin_copy(phase, access);
    return false;
  }
  if (!phase.log.is_open()) return false;
  const SegmentId now = state_.order.segment_of(access.place, false);
  const bool is_strong = access.kind == AccessKind::atomic || access.order != ptx::Order::weak;
  if (is_strong) settle(access.place);
  const bool may_take =
      is_strong ? may_wait(phase, access) : !may_silence(*access.allocation, access.kind);
  const auto take = [&] {
    return is_strong ? phase.log.take_strong(access, now, state_.order)
                     : phase.log.take(access, now);
  };
  if (may_take && take_in_order(phase, take)) return true;
  move_to_cells(phase);
  return false;
}

// Returns whether nothing asks for the effects of an access before the phase ends.  Then the whole
// block knows those of atomics; what strong loads and stores may release or observe in the phase is
// the work of no other thread.
bool SharedPhases::may_wait(const Phase& phase, const Access& access) {
  return AtomicLog::takes(access) && phase.log.atomics().rows() < deferred_.rows_max() &&
         state_.variables.is_empty(access.allocation->id) && !state_.polls.polls(access);
}

void SharedPhases::move_to_cells(Phase& phase) {
  settle(phase);
  phase.log.close();
  CellMemory& memory = state_.memories.of(*phase.shared);
  for (const RowLog::Row& row : phase.log.rows()) {
    if (row.bytes() >= memory.cell_bytes()) continue;
    deferred_.perform(phase.shared->id);
    memory.narrow_to(row.bytes(), state_.lists, state_.order);
  }
  std::size_t recorded = 0;
  const auto record_rows_to = [&](std::size_t end) {
    for (; recorded < end; ++recorded) record_row(phase, phase.log.rows()[recorded], memory);
  };
  deferred_.perform_rows(phase.log.atomics(), phase.first,
                         [&](const AtomicLog::Row& row) { record_rows_to(row.plain_before); });
  record_rows_to(phase.log.rows().size());
}

void SharedPhases::record_row(const Phase& phase, const RowLog::Row& row, CellMemory& memory) {
  ++state_.work.in_cells;
  const std::uint32_t width = row.bytes() >> memory.shift();
  const std::int64_t begin = std::int64_t{row.cell} << (2 - memory.shift());
  for (std::uint32_t rest = row.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::int64_t first = row.scattered
                                   ? std::int64_t{phase.log.offsets_of(row)[lane] >> memory.shift()}
                                   : begin + (row.uniform ? 0 : std::int64_t{lane} * width);
    for (std::uint32_t i = 0; i < width; ++i) {
      record(phase, row, row.uniform ? row.mask : 1u << lane, memory.cells()[first + i]);
    }
    if (row.uniform) break;
  }
}

// Rows of a log that conflict are of the same threads or ordered, so no comparison is needed.  The
// cells hold accesses of earlier phases, and earlier rows of the log.
void SharedPhases::record(const Phase& phase, const RowLog::Row& row, std::uint32_t lanes,
                          Cell& cell) {
  state_.lists.forget_before(cell, phase.first);
  const auto last = static_cast<unsigned>(31 - std::countl_zero(lanes));
  const auto is_own = [&] {
    const Record read{cell.rest};
    return !cell.has_list() && state_.order.segments().at(read.segment()).warp == row.warp &&
           state_.order.threads().actor_of(read.lane()) == state_.order.threads().actor_of(last);
  };
  if (row.write) {
    if (cell.has_list()) {
      state_.lists.drop(cell);
      CellMemory& memory = state_.memories.of(*phase.shared);
      const auto at = static_cast<std::uint32_t>(&cell - memory.cells()) << memory.shift();
      state_.variables.overwrite(phase.shared->id, at, memory.cell_bytes());
    }
    cell.rest = 0;
    cell.write = Record::of(row.segment, last, row.pc);
  } else if (std::has_single_bit(lanes) && (cell.rest == 0 || is_own())) {
    cell.rest = Record::of(row.segment, last, row.pc).bits;
  } else {
    state_.lists.add(cell, {.segment = row.segment, .lanes = lanes, .pc = row.pc}, state_.order);
  }
}

}  // namespace warpcheck::vgpu
