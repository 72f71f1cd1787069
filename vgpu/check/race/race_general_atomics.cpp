// Strong operations in the general race checker: their checks, their effects on synchronisation
// variables, and deferred rows of relaxed atomics (atomic_log.hpp).
//
// A cell whose list does not yet contain its deferred rows is marked (Cell::is_deferred), so any
// other access to the cell performs them first.  Deferred rows are performed in their order, each
// with the knowledge that its threads had at its time.
#include <algorithm>
#include <optional>
#include <utility>

#include "vgpu/check/order/bits.hpp"
#include "vgpu/check/race/race_general.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::size_t kMissesMax = 16;  // remembered per block

}  // namespace

// The lanes of one row never race with each other here, because they overlap completely or not at
// all.  All lanes are checked before the first one acquires anything.
void GeneralRaceChecker::check_strong(Row& row) {
  const Access& access = *row.access;
  const std::uint32_t elements = access.elements();
  const std::uint32_t bytes = access.bytes / elements;
  AccessClass reads = class_of(access);
  reads.write = reads.atomic = false;
  const auto for_each_lane_access = [&](auto visit) {
    for_each_bit(access.mask, [&](unsigned lane) {
      const bool only_reads = (access.unwritten >> lane & 1) != 0;
      const unsigned access_class = (only_reads ? reads : class_of(access)).index();
      for (std::uint32_t i = 0; i < elements; ++i) {
        visit(LaneAccess{lane, access.offset[lane] + i * bytes, bytes, access_class});
      }
    });
  };
  const auto check_cells = [&] {
    for_each_lane_access([&](const LaneAccess& mine) {
      for_each_cell(row, mine, [&](Cell& cell) { check(row, mine, cell); });
    });
  };
  check_cells();
  if (asks_again(row)) check_cells();
  for_each_lane_access([&](const LaneAccess& mine) { perform_strong(row, mine); });
}

StrongOperation GeneralRaceChecker::operation_of(const Access& access,
                                                 const LaneAccess& mine) const {
  StrongOperation operation;
  operation.access = &access;
  operation.lane = mine.lane;
  operation.offset = mine.offset;
  operation.bytes = static_cast<std::uint8_t>(mine.bytes);
  operation.reads = access.kind != AccessKind::write;
  operation.writes = AccessClass::of_index(mine.access_class).write;
  operation.may_acquire = access.program->code[access.pc].opcode != ptx::Opcode::red_;
  return operation;
}

void GeneralRaceChecker::perform_strong(const Row& row, const LaneAccess& mine) {
  const Access& access = *row.access;
  StrongOperation operation = operation_of(access, mine);
  operation.block = order_.block_key(access.place);
  operation.fences = &order_.lane_at(access.place, mine.lane).fence;
  if (access.sources != nullptr) {
    const std::uint32_t element = (mine.offset - access.offset[mine.lane]) / mine.bytes;
    operation.source = access.sources[mine.lane * 4 + element];
  }
  perform(row, operation, mine.access_class, variables_);
}

void GeneralRaceChecker::perform(const Row& row, const StrongOperation& operation,
                                 unsigned access_class, SyncVariables& variables) {
  const Access& access = *row.access;
  Miss miss;
  // An asynchronous operation is not part of the synchronisation patterns of the thread that began
  // it.
  const ChainPlace place = access.asynchronous ? ChainPlace{} : variables.perform(operation, miss);
  if (miss.missed != Missed::nothing && operation.is_present) {
    std::vector<Miss>& misses = misses_[access.place.slot];
    if (misses.size() == kMissesMax) misses.erase(misses.begin());
    misses.push_back(miss);
  }
  CellEntry entry;
  entry.segment = row.now;
  entry.lanes = 1u << operation.lane;
  entry.pc = access.pc;
  entry.access_class = static_cast<std::uint8_t>(access_class);
  entry.observes = operation.reads;
  entry.place = place;
  const LaneAccess mine{operation.lane, operation.offset, operation.bytes, access_class};
  for_each_cell(row, mine, [&](Cell& cell) { lists_.add(cell, entry, order_); });
}

