#include "vgpu/check/race/general/race_general.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "vgpu/check/order/clocks/bits.hpp"
#include "vgpu/check/race/general/deferred/slot_time.hpp"
#include "vgpu/check/race/stored_bytes.hpp"
#include "vgpu/machine/compute/simd.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

GeneralRaceChecker::GeneralRaceChecker(Reporter& reporter, CollectiveOrder& collectives,
                                       const RaceRowFunctions& functions, const EpochLimits& limits)
    : Checker(reporter),
      segments_kept_(limits.segments),
      tidy_at_(limits.segments),
      state_(limits.has_lines),
      deferred_(state_, causality_, strong_, limits.deferred, limits.queue_chunks),
      reads_(state_, deferred_, functions.runs, limits.queue_chunks),
      reports_(reporter, collectives, state_),
      runs_(functions.runs),
      checks_(state_, causality_, phases_, deferred_, reports_),
      weak_(functions, state_, causality_, checks_),
      host_(reporter, state_, deferred_, reports_) {
  reset({});
}

void GeneralRaceChecker::reset(WarpModel model) {
  counted_.clear();
  if (is_idle_ && model == model_) return;
  is_idle_ = true;
  model_ = model;
  state_.order.reset(model);
  tidy_at_ = segments_kept_;
  phases_.close();
  deferred_.clear();
  reads_.clear();
  checks_.clear();
  causality_.forget_answers();
  reports_.forget_answers();
  weak_.forget_tiles();
  state_.variables.reset();
  state_.polls.reset();
  state_.takes.reset();
  state_.lists.clear();
  state_.memories.clear();
  state_.launches.clear();
  state_.missed.clear();
  state_.work = {};
  state_.barrier_objects.clear();
  state_.cluster_order.clear();
  state_.proxy_fences.clear();
  state_.map_fences.clear();
  owners_.clear();
  is_running_ = false;
  beside_.clear();
  suspended_.clear();
}

// Begins the launches that were only counted, because the checker now needs its state.
void GeneralRaceChecker::catch_up() {
  is_idle_ = false;
  counted_.begin_all([&](const LaunchShape& shape) { begin_launch(shape); });
}

void GeneralRaceChecker::begin_launch(const LaunchShape& launch,
                                      std::span<const std::uint32_t> unordered,
                                      std::uint32_t early_after) {
  const std::vector<std::uint32_t> beside = std::exchange(beside_, {});
  polls_.forget();
  const bool is_alone =
      unordered.empty() && beside.empty() && early_after == ptx::kNone && launch.launched_as == 0;
  reads_.begin_launch(is_alone);
  deferred_.begin_launch(launch, unordered, is_alone);
  state_.order.begin_launch(launch, unordered, early_after);
  state_.order.begin_beside(beside);
  state_.launches.push_back({launch.program, launch.grid, launch.block,
                             state_.order.launches().first_block(), state_.order.segments().count(),
                             launch.launched_as != 0});
  causality_.begin_launch(state_.launches[state_.order.launches().first_unordered()].first_segment);
  phases_.begin_launch(*launch.program);
  reports_.begin_launch();
  if (!beside.empty()) return;
  suspended_.clear();
  if (unordered.empty()) state_.variables.forget_all();
  state_.barrier_objects.clear();
  state_.cluster_order.clear();
  state_.proxy_fences.clear();
  state_.map_fences.clear();
}

void GeneralRaceChecker::begins_beside(std::span<const std::uint32_t> suspended) {
  catch_up();
  if (is_running_) suspend();
  beside_.assign(suspended.begin(), suspended.end());
}

void GeneralRaceChecker::suspend() {
  is_running_ = false;
  end_queues();
  Suspended& suspended = suspended_[state_.order.launches().current()];
  suspended.deferred = deferred_.suspend();
  suspended.phases = phases_.suspend();
  suspended.missed = std::exchange(state_.missed, {});
  suspended.first_unordered = causality_.first_unordered();
  state_.order.suspend();
}

