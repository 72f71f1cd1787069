#include "vgpu/check/race/race.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "vgpu/check/checkers.hpp"
#include "vgpu/check/order/bits.hpp"
#include "vgpu/check/race/race_class.hpp"
#include "vgpu/check/race/race_general.hpp"
#include "vgpu/check/race/race_lack.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/machine/memory/rows.hpp"

namespace warpcheck::vgpu {
namespace {

// Shadows are kept between trials up to this amount of host memory.
constexpr std::size_t kKeptBytesMax = std::size_t{1} << 30;
// Shadows larger than this are released with their allocation.
constexpr std::size_t kReleasedMin = std::size_t{1} << 20;

// Returns the cell at which lane 0 of a strided row, or every lane of a uniform row, begins.
//   row: an Access or a RowLog::UpdateRow; offset_shift: cell = byte offset >> offset_shift
template <typename AnyRow>
std::int64_t first_cell(const AnyRow& row, Pattern pattern, unsigned offset_shift) {
  const auto first = static_cast<unsigned>(__builtin_ctz(row.mask));
  const std::uint32_t step = pattern == Pattern::strided ? row.bytes : 0;
  return (std::int64_t{row.offset[first]} - std::int64_t{first} * step) >> offset_shift;
}

}  // namespace

std::unique_ptr<Checker> make_race_checker(Reporter& reporter) {
  return std::make_unique<RaceChecker>(reporter, race_row_functions(simd_level()));
}

RaceChecker::RaceChecker(Reporter& reporter, const RaceRowFunctions& functions,
                         const EpochLimits& limits)
    : Checker(reporter),
      general_(std::make_unique<GeneralRaceChecker>(reporter, collectives_, limits)),
      limits_(limits),
      functions_(&functions) {}

RaceChecker::~RaceChecker() = default;

void RaceChecker::configure(const CheckerSet& set) {
  volatile_is_weak_ = set.volatile_is_weak;
  is_plain_ = false;
}

void RaceChecker::reset(WarpModel model) {
  collectives_.reset(model);
  general_->reset(model);
  is_general_ = has_streams_ = is_running_ = recalls_at_end_ = false;
  trial_launches_ = 0;
  first_recorded_ = launch_ + 1;
  recorded_.clear();
  put_away_.clear();
  passed_over_.clear();
  ordered_threads_ = model == WarpModel::lockstep ? kOrderedInWarp : kOrderedInThread;
  std::size_t kept = 0;
  for (const Shadow& shadow : shadows_) kept += shadow.host_bytes();
  if (kept > kKeptBytesMax) shadows_.clear();
}

void RaceChecker::on_sync(const Sync& sync) {
  if (sync.kind == Sync::Kind::kernel_start) {
    count_passed_over();
    if (!sync.unordered_launches.empty()) begin_streams();
    const bool fits = sync.grid.count() <= limits_.blocks && sync.block.count() <= kThreadsMax;
    is_general_ = has_streams_ || sync.program->synchronizes_threads || !fits;
    hands_on_ = !sync.program->data_reads.empty();
    collectives_.begin_launch(*sync.program);
    is_plain_ = !is_general_ && !collectives_.is_on() && !volatile_is_weak_;
    is_general_ ? general_->on_sync(sync) : general_->count_launch(shape_of(sync));
    ++trial_launches_;
  } else if (is_general_) {
    general_->on_sync(sync);
  }
  if (sync.kind == Sync::Kind::block_start) collectives_.begin_block(sync.place);
  if (is_general_) return;
  switch (sync.kind) {
    case Sync::Kind::kernel_start: begin_launch(sync); break;
    case Sync::Kind::block_start: {
      Slot& slot = slot_at(sync.place.slot);
      slot.shared = sync.shared == nullptr ? ptx::kNone : sync.shared->id;
      slot.shared_bytes = sync.shared == nullptr ? 0 : sync.shared->limit();
      slot.block = sync.place.block;
      slot.phase = slot.global_base = 0;
      begin_phase(sync, slot.last + 1);
      break;
    }
    case Sync::Kind::barrier_complete: {
      Slot& slot = slots_[sync.place.slot];
      slot.phase = sync.place.phase;
      if (slot.phase - slot.global_base >= limits_.phases) renumber_phases();
      begin_phase(sync, slot.base + slot.phase);
      break;
    }
    case Sync::Kind::block_end: break;
    case Sync::Kind::kernel_end:
      is_running_ = false;
      if (std::exchange(recalls_at_end_, false)) recall_all();
      break;
  }
}

bool RaceChecker::passes_over(const Sync& sync) {
  passed_over_.push_back(shape_of(sync));
  return true;
}

// Gives launches that ran beside another launch the numbers after that launch.
void RaceChecker::count_passed_over() {
  for (const LaunchShape& launch : std::exchange(passed_over_, {})) {
    general_->count_launch(launch);
    ++trial_launches_;
  }
}

void RaceChecker::begin_launch(const Sync& sync) {
  is_running_ = true;
  recalls_at_end_ = false;
  if (++launch_ >= limits_.launches) renumber_launches();
  recorded_.push_back(trial_launches_ - 1);
  ++launches_;
  single_block_ = sync.grid.count() == 1;
  global_period_ = ++periods_;
}

RaceChecker::Slot& RaceChecker::slot_at(std::uint32_t slot) {
  if (slot >= slots_.size()) slots_.resize(slot + 1);
  Slot& result = slots_[slot];
  if (result.launch != launches_) {
    result.launch = launches_;
    result.base = result.last = 0;
  }
  return result;
}

// The block of a slot begins a phase.
//   in_slot: the phase counted from the slot's beginning; may be past the end of its bits.
void RaceChecker::begin_phase(const Sync& sync, std::uint32_t in_slot) {
  Slot& slot = slots_[sync.place.slot];
  if (in_slot >= limits_.phases) {
    // Everything so far in the slot's shared memory is ordered before what follows.
    if (slot.shared < shadows_.size()) shadows_[slot.shared].clear();
    in_slot = 1;
  }
  slot.base = in_slot - sync.place.phase;
  slot.last = in_slot;
  slot.period = ++periods_;
  slot.log.begin(slot.shared_bytes, ordered_threads_);
  if (single_block_) global_period_ = slot.period;
}

template <typename AnyAccess>
inline Shadow& RaceChecker::shadow_of(const AnyAccess& access) {
  const std::uint32_t id = access.allocation->id;
  if (id >= shadows_.size()) shadows_.resize(id + 1);
  Shadow& shadow = shadows_[id];
  const std::uint64_t period =
      access.space == ptx::Space::shared ? slots_[access.place.slot].period : global_period_;
  if (shadow.period().number != period) {
    const bool global = access.space == ptx::Space::global;
    shadow.begin({period, launches_, global}, access.allocation->limit());
  }
  return shadow;
}

template <typename AnyAccess>
inline Epoch RaceChecker::epoch_of(const AnyAccess& access) const {
  const WarpPlace& place = access.place;
  const bool shared = access.space == ptx::Space::shared;
  const std::uint32_t block = shared ? 0 : place.block;
  const Slot& slot = slots_[place.slot];
  const std::uint32_t phase = place.phase + (shared ? slot.base : 0u - slot.global_base);
  return launch_ * kLaunchUnit + block * kBlockUnit + phase * kPhaseUnit +
         std::uint64_t{place.warp} * kWarpLanes;
}

// Moves the rows of `log` to the shadow of the allocation that `access` is about to touch.  If
// global memory of an earlier trial had the same id, its records are converted to cells first;
// otherwise they would be converted later and look newer.
void RaceChecker::move_to_shadow(RowLog& log, const Access& access) {
  log.close();
  if (log.rows().empty() && log.updates().empty()) return;
  Shadow& shadow = shadow_of(access);
  const Epoch warp_0 = epoch_of(access) - std::uint64_t{access.place.warp} * kWarpLanes;
  const unsigned shift = 2 - shadow.offset_shift();
  for (const RowLog::Row& from : log.rows()) {
    const unsigned access_class = AccessClass{.write = from.write}.index();
    RaceRow row;
    row.epoch = warp_0 + std::uint64_t{from.warp} * kWarpLanes;
    row.ordered_threads = ordered_threads_;
    row.cell = std::int64_t{from.cell} << shift;
    row.pc = from.pc;
    row.mask = from.mask;
    row.offset_shift = static_cast<std::uint8_t>(shadow.offset_shift());
    row.cells_log2 = static_cast<std::uint8_t>(from.cells_log2 + shift);
    row.exclusive = from.write;
    if (from.scattered) row.offset = log.offsets_of(from).data();
    shadow.to_cells(row, RowLog::pattern_of(from));
    row.history = shadow.plan(access_class, ordered_threads_, hands_on_).history;
    const RaceRowResult result = from.scattered ? record_scattered(row, 4u << from.cells_log2)
                                 : from.uniform ? functions_->uniform(row)
                                                : functions_->strided(row);
    shadow.mark(1u << access_class,
                std::uint32_t{result == RaceRowResult::displaced} << access_class);
  }
  for (const RowLog::UpdateRow& from : log.updates()) {
    const unsigned access_class = class_of_atomic(from.bytes, from.scope).index();
    const Pattern pattern = RowLog::pattern_of(from);
    RaceRow row;
    row.epoch = warp_0 + std::uint64_t{from.warp} * kWarpLanes;
    row.ordered_threads = ordered_threads_;
    row.offset = from.offset.data();
    row.offset_shift = static_cast<std::uint8_t>(shadow.offset_shift());
    row.cell = first_cell(from, pattern, row.offset_shift);
    row.pc = from.pc;
    row.mask = from.mask;
    row.cells_log2 = static_cast<std::uint8_t>((from.bytes == 8 ? 1 : 0) + shift);
    row.exclusive = false;
    shadow.to_cells(row, pattern);
    row.history = shadow.plan(access_class, ordered_threads_, hands_on_).history;
    const RaceRowResult result = check_cells(row, pattern, from.bytes, false, shadow);
    shadow.mark(1u << access_class,
                std::uint32_t{result == RaceRowResult::displaced} << access_class);
  }
}

inline void RaceChecker::check_row(const Access& access) {
  if (access.space == ptx::Space::shared) {
    RowLog& log = slots_[access.place.slot].log;
    if (log.is_open()) {
      const bool is_taken =
          !std::exchange(is_refused_, false) &&
          (access.kind == AccessKind::atomic
               ? log.updates().size() < limits_.deferred && log.take_updates(access)
               : log.take(access));
      if (is_taken) return;
      move_to_shadow(log, access);
    }
  }
  check_in_shadow(access);
}

void RaceChecker::on_access(Access& access) {
  // No other space can be shared between threads and written.
  if (access.space != ptx::Space::shared && access.space != ptx::Space::global) return;
  if (is_plain_) [[likely]]
    return check_row(access);
  check_access(access);
}

bool RaceChecker::takes_row(const RowAccess& access) {
  if (access.space != ptx::Space::shared && access.space != ptx::Space::global) return true;
  if (!is_plain_) return false;
  if (access.space == ptx::Space::shared) {
    RowLog& log = slots_[access.place.slot].log;
    if (log.is_open()) {
      is_refused_ = !log.take(access);
      return !is_refused_;
    }
  }
  const bool writes = access.kind == AccessKind::write;
  Shadow& shadow = shadow_of(access);
  const unsigned access_class = writes ? kWeakWrite : kWeakRead;
  if (takes_line(access, access.first, access_class, shadow)) return true;
  RaceRow row = row_of(access, access_class, shadow);
  row.offset = access.offsets;
  row.cell = start_of(access.first) >> row.offset_shift;
  if (take_as_rows(row, access.pattern, access_class, shadow)) return true;
  prepare_cells(row, access.pattern, access_class, shadow);
  const RaceRowResult result = check_cells(row, access.pattern, access.bytes, !writes, shadow);
  if (result == RaceRowResult::conflict) return false;
  shadow.mark(1u << access_class,
              std::uint32_t{result == RaceRowResult::displaced} << access_class);
  return true;
}

bool RaceChecker::lends_notes(std::uint32_t slot, RowNotes& notes) {
  if (is_plain_) notes.rows = &slots_[slot].log.notes();
  return is_plain_;
}

void RaceChecker::check_access(Access& access) {
  if (collectives_.is_on() && access.kind == AccessKind::read && !access.asynchronous) {
    collectives_.on_load(access);
  }
  const auto check = [&] { is_general_ ? general_->on_access(access) : check_row(access); };
  if (!volatile_is_weak_ || access.order != ptx::Order::volatile_) return check();
  const auto scope = std::exchange(access.scope, ptx::Scope::none);
  access.order = ptx::Order::weak;
  check();
  access.order = ptx::Order::volatile_;
  access.scope = scope;
}

// Returns a row with everything that checks of one access class need, except the offsets and the
// cell.
template <typename AnyAccess>
inline RaceRow RaceChecker::row_of(const AnyAccess& access, unsigned access_class,
                                   Shadow& shadow) const {
  if (access.bytes < 4 && !shadow.is_bytes()) shadow.split_to_bytes();
  RaceRow row;
  row.epoch = epoch_of(access);
  row.ordered_threads = ordered_threads_;
  row.pc = access.pc;
  row.mask = access.mask;
  row.offset_shift = static_cast<std::uint8_t>(shadow.offset_shift());
  row.cells_log2 =
      static_cast<std::uint8_t>(__builtin_ctz(access.bytes) - static_cast<int>(row.offset_shift));
  row.exclusive = access_class == kWeakWrite;
  return row;
}

// Returns whether a full row of words that is exactly one line was taken as a record.
//   first: the offset of lane 0
template <typename AnyAccess>
inline bool RaceChecker::takes_line(const AnyAccess& access, std::int64_t first,
                                    unsigned access_class, Shadow& shadow) const {
  constexpr std::int64_t kLineBytes = 4 * RowLines::kCells;
  return access.mask == ~0u && access.bytes == 4 && access.pattern == Pattern::strided &&
         first % kLineBytes == 0 && limits_.has_rows && shadow.takes_rows(access_class) &&
         shadow.take_line(first / kLineBytes, epoch_of(access), access.pc, access_class,
                          ordered_threads_);
}

// Sets where to record the row and which histories to check, in cells.
inline void RaceChecker::prepare_cells(RaceRow& row, Pattern pattern, unsigned access_class,
                                       Shadow& shadow) {
  shadow.to_cells(row, pattern);
  const Shadow::Plan& plan = shadow.plan(access_class, ordered_threads_, hands_on_);
  row.history = plan.history;
  row.checks = static_cast<std::uint8_t>(plan.checks.size());
  row.check = plan.checks.data();
}

//   bytes: of one lane
inline RaceRowResult RaceChecker::check_cells(const RaceRow& row, Pattern pattern,
                                              std::uint32_t bytes, bool is_weak_read,
                                              Shadow& shadow) {
  if (pattern == Pattern::strided) return functions_->strided(row);
  if (pattern == Pattern::uniform) return functions_->uniform(row);
  if (is_weak_read && read_runs(row, bytes, shadow)) return RaceRowResult::recorded;
  return functions_->scattered(row);
}

void RaceChecker::check_in_shadow(const Access& access) {
  Shadow& shadow = shadow_of(access);
  const unsigned access_class = class_of(access).index();
  if (takes_line(access, access.offset[0], access_class, shadow)) return;
  RaceRow row = row_of(access, access_class, shadow);
  row.offset = access.offset.data();
  row.cell = first_cell(access, access.pattern, row.offset_shift);
  if (take_as_rows(row, access.pattern, access_class, shadow)) return;
  prepare_cells(row, access.pattern, access_class, shadow);
  const bool is_weak_read = access.kind == AccessKind::read && access.order == ptx::Order::weak;
  const RaceRowResult result = check_cells(row, access.pattern, access.bytes, is_weak_read, shadow);
  if (result == RaceRowResult::conflict) {
    check_lane_by_lane(access, access_class, row, shadow);
  } else {
    shadow.mark(1u << access_class,
                std::uint32_t{result == RaceRowResult::displaced} << access_class);
  }
}

void RaceChecker::on_fence(const Fence& fence) {
  if (is_general_ || fence.lets_grid_begin) general_->on_fence(fence);
}
void RaceChecker::on_device_launch(const DeviceLaunch& event) {
  if (is_general_) general_->on_device_launch(event);
}

void RaceChecker::on_meeting(const Meeting& meeting) {
  if (is_general_) general_->on_meeting(meeting);
}
void RaceChecker::on_collective(const Collective& event) {
  collectives_.on_collective(event, is_general_ ? general_->knowledge_at(event.place) : 0);
}
void RaceChecker::on_barrier_object(const BarrierObject& event) {
  if (is_general_) general_->on_barrier_object(event);
}
void RaceChecker::on_cluster_barrier(const ClusterBarrier& event) {
  if (is_general_) general_->on_cluster_barrier(event);
}
void RaceChecker::on_copy_commit(const CopyCommit& commit) {
  if (is_general_) general_->on_copy_commit(commit);
}
void RaceChecker::on_copy_wait(const CopyWait& wait) {
  if (is_general_) general_->on_copy_wait(wait);
}
void RaceChecker::on_host_access(const HostAccess& access) {
  if (!access.unordered_launches.empty()) begin_streams();
  general_->on_host_access(access);
}
void RaceChecker::on_late_host_access(const HostAccess& access) {
  // Accesses by the host are frequent, and most are to memory that no kernel has used.
  const std::uint32_t id = access.allocation->id;
  const bool is_recorded = id < shadows_.size() && shadows_[id].capacity() != 0;
  if (!access.unordered_launches.empty() && is_recorded) begin_streams();
  general_->on_late_host_access(access);
}
void RaceChecker::on_device_copy(const DeviceCopy& copy) {
  if (!copy.unordered_launches.empty()) begin_streams();
  general_->on_device_copy(copy);
}
void RaceChecker::on_operand(OperandAccess& access) {
  if (!access.unordered_launches.empty()) begin_streams();
  general_->on_operand(access);
}
void RaceChecker::on_late_operand(const OperandAccess& access) {
  if (!access.unordered_launches.empty()) begin_streams();
  general_->on_late_operand(access);
}
void RaceChecker::on_allocate(const Allocation& allocation) { general_->on_allocate(allocation); }

void RaceChecker::on_heap_free(const HeapFree& event) {
  Access access;
  access.allocation = event.allocation;
  access.program = event.program;
  access.place = event.place;
  access.pc = event.pc;
  access.mask = 1u << event.lane;
  access.space = ptx::Space::global;
  access.kind = AccessKind::write;
  const std::uint32_t end = event.allocation->limit();
  for (std::uint32_t at = 0; at < end; at += access.bytes) {
    access.bytes = 16;
    while (access.bytes > end - at) access.bytes /= 2;
    access.element_bytes = access.bytes;
    access.offset.fill(at);
    on_access(access);
  }
}

// Within the launch, other memory may get the id of freed heap memory.
void RaceChecker::on_free(const Allocation& allocation) {
  general_->on_free(allocation);
  if (allocation.id >= shadows_.size()) return;
  Shadow& shadow = shadows_[allocation.id];
  if (!allocation.on_heap()) {
    if (shadow.host_bytes() >= kReleasedMin) shadow.release();
    return;
  }
  if (shadow.period().launch != launches_) return;
  shadow.clear();
  shadow.begin({0, launches_, true}, 0);
}

}  // namespace warpcheck::vgpu
