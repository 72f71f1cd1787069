#include "vgpu/check/race/general/deferred/deferred_atomics.hpp"

#include <memory>
#include <utility>

#include "vgpu/check/order/clocks/bits.hpp"
#include "vgpu/check/race/race_class.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

// The variables on which the rows of a log are performed.  Those of a completed era have forgotten
// what came before, and are forgotten in turn when the era ends; numbers of chains go on.
class VariablesOfEras {
 public:
  explicit VariablesOfEras(SyncVariables& present) : present_(present) {}

  SyncVariables& of(std::size_t era, bool is_present) {
    if (past_ != nullptr && (is_present || era != past_era_)) end();
    if (is_present) return present_;
    if (past_ == nullptr) past_ = std::make_unique<SyncVariables>(present_.of_other_time());
    past_era_ = era;
    return *past_;
  }
  void end() {
    if (past_ != nullptr) present_.count_on_from(*past_);
    past_.reset();
  }

 private:
  SyncVariables& present_;
  std::unique_ptr<SyncVariables> past_;
  std::size_t past_era_ = 0;
};

}  // namespace

// If the launch is ordered after all earlier launches, variables have forgotten their state, so a
// new era begins.  With clusters or several devices, scopes mean something else, so the deferred
// rows are performed first.
void DeferredAtomics::begin_launch(const LaunchShape& launch,
                                   std::span<const std::uint32_t> unordered, bool takes) {
  end_launch();
  queued_.begin_launch(*launch.program, takes, unordered.empty());
  if (launch.cluster.count() > 1 || launch.devices > 1) perform_all();
  if (!unordered.empty()) return;
  for (auto& [allocation, log] : logs_) log.begin_era();
}

void DeferredAtomics::begin_block(const WarpPlace& place) {
  if (place.slot >= observers_.size()) observers_.resize(place.slot + 1);
  observers_[place.slot] = 0;
}

// The lanes of a row do not race with atomics of the same size whose scope, like theirs, includes
// all threads.
bool DeferredAtomics::may_defer(const Access& access) const {
  const bool reaches_all = !class_of(access).narrow && !state_.order.launches().has_groups();
  if (access.space != ptx::Space::global || !reaches_all) return false;
  if (access.kind != AccessKind::atomic || !AtomicLog::takes(access) || rows_max_ == 0)
    return false;
  // The values at the time of the operation decide which write a thread waits for.
  return !state_.polls.polls(access) && !state_.takes.takes(access) &&
         !state_.variables.is_polled(access.allocation->id);
}

bool DeferredAtomics::queue(const Access& access) {
  if (!may_defer(access)) return false;
  QueuedAtomics::Taken taken = queued_.take(access);
  if (taken == QueuedAtomics::Taken::no_room) {
    perform_all();
    taken = queued_.take(access);
  }
  if (taken != QueuedAtomics::Taken::yes) return false;
  if (access.program->code[access.pc].opcode != ptx::Opcode::red_) {
    observers_[access.place.slot] |= 1u << access.place.warp;
  }
  return true;
}

bool DeferredAtomics::defer_in_lines(const Access& access, SegmentId now, CellMemory& memory) {
  CellLines* const lines = memory.lines();
  if (lines == nullptr || !may_defer(access)) return false;
  const auto comes_before = [&](SegmentId earlier) {
    return causality_.all_before(earlier, now, access.place);
  };
  const auto for_each_line = [&](auto visit) { return lines->for_each_line(access, visit); };
  const bool is_quiet = for_each_line([&](CellLines::Line& line, std::uint32_t cells) {
    return lines->may_defer(line, cells, access.bytes, comes_before);
  });
  if (!is_quiet) return false;
  for_each_line([&](CellLines::Line& line, std::uint32_t cells) {
    CellLines::defer(line, cells, access.bytes);
    return true;
  });
  add(access, now);
  return true;
}

bool DeferredAtomics::defer(CheckedRow& row) {
  const Access& access = *row.access;
  const AccessClass as = class_of(access);
  if (!row.memory->is_words() || !may_defer(access)) return false;
  const std::uint64_t mark = Cell::deferred(access.bytes);
  bool is_quiet = true;
  for_each_bit(access.mask, [&](unsigned lane) {
    is_quiet =
        is_quiet && may_defer(row, {lane, access.offset[lane], access.bytes, as.index()}, mark);
  });
  if (!is_quiet) return false;
  for_each_bit(access.mask, [&](unsigned lane) {
    row.for_each_cell({lane, access.offset[lane], access.bytes, as.index()},
                      [&](Cell& cell) { cell.rest = mark; });
  });
  add(access, row.now);
  return true;
}