void GeneralRaceChecker::resumes(const ResumedLaunch& resumed) {
  polls_.forget();
  end_queues();
  if (!is_running_ || resumed.launch != state_.order.launches().current()) {
    if (is_running_) suspend();
    Suspended suspended = std::move(suspended_.at(resumed.launch));
    suspended_.erase(resumed.launch);
    deferred_.resume(std::move(suspended.deferred));
    phases_.resume(std::move(suspended.phases));
    state_.missed = std::move(suspended.missed);
    causality_.begin_launch(suspended.first_unordered);
    state_.order.resume(resumed.launch);
    is_running_ = true;
  }
  if (!resumed.known.empty()) phases_.settle_all();
  state_.order.learn_of(resumed.known);
}

void GeneralRaceChecker::begin_block(const Sync& sync) {
  begin_event();
  state_.order.begin_block(sync.place);
  state_.missed.begin_block(sync.place.slot);
  if (sync.shared != nullptr) {
    state_.variables.forget(sync.shared->id);
    owners_.begin_block(sync.place, *sync.shared);
    state_.barrier_objects.forget(sync.shared->id);
  }
  deferred_.begin_block(sync.place);
  phases_.begin_block(sync.place, sync.shared);
  if (AccessRecord* const record = record_of(sync.place.slot)) {
    record->time = SlotTime::of(sync.place.slot);
  }
}

void GeneralRaceChecker::on_sync(const Sync& sync) {
  switch (sync.kind) {
    case Sync::Kind::kernel_start:
      catch_up();
      begin_launch(shape_of(sync), sync.unordered_launches, sync.early_after);
      is_running_ = true;
      break;
    case Sync::Kind::block_start: begin_block(sync); break;
    case Sync::Kind::barrier_complete:
      begin_event();
      deferred_.perform_observed_by_block(sync.place);
      state_.order.complete_barrier(sync.place);
      state_.barrier_objects.complete_barrier(sync.place);
      phases_.begin_phase(sync.place);
      break;
    case Sync::Kind::block_end:
      phases_.end_block(sync.place);
      state_.order.end_block(sync.place);
      if (sync.shared != nullptr) end_shared(sync);
      break;
    case Sync::Kind::kernel_end:
      end_queues();
      is_running_ = false;
      break;
  }
}

void GeneralRaceChecker::on_fence(const Fence& fence) {
  catch_up();
  settle(fence.place);
  if (fence.controls_grids()) return state_.order.control_grids(fence);
  if (fence.proxy) return state_.proxy_fences.add(fence);
  if (fence.object_inits) return state_.cluster_order.fence_object_inits(fence);
  // Rows of this phase come before the fence and do not carry its release.
  phases_.perform_atomics(fence.place.slot);
  // The fence may acquire what its threads have read before.
  if (fence.order != ptx::Order::release) deferred_.perform_observed_by_warp(fence.place);
  state_.order.fences().fence(fence);
  if (fence.program->code[fence.pc].modifiers.tensor_map) state_.map_fences.add(fence);
}

// The shared memory of a block ends when all its threads have exited, so each access by another
// block, and each by an asynchronous copy, must come before the exit of some thread of the owner.
// Arrivals at an mbarrier have been made, whatever their scopes are, when a thread has seen the
// phase complete; so are the copies that it counts.
void GeneralRaceChecker::end_shared(const Sync& sync) {
  const auto& uses = owners_.uses_of(*sync.shared);
  if (uses.empty() || !sync.has_ended) return;
  const VectorClock known = state_.order.threads().knowledge_of_block(sync.place);
  VectorClock seen = known;
  state_.barrier_objects.add_seen(sync.shared->id, seen);
  for (const SharedOwners::Use& use : uses) {
    const bool is_counted =
        use.is_copy || sync.program->code[use.pc].kind == InstrKind::barrier_object;
    std::uint32_t late = 0;
    for_each_bit(use.lanes, [&](unsigned lane) {
      if (!state_.order.knows(is_counted ? seen : known, use.segment, lane)) late |= 1u << lane;
    });
    if (late != 0) reports_.report_late(sync, use, static_cast<unsigned>(std::countr_zero(late)));
  }
}

SegmentId GeneralRaceChecker::segment_of(const Access& access) {
  if (!access.asynchronous) return state_.order.segment_of(access.place, false);
  if (access.object != nullptr) {
    return state_.order.copies().segment_of_object(
        access.place, {owners_.block_of(*access.object), access.object_offset}, access.async_proxy);
  }
  if (!access.async_proxy) {
    const bool of_warp = access.program->code[access.pc].opcode == ptx::Opcode::tensormap_;
    return of_warp ? state_.order.copies().segment_of_warp_copies(access.place)
                   : state_.order.segment_of(access.place, true);
  }
  const InstrKind kind = access.program->code[access.pc].kind;
  if (kind == InstrKind::group_load || kind == InstrKind::tensor_memory) {
    return state_.order.copies().segment_of_products(access.place);
  }
  return state_.order.copies().segment_of_group(access.place, access.kind == AccessKind::read);
}