// Defers the row if its lanes race with nothing and its effects can wait.  Its lanes do not race
// with atomics of the same size whose scope, like theirs, includes all threads.
bool GeneralRaceChecker::defer(Row& row) {
  const Access& access = *row.access;
  const AccessClass as = class_of(access);
  const bool reaches_all = !as.narrow && !order_.has_groups();
  if (access.space != ptx::Space::global || !reaches_all || !row.memory->is_words()) return false;
  if (!AtomicLog::takes(access) || deferred_max_ == 0) return false;
  const std::uint64_t mark = Cell::deferred(access.bytes);
  bool is_quiet = true;
  for_each_bit(access.mask, [&](unsigned lane) {
    is_quiet =
        is_quiet && may_defer(row, {lane, access.offset[lane], access.bytes, as.index()}, mark);
  });
  if (!is_quiet) return false;
  for_each_bit(access.mask, [&](unsigned lane) {
    for_each_cell(row, {lane, access.offset[lane], access.bytes, as.index()},
                  [&](Cell& cell) { cell.rest = mark; });
  });
  AtomicLog& log = deferred_[access.allocation->id];
  log.add(access, row.now, order_);
  if (access.program->code[access.pc].opcode != ptx::Opcode::red_) {
    phases_[access.place.slot].observers |= 1u << access.place.warp;
  }
  if (log.rows() >= deferred_max_) perform_deferred(access.allocation->id);
  return true;
}

// A cell without entries may have had some before a weak write, and so a variable.  But what that
// variable has released comes before the weak write, and so before every thread that accesses the
// cell now.
bool GeneralRaceChecker::may_defer(Row& row, const LaneAccess& mine, std::uint64_t mark) {
  bool may = true;
  for_each_cell(row, mine, [&](const Cell& cell) {
    may = may && (cell.rest == mark || cell.rest == 0);
    if (cell.write.bits == 0 || !may) return;
    may = all_before(row, cell.write.segment()) ||
          is_before(row, cell.write.segment(), cell.write.lane(), mine.lane);
  });
  return may;
}

bool GeneralRaceChecker::meets_deferred(const Row& row) const {
  const Access& access = *row.access;
  if (!deferred_.contains(access.allocation->id)) return false;
  bool meets = false;
  for_each_bit(access.mask, [&](unsigned lane) {
    for_each_cell(row, {lane, access.offset[lane], access.bytes, 0},
                  [&](const Cell& cell) { meets = meets || cell.is_deferred(); });
  });
  return meets;
}

// Drops what a cell of shared memory holds from earlier phases.
void GeneralRaceChecker::forget_before(Cell& cell, ThreadOrder::SegmentId first) {
  const auto is_old = [&](ThreadOrder::SegmentId segment) { return segment < first; };
  if (is_old(cell.write.segment())) cell.write = {};
  if (cell.has_list()) {
    lists_.filter(cell, [&](const CellEntry& entry) { return !is_old(entry.segment); });
  } else if (is_old(Record{cell.rest}.segment())) {
    cell.rest = 0;
  }
}

// Performs all rows of a log and empties it.
//   first: the first segment of the phase, for shared memory
void GeneralRaceChecker::perform_rows(AtomicLog& log, ThreadOrder::SegmentId first) {
  if (log.is_empty()) return;
  AtomicLog rows = std::exchange(log, {});
  std::optional<SyncVariables> past;  // the variables of a completed era
  std::size_t past_era = 0;
  CellMemory& memory = memory_of(rows.allocation(), 4);
  const auto first_block_of = [&](std::uint32_t launch) { return launches_[launch].first_block; };
  rows.for_each(order_, first_block_of,
                [&](const AtomicLog::Row& from, const Access& access, std::size_t era) {
                  if (era != rows.present_era() && (!past || past_era != era)) {
                    if (past) variables_.count_on_from(*past);
                    past.emplace(variables_.of_other_time());
                    past_era = era;
                  } else if (era == rows.present_era() && past) {
                    variables_.count_on_from(*past);
                    past.reset();
                  }
                  Row row;
                  row.access = &access;
                  row.memory = &memory;
                  row.now = from.segment;
                  const BlockKey block = order_.segment(from.segment).block;
                  const bool is_present = order_.is_in_slot(block, from.slot);
                  const unsigned access_class = class_of(access).index();
                  for_each_bit(from.mask, [&](unsigned lane) {
                    const LaneAccess mine{lane, access.offset[lane], access.bytes, access_class};
                    StrongOperation operation = operation_of(access, mine);
                    operation.block = block;
                    operation.is_present = is_present;
                    operation.fences = rows.fences_of(from, lane);
                    for_each_cell(row, mine, [&](Cell& cell) {
                      if (cell.is_deferred()) cell.rest = 0;
                      if (first != 0) forget_before(cell, first);
                    });
                    perform(row, operation, access_class, past ? *past : variables_);
                  });
                });
  if (past) variables_.count_on_from(*past);
}