void DeferredAtomics::add(const Access& access, SegmentId now) {
  AtomicLog& log = logs_[access.allocation->id];
  log.add(access, now, state_.order);
  if (access.program->code[access.pc].opcode != ptx::Opcode::red_) {
    observers_[access.place.slot] |= 1u << access.place.warp;
  }
  if (log.rows() >= rows_max_) perform(access.allocation->id);
}

// A cell without entries may have had some before a weak write, and so a variable.  But what that
// variable has released comes before the weak write, and so before every thread that accesses the
// cell now.
bool DeferredAtomics::may_defer(CheckedRow& row, const LaneAccess& mine, std::uint64_t mark) const {
  bool may = true;
  row.for_each_cell(mine, [&](const Cell& cell) {
    may = may && (cell.rest == mark || cell.rest == 0);
    if (cell.write.bits == 0 || !may) return;
    may = causality_.all_before(row, cell.write.segment()) ||
          causality_.is_before(row, cell.write.segment(), cell.write.lane(), mine.lane);
  });
  return may;
}

bool DeferredAtomics::meets(const CheckedRow& row) const {
  const Access& access = *row.access;
  if (!logs_.contains(access.allocation->id)) return false;
  bool meets = false;
  for_each_bit(access.mask, [&](unsigned lane) {
    row.for_each_cell({lane, access.offset[lane], access.bytes, 0},
                      [&](const Cell& cell) { meets = meets || cell.is_deferred(); });
  });
  return meets;
}

void DeferredAtomics::perform_rows(AtomicLog& log, SegmentId first, const BeforeRow& before_row) {
  if (log.is_empty()) return;
  const AtomicLog rows = std::exchange(log, {});
  VariablesOfEras variables(state_.variables);
  const auto first_block_of = [&](std::uint32_t launch) {
    return state_.launches[launch].first_block;
  };
  CheckedRow checked;
  checked.memory = &state_.memories.of(rows.allocation());
  rows.for_each(state_.order, first_block_of,
                [&](const AtomicLog::Row& row, const Access& access, std::size_t era) {
                  if (before_row) before_row(row);
                  checked.access = &access;
                  checked.now = row.segment;
                  perform_row(rows, row, checked, first,
                              variables.of(era, era == rows.present_era()));
                });
  variables.end();
}

void DeferredAtomics::perform_row(const AtomicLog& rows, const AtomicLog::Row& row,
                                  const CheckedRow& checked, SegmentId first,
                                  SyncVariables& variables) {
  ++state_.work.in_cells;
  const Access& access = *checked.access;
  checked.memory->to_cells(access, state_.lists, state_.order);
  const BlockKey block = state_.order.segments().at(row.segment).block;
  const bool is_present = state_.order.threads().is_in_slot(block, row.slot);
  const unsigned access_class = class_of(access).index();
  StrongOperation operation(access);
  operation.block = block;
  operation.is_present = is_present;
  for_each_bit(row.mask, [&](unsigned lane) {
    const LaneAccess mine{lane, access.offset[lane], access.bytes, access_class};
    StrongOperations::set_lane(operation, mine);
    operation.fences = rows.fences_of(row, lane);
    checked.for_each_cell(mine, [&](Cell& cell) {
      if (cell.is_deferred()) cell.rest = 0;
      if (first != 0) state_.lists.forget_before(cell, first);
    });
    strong_.perform(checked, operation, access_class, variables);
  });
}

void DeferredAtomics::perform(std::uint32_t allocation) {
  if (const auto found = logs_.find(allocation); found != logs_.end()) {
    AtomicLog log = std::move(found->second);
    logs_.erase(found);
    perform_rows(log, 0);
  }
  if (!queued_.has_rows_of(allocation)) return;
  settle();
  AtomicLog log = queued_.take_rows(allocation);
  perform_rows(log, 0);
}

void DeferredAtomics::perform_all() {
  while (!logs_.empty()) perform(logs_.begin()->first);
  for (std::uint32_t id = 0; (id = queued_.next_with_rows(id, false)) != ptx::kNone;) perform(id);
}

void DeferredAtomics::perform_observed() {
  for (auto at = logs_.begin(); at != logs_.end();) {
    const std::uint32_t allocation = at->first;
    const bool matters = at->second.has_releases() && at->second.has_observers();
    ++at;
    if (matters) perform(allocation);
  }
  for (std::uint32_t id = 0; (id = queued_.next_with_rows(id, true)) != ptx::kNone;) perform(id);
}

void DeferredAtomics::overwrite(std::uint32_t allocation, std::uint32_t offset,
                                std::uint32_t bytes) {
  if (queued_.has_rows_of(allocation)) return perform(allocation);
  const auto found = logs_.find(allocation);
  if (found == logs_.end()) return;
  const AtomicLog::Extent& extent = found->second.extent();
  if (extent.is_in(offset, bytes)) {
    found->second.begin_era();
  } else if (extent.meets(offset, bytes)) {
    perform(allocation);
  }
}

}  // namespace warpcheck::vgpu