//   first: the offset of lane 0, if the lanes are neighbours
template <typename AnyAccess>
inline CellMemory& GeneralRaceChecker::memory_of(const AnyAccess& access, std::int64_t first) {
  if (access.space == ptx::Space::global) {
    reads_.leave(access.allocation->id);
    deferred_.leave(access.allocation->id);
  }
  CellMemory& memory = state_.memories.of(*access.allocation);
  CellBytes bytes{0, access.allocation->limit()};
  if (access.pattern == Pattern::strided) {
    const std::int64_t end = first + std::int64_t{kWarpLanes} * access.bytes;
    bytes.begin = static_cast<std::uint32_t>(std::max<std::int64_t>(first, 0));
    bytes.end = static_cast<std::uint32_t>(std::min<std::int64_t>(end, bytes.end));
  }
  memory.note(state_.order.launches().current(), bytes);
  return memory;
}

CellMemory& GeneralRaceChecker::memory_of(const Access& access) {
  const unsigned lane = access.first_lane();
  return memory_of(access, std::int64_t{access.offset[lane]} - std::int64_t{lane} * access.bytes);
}

CheckedRow GeneralRaceChecker::row_of(const Access& access) {
  ++state_.work.in_cells;
  CheckedRow row;
  row.access = &access;
  row.proxy = proxy_of(access);
  row.memory = &memory_of(access);
  if (access.bytes < row.memory->cell_bytes()) {
    deferred_.perform(access.allocation->id);
    row.memory->narrow_to(access.bytes, state_.lists, state_.order);
  }
  row.memory->to_cells(access, state_.lists, state_.order);
  row.now = segment_of(access);
  if (access.space == ptx::Space::shared) {
    row.first = phases_.are_ordered() ? phases_.first_segment(access.place.slot)
                                      : owners_.first_segment_of(access);
    owners_.remember(access, row.now);
  }
  causality_.begin(row);
  return row;
}

// Queues a row of atomics if the launch has accessed the memory by nothing else.
bool GeneralRaceChecker::queue_atomics(const Access& access) {
  const std::uint32_t id = access.allocation->id;
  if (reads_.is_open(id)) return false;
  if (!deferred_.is_queue_open(id)) reads_.leave(id);
  return deferred_.queue(access);
}

void GeneralRaceChecker::on_access(const Access& access) {
  // No other space can be shared between threads and written.
  if (access.space != ptx::Space::shared && access.space != ptx::Space::global) return;
  if (state_.order.segments().count() >= tidy_at_) tidy_up();
  settle_queues();
  const bool is_poll = RepeatedPolls::is_poll(access);
  if (is_poll && polls_.repeats(access)) return;
  if (!is_poll) polls_.forget();
  if (access.space == ptx::Space::shared && phases_.take(access)) return;
  if (access.space == ptx::Space::global) {
    if (access.kind == AccessKind::atomic && queue_atomics(access)) return;
    const bool is_weak = access.kind != AccessKind::atomic && access.order == ptx::Order::weak;
    const std::int64_t first =
        std::int64_t{access.offset[access.first_lane()]} - access.first_lane() * access.bytes;
    const bool is_plain = is_weak && proxy_of(access) == Proxy::generic;
    if (is_plain && take_in_lines(access, segment_of(access), first, access.offset.data())) return;
    if (access.kind == AccessKind::atomic && defer_in_lines(access)) return;
  }
  CheckedRow row = row_of(access);
  if (deferred_.defer(row)) return;
  if (deferred_.meets(row)) deferred_.perform(access.allocation->id);
  if (class_of(access).strong) {
    check_strong(row);
    if (is_poll && !checks_.has_found()) polls_.remember(access);
  } else {
    weak_.check(row);
  }
}