void GeneralRaceChecker::perform_deferred(std::uint32_t allocation) {
  const auto found = deferred_.find(allocation);
  if (found == deferred_.end()) return;
  AtomicLog log = std::move(found->second);
  deferred_.erase(found);
  perform_rows(log, 0);
}

void GeneralRaceChecker::perform_all_deferred() {
  while (!deferred_.empty()) perform_deferred(deferred_.begin()->first);
}

// Called before a fence.  The fence may acquire what its threads have read before, so deferred
// reads that have observed a release are performed.  Rows of this phase come before the fence and
// do not carry its release, so they are moved to cells.
void GeneralRaceChecker::perform_before(const Fence& fence) {
  Phase& phase = phases_[fence.place.slot];
  if (phase.log.is_open() && !phase.log.atomics().is_empty()) move_to_cells(phase);
  if (fence.order == ptx::Order::release || (phase.observers >> fence.place.warp & 1) == 0) return;
  perform_observed();
}

// Performs the rows by which threads may have observed a release.
void GeneralRaceChecker::perform_observed() {
  for (auto at = deferred_.begin(); at != deferred_.end();) {
    const std::uint32_t allocation = at->first;
    const bool matters = at->second.has_releases() && at->second.has_observers();
    ++at;
    if (matters) perform_deferred(allocation);
  }
}

// Begins deferring for a launch.  If it is ordered after all earlier launches, variables have
// forgotten their state, so a new era begins.  With clusters or several devices, scopes mean
// something else, so the deferred rows are performed first.
void GeneralRaceChecker::begin_deferring(const LaunchShape& launch,
                                         std::span<const std::uint32_t> unordered) {
  if (launch.cluster.count() > 1 || launch.devices > 1) perform_all_deferred();
  if (!unordered.empty()) return;
  for (auto& [allocation, log] : deferred_) log.begin_era();
}

// Bytes are overwritten by an access that is not a strong write.
void GeneralRaceChecker::overwrite(const Allocation& allocation, std::uint32_t offset,
                                   std::uint32_t bytes) {
  const auto found = deferred_.find(allocation.id);
  if (found != deferred_.end()) {
    const AtomicLog::Extent& extent = found->second.extent();
    if (extent.is_in(offset, bytes)) {
      found->second.begin_era();
    } else if (extent.meets(offset, bytes)) {
      perform_deferred(allocation.id);
    }
  }
  variables_.overwrite(allocation.id, offset, bytes);
}

bool GeneralRaceChecker::has_deferred(const WarpPlace& place) {
  Phase& phase = phases_[place.slot];
  return !deferred_.empty() || (phase.log.is_open() && !phase.log.atomics().is_empty());
}

// Returns whether a race was found that could not be explained before the deferred rows are
// performed; performs them.
bool GeneralRaceChecker::asks_again(const Row& row) {
  if (!std::exchange(asks_again_, false)) return false;
  Phase& phase = phases_[row.access->place.slot];
  if (phase.log.is_open() && !phase.log.atomics().is_empty()) move_to_cells(phase);
  perform_all_deferred();
  return true;
}

}  // namespace warpcheck::vgpu