bool GeneralRaceChecker::takes_row(const RowAccess& access) {
  if (state_.order.segments().count() >= tidy_at_) return false;
  if (access.space == ptx::Space::shared) return phases_.take(access);
  if (access.space == ptx::Space::global && reads_.take(access)) return true;
  if (access.kind == AccessKind::write) polls_.forget();
  return access.space == ptx::Space::global &&
         take_in_lines(access, state_.order.segment_of(access.place, false), start_of(access.first),
                       access.offsets);
}

bool GeneralRaceChecker::takes_product(const ProductRead& read) {
  if (state_.order.segments().count() >= tidy_at_ || phases_.are_ordered()) return false;
  if (deferred_.has_rows_of(read.allocation->id)) return false;
  CellMemory& memory = state_.memories.of(*read.allocation);
  if (memory.lines() != nullptr) return false;
  memory.note(state_.order.launches().current(), {0, read.allocation->limit()});
  of_product_.allocation = read.allocation;
  of_product_.program = read.program;
  of_product_.place = read.place;
  of_product_.pc = read.pc;
  of_product_.space = ptx::Space::shared;
  of_product_.kind = AccessKind::read;
  of_product_.bytes = ProductRead::kChunkBytes;
  of_product_.asynchronous = of_product_.async_proxy = true;
  CheckedRow row;
  row.access = &of_product_;
  row.proxy = Proxy::async;
  row.memory = &memory;
  row.now = state_.order.copies().segment_of_products(read.place);
  row.first = owners_.first_segment_of(of_product_);
  causality_.begin(row);
  if (!weak_.take_product(row, read)) return false;
  of_product_.mask = read.is_of_warp() ? ~0u : 1u << read.first_lane;
  of_product_.offset.fill(read.chunks.front());
  owners_.remember(of_product_, row.now);
  return true;
}

// Tiles with rows shorter than a warp give a few runs of neighbouring lanes, each of which is taken
// as a row.
//   first: the offset of lane 0, if the lanes are neighbours
template <typename AnyAccess>
bool GeneralRaceChecker::take_in_lines(const AnyAccess& access, SegmentId now, std::int64_t first,
                                       const std::uint32_t* offsets) {
  constexpr std::uint32_t kRunsMax = 8;
  if (access.pattern == Pattern::uniform || access.bytes < 4) return false;
  CellLines* const lines = memory_of(access, first).lines();
  if (lines == nullptr) return false;
  CellLines::Part part;
  part.segment = now;
  part.pc = access.pc;
  part.write = access.kind == AccessKind::write;
  const auto take = [&](std::int64_t start, std::uint32_t lanes) {
    const RowOfCells row = CellLines::row_of(start, lanes, access.bytes);
    return weak_.take_in_lines(access.place, part, row, *lines);
  };
  if (access.pattern == Pattern::strided) return take(first, access.mask);
  const LaneRuns runs = runs_(offsets, access.mask, access.bytes);
  if (runs.count > kRunsMax) return false;
  return for_each_run_of(runs, offsets, access.mask, access.bytes, take);
}

// The lanes of one row never race with each other here, because they overlap completely or not at
// all.  All lanes are checked before the first one acquires anything.
void GeneralRaceChecker::check_strong(CheckedRow& row) {
  const Access& access = *row.access;
  const std::uint32_t elements = access.elements();
  const std::uint32_t bytes = access.bytes / elements;
  AccessClass reads = class_of(access);
  const unsigned whole = reads.index();
  reads.write = reads.atomic = false;
  const auto for_each_lane_access = [&](auto visit) {
    for_each_bit(access.mask, [&](unsigned lane) {
      const bool only_reads = (access.unwritten >> lane & 1) != 0;
      const unsigned access_class = only_reads ? reads.index() : whole;
      for (std::uint32_t i = 0; i < elements; ++i) {
        visit(LaneAccess{lane, access.offset[lane] + i * bytes, bytes, access_class});
      }
    });
  };
  checks_.run(row, [&] {
    for_each_lane_access([&](const LaneAccess& mine) {
      row.for_each_cell(mine, [&](Cell& cell) { checks_.check(row, mine, cell); });
    });
  });
  if (access.kind == AccessKind::write) check_lanes_of_store(row);
  phases_.settle(access.place);
  StrongOperation operation = strong_.begin(row);
  for_each_lane_access([&](const LaneAccess& mine) { strong_.perform(row, operation, mine); });
}

// Lanes that store different values to one place by one strong store do not race, but which of the
// values stays is chance.
void GeneralRaceChecker::check_lanes_of_store(const CheckedRow& row) {
  const Access& access = *row.access;
  const bool hands_on =
      !access.program->data_reads.empty() && !state_.order.threads().is_lockstep();
  if (!hands_on || access.asynchronous || !is_relaxed_access(access.program->code[access.pc]) ||
      !lanes_meet(access) || is_one_value(access)) {
    return;
  }
  const unsigned access_class = class_of(access).index();
  for_each_bit(access.mask, [&](unsigned lane) {
    const auto is_same = [&](unsigned other) {
      return access.offset[other] == access.offset[lane];
    };
    std::uint32_t before = access.mask & ((1u << lane) - 1);
    for_each_bit(before, [&](unsigned other) {
      if (!is_same(other)) before &= ~(1u << other);
    });
    if (before == 0 || stores_same_bytes(access, lane)) return;
    const auto other = static_cast<unsigned>(31 - std::countl_zero(before));
    reports_.report(row, {lane, access.offset[lane], access.bytes, access_class},
                    {.segment = row.now,
                     .lane = other,
                     .pc = access.pc,
                     .access_class = access_class,
                     .is_handed = true,
                     .offset = access.offset[lane]});
  });
}

void GeneralRaceChecker::recall(const RecalledAccess& recalled) {
  catch_up();
  reads_.leave(recalled.allocation);
  deferred_.leave(recalled.allocation);
  deferred_.perform(recalled.allocation);
  CellMemory& memory =
      state_.memories.of(recalled.allocation, recalled.allocation_bytes, recalled.is_global);
  memory.narrow_to(recalled.bytes, state_.lists, state_.order);
  memory.note(recalled.launch, {recalled.offset, recalled.offset + recalled.bytes});
  const unsigned lane = recalled.thread % kWarpLanes;
  const SegmentId segment = state_.order.segments().past(
      recalled.launch, state_.launches[recalled.launch].first_block + recalled.block,
      recalled.thread / kWarpLanes, recalled.phase);
  if (memory.take_past(recalled, segment, state_.order.segments())) return;
  memory.to_cells(recalled.offset, recalled.offset + recalled.bytes, state_.lists, state_.order);
  CellEntry entry;
  entry.segment = segment;
  entry.lanes = 1u << lane;
  entry.pc = recalled.pc;
  entry.access_class = static_cast<std::uint8_t>(recalled.access_class);
  const std::uint32_t end = (recalled.offset + recalled.bytes - 1) >> memory.shift();
  for (std::uint32_t at = recalled.offset >> memory.shift(); at <= end; ++at) {
    state_.lists.add_past(memory.cells()[at], entry, state_.order);
  }
}

void GeneralRaceChecker::on_free(const Allocation& allocation) {
  if (is_idle_) return;
  catch_up();
  polls_.forget();
  state_.memories.forget(allocation.id);
  weak_.forget_tiles();
  deferred_.forget(allocation.id);
  reads_.forget(allocation.id);
  state_.variables.forget(allocation.id);
}

// Bytes are overwritten by an access that is not a strong write by a thread.
void GeneralRaceChecker::overwrite(const Allocation& allocation, std::uint32_t offset,
                                   std::uint32_t bytes) {
  deferred_.overwrite(allocation.id, offset, bytes);
  state_.variables.overwrite(allocation.id, offset, bytes);
}

void GeneralRaceChecker::check_host(const HostAccess& access, const LibraryOperand* operand) {
  if (!access.unordered_launches.empty()) reads_.perform(access.allocation->id);
  host_.check(access, operand);
}

// Launches that are not ordered before the host's access race with it as with any other access.
// While the checker has only counted launches, no access of a launch is known, so nothing can race.
void GeneralRaceChecker::on_host_access(const HostAccess& access) {
  if (is_idle_) return;
  catch_up();
  polls_.forget();
  if (access.write) overwrite(*access.allocation, access.offset, access.bytes);
  check_host(access);
}

void GeneralRaceChecker::on_late_host_access(const HostAccess& access) {
  if (is_idle_) return;
  catch_up();
  check_host(access);
}

void GeneralRaceChecker::on_device_copy(const DeviceCopy& copy) {
  if (is_idle_) return;
  catch_up();
  polls_.forget();
  overwrite(*copy.target, copy.target_offset, copy.bytes);
  HostAccess access;
  access.bytes = copy.bytes;
  access.unordered_launches = copy.unordered_launches;
  access.call = copy.call;
  access.allocation = copy.source;
  access.offset = copy.source_offset;
  check_host(access);
  access.allocation = copy.target;
  access.offset = copy.target_offset;
  access.write = true;
  check_host(access);
}

void GeneralRaceChecker::on_operand(const OperandAccess& access) {
  if (is_idle_) return;
  catch_up();
  polls_.forget();
  if (access.write) overwrite(*access.allocation, access.offset, access.bytes);
  on_late_operand(access);
}

void GeneralRaceChecker::on_late_operand(const OperandAccess& operand) {
  if (is_idle_) return;
  catch_up();
  HostAccess access;
  access.allocation = operand.allocation;
  access.offset = operand.offset;
  access.bytes = operand.bytes;
  access.write = operand.write;
  access.unordered_launches = operand.unordered_launches;
  check_host(access, operand.operand);
}

// Calls visit(segment) for every variable that holds the number of a segment whose accesses are
// still recorded.
template <typename Visit>
void GeneralRaceChecker::for_each_segment(Visit visit) {
  const auto visit_record = [&](Record record) {
    SegmentId segment = record.segment();
    visit(segment);
    return record.in(segment);
  };
  state_.memories.for_each([&](CellMemory& memory) {
    if (CellLines* const lines = memory.lines()) {
      lines->for_each_record([&](CellLines::Part& part) { visit(part.segment); });
    }
    memory.for_each_seen([&](Cell& cell, std::size_t) {
      if (cell.write.bits != 0) cell.write = visit_record(cell.write);
      if (cell.rest != 0 && !cell.has_list()) cell.rest = visit_record({cell.rest}).bits;
    });
  });
  state_.lists.for_each([&](CellList& list) {
    for (CellEntry& entry : list.entries) visit(entry.segment);
  });
  phases_.for_each_segment(visit);
  for (auto& [launch, other] : suspended_) SharedPhases::for_each_segment(other.phases, visit);
  deferred_.for_each_segment(visit);
  reads_.for_each_segment(visit);
  owners_.for_each_segment(visit);
  state_.proxy_fences.for_each_segment(visit);
  state_.map_fences.for_each_segment(visit);
}

// Forgets segments that no cell refers to any more, so that a trial may have any number of
// synchronisations.  The remaining segments are renumbered in the same order, which is all that the
// stored thresholds depend on.
void GeneralRaceChecker::tidy_up() {
  settle_queues();
  std::vector<bool> live(state_.order.segments().count());
  for_each_segment([&](SegmentId id) { live[id] = true; });
  const std::vector<SegmentId> renewed = state_.order.forget_segments(std::move(live));
  for_each_segment([&](SegmentId& id) { id = renewed[id]; });
  state_.lists.for_each([](CellList& list) { list.renumber(); });
  for (CheckedLaunch& launch : state_.launches)
    launch.first_segment = renewed[launch.first_segment];
  causality_.renew_thresholds(renewed);
  phases_.renew_thresholds(renewed);
  for (auto& [launch, other] : suspended_) {
    SharedPhases::renew_thresholds(other.phases, renewed);
    other.first_unordered = renewed[other.first_unordered];
  }
  owners_.renew_thresholds(renewed);
  causality_.forget_answers();
  state_.proxy_fences.forget_answers();
  weak_.forget_tiles();
  reports_.forget_answers();
  std::size_t cells = 0;
  state_.memories.for_each([&](const CellMemory& memory) { cells += memory.size(); });
  const std::size_t more =
      std::max<std::size_t>({segments_kept_, state_.order.segments().count(), cells / 16});
  constexpr std::uint32_t kMost = kSegmentsMax - 1;
  tidy_at_ = static_cast<std::uint32_t>(
      std::min<std::size_t>(state_.order.segments().count() + more, kMost));
  if (state_.order.segments().count() >= kMost - kMost / 64) {
    throw Refusal(fmt::format(
        "the race checker remembers accesses of up to {} stretches between synchronisations, and "
        "memory holds as many; turn the race checker off",
        kMost));
  }
}

}  // namespace warpcheck::vgpu
