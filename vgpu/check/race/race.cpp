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

// Shadows are kept between trials up to this much host memory.
constexpr std::size_t kKeptBytesMax = std::size_t{1} << 30;
// And from this much on not beyond the end of their allocations.
constexpr std::size_t kReleasedMin = std::size_t{1} << 20;

// The value that `lane` of a write stores at byte `index` of its access.
std::byte stored_byte(const Access& access, unsigned lane, std::uint32_t index) {
  const std::byte* const row = access.values[index / access.element_bytes];
  return row[lane * access.value_bytes + index % access.element_bytes];
}

// Whether `lane` is about to store the bytes that are there already.
//   last: the last weak writes of the cells; some may be by earlier lanes of this very row, the
//   bytes of which have not moved yet.
bool stores_same_bytes(const Access& access, const RaceRow& row, unsigned lane,
                       const CellEpochs& last) {
  if (access.values[0] == nullptr) return false;
  const std::uint32_t begin = access.offset[lane];
  for (std::uint32_t at = begin; at < begin + access.bytes; ++at) {
    std::byte held = access.allocation->data[at];
    const Epoch writer = last.epoch[at >> row.offset_shift] - row.epoch;
    if (writer < lane && (access.mask >> writer & 1) != 0 &&
        at - access.offset[writer] < access.bytes) {
      held = stored_byte(access, static_cast<unsigned>(writer), at - access.offset[writer]);
    }
    if (stored_byte(access, lane, at - begin) != held) return false;
  }
  return true;
}

// The same, of what is there before the row.
bool holds_same_bytes(const Access& access, unsigned lane) {
  if (access.values[0] == nullptr) return false;
  for (std::uint32_t i = 0; i < access.bytes; ++i) {
    if (stored_byte(access, lane, i) != access.allocation->data[access.offset[lane] + i]) {
      return false;
    }
  }
  return true;
}

std::string_view role_at(const Program& program, std::uint32_t pc, AccessKind kind) {
  return program.code[pc].kind == InstrKind::heap_free ? "free" : role_name(kind);
}

std::string message_of(const AccessClass& earlier, const AccessClass& later, bool one_block,
                       bool one_warp) {
  const bool hand_on = morally_strong(earlier, later, one_block);
  if (earlier.strong && later.strong && !hand_on) {
    return earlier.size_log2 != later.size_log2
               ? "(1) and (2) are of different sizes, so they are not atomic to each other"
               : "the scope of (1) or (2) does not include the other's block";
  }
  if (!one_block) return "nothing orders blocks of one kernel launch";
  if (one_warp) return "lanes of one warp are not ordered without __syncwarp()";
  return "no barrier orders (1) and (2)";
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
  is_general_ = has_streams_ = false;
  trial_launches_ = 0;
  first_recorded_ = launch_ + 1;
  recorded_.clear();
  put_away_.clear();
  ordered_threads_ = model == WarpModel::lockstep ? kOrderedInWarp : kOrderedInThread;
  std::size_t kept = 0;
  for (const Shadow& shadow : shadows_) kept += shadow.host_bytes();
  if (kept > kKeptBytesMax) shadows_.clear();
}

void RaceChecker::on_sync(const Sync& sync) {
  if (sync.kind == Sync::Kind::kernel_start) {
    if (!sync.unordered_launches.empty()) begin_streams();
    const bool fits = sync.grid.count() <= limits_.blocks && sync.block.count() <= kThreadsMax;
    is_general_ = has_streams_ || sync.program->synchronizes_threads || !fits;
    hands_on_ = !sync.program->data_reads.empty();
    collectives_.begin_launch(*sync.program);
    is_plain_ = !is_general_ && !collectives_.is_on() && !volatile_is_weak_;
    general_->on_sync(sync);  // counts every launch
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
    case Sync::Kind::block_end:
    case Sync::Kind::kernel_end: break;
  }
}

void RaceChecker::begin_launch(const Sync& sync) {
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
    // All that was seen in the slot's shared memory is ordered before what comes.
    if (slot.shared < shadows_.size()) shadows_[slot.shared].clear();
    in_slot = 1;
  }
  slot.base = in_slot - sync.place.phase;
  slot.last = in_slot;
  slot.period = ++periods_;
  slot.log.begin(slot.shared_bytes);
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

// What `log` holds of the allocation that `access` is about to touch.
void RaceChecker::move_to_shadow(RowLog& log, const Access& access) {
  log.close();
  if (log.rows().empty()) return;
  Shadow& shadow = shadow_of(access);
  const Epoch warp_0 = epoch_of(access) - std::uint64_t{access.place.warp} * kWarpLanes;
  const unsigned shift = 2 - shadow.offset_shift();
  for (const RowLog::Row& from : log.rows()) {
    const unsigned access_class = AccessClass{.write = from.write}.index();
    RaceRow row;
    row.epoch = warp_0 + std::uint64_t{from.warp} * kWarpLanes;
    row.ordered_threads = ordered_threads_;
    row.history = shadow.plan(access_class, ordered_threads_, hands_on_).history;
    row.cell = std::int64_t{from.cell} << shift;
    row.pc = from.pc;
    row.mask = from.mask;
    row.offset_shift = static_cast<std::uint8_t>(shadow.offset_shift());
    row.cells_log2 = static_cast<std::uint8_t>(from.cells_log2 + shift);
    row.exclusive = from.write;
    const RaceRowResult result = from.uniform ? functions_->uniform(row) : functions_->strided(row);
    shadow.mark(1u << access_class,
                std::uint32_t{result == RaceRowResult::displaced} << access_class);
  }
}

inline void RaceChecker::check_row(const Access& access) {
  if (access.space == ptx::Space::shared) {
    RowLog& log = slots_[access.place.slot].log;
    if (log.is_open()) {
      const bool is_taken = !std::exchange(is_refused_, false) &&
                            (log.take(access, ordered_threads_) || log_scattered(log, access));
      if (is_taken) return;
      move_to_shadow(log, access);
    }
  }
  check_in_shadow(access);
}

void RaceChecker::on_access(Access& access) {
  // Nothing else can be shared between threads and written.
  if (access.space != ptx::Space::shared && access.space != ptx::Space::global) return;
  if (is_plain_) [[likely]]
    return check_row(access);
  check_access(access);
}

bool RaceChecker::takes_row(const RowAccess& access) {
  if (access.space == ptx::Space::shared && is_plain_) [[likely]] {
    RowLog& log = slots_[access.place.slot].log;
    if (log.is_open()) [[likely]] {
      const bool is_taken = access.pattern == Pattern::scattered
                                ? log_runs(log, access, access.offsets)
                                : log.take(access, ordered_threads_);
      if (is_taken) [[likely]]
        return true;
      is_refused_ = true;
      return false;
    }
  }
  return takes_other_row(access);
}

bool RaceChecker::takes_other_row(const RowAccess& access) {
  if (access.space != ptx::Space::shared && access.space != ptx::Space::global) return true;
  if (!is_plain_) return false;
  const bool writes = access.kind == AccessKind::write;
  Shadow& shadow = shadow_of(access);
  const unsigned access_class = writes ? kWeakWrite : kWeakRead;
  RaceRow row = row_of(access, access_class, shadow);
  row.offset = access.offsets;
  row.cell = start_of(access.first) >> row.offset_shift;
  if (take_as_rows(row, access.pattern, shadow)) return true;
  prepare_cells(row, access.pattern, access_class, shadow);
  const RaceRowResult result = check_cells(row, access.pattern, access.bytes, !writes, shadow);
  if (result == RaceRowResult::conflict) return false;
  shadow.mark(1u << access_class,
              std::uint32_t{result == RaceRowResult::displaced} << access_class);
  return true;
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

// As which cells to check an access of one class, but for the offsets and the cell.
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

// Where and against what to check it, in cells.
inline void RaceChecker::prepare_cells(RaceRow& row, Pattern pattern, unsigned access_class,
                                       Shadow& shadow) {
  shadow.to_cells(row, pattern);
  const Shadow::Plan& plan = shadow.plan(access_class, ordered_threads_, hands_on_);
  row.history = plan.history;
  row.checks = static_cast<std::uint8_t>(plan.checks.size());
  row.check = plan.checks.data();
}

//   bytes: of a lane
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
  RaceRow row = row_of(access, access_class, shadow);
  row.offset = access.offset.data();

  const unsigned first = access.first_lane();
  const std::uint32_t step = access.pattern == Pattern::strided ? access.bytes : 0;
  row.cell = (std::int64_t{access.offset[first]} - std::int64_t{first} * step) >> row.offset_shift;
  const bool is_weak = access_class == kWeakRead || access_class == kWeakWrite;
  if (is_weak && take_as_rows(row, access.pattern, shadow)) return;
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
  if (is_general_) general_->on_fence(fence);
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
  // Loads and stores of the host are many, and mostly of memory that no kernel has used.
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

// The id of heap memory may be given to other memory within the launch.
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

void RaceChecker::check_lane_by_lane(const Access& access, unsigned access_class, RaceRow& row,
                                     Shadow& shadow) {
  row.history = shadow.history(access_class, true);
  const std::int64_t cells = std::int64_t{1} << row.cells_log2;
  for_each_bit(access.mask, [&](unsigned lane) {
    report_lane(access, access_class, row, shadow, lane);
    const std::int64_t begin = access.offset[lane] >> row.offset_shift;
    bool displaced = false;
    for (std::int64_t cell = begin; cell < begin + cells; ++cell) {
      displaced |= record(row.history, cell, row.epoch + lane, row.pc, row.ordered_threads);
    }
    shadow.mark(1u << access_class, std::uint32_t{displaced} << access_class);
  });
}

// Reports every earlier access in this lane's cells that races with it.
void RaceChecker::report_lane(const Access& access, unsigned access_class, const RaceRow& row,
                              Shadow& shadow, unsigned lane) {
  const Epoch me = row.epoch + lane;
  const std::int64_t begin = access.offset[lane] >> row.offset_shift;
  const std::int64_t end = begin + (std::int64_t{1} << row.cells_log2);

  const auto look_in = [&](const CellEpochs& cells, unsigned earlier_class,
                           std::uint64_t ordered_threads, bool races) {
    Earlier found{earlier_class, 0, ptx::kNone};
    for (std::int64_t cell = begin; cell < end; ++cell) {
      const Earlier earlier{earlier_class, cells.epoch[cell], cells.pc[cell]};
      if (earlier == found || !unordered(earlier.epoch, me, ordered_threads)) continue;
      found = earlier;
      if (!races && !is_handed(access, access_class, lane, earlier, me)) continue;
      const Weight weight = weight_of(access, access_class, row, lane, cell, earlier, races);
      report(access, access_class, lane, weight, earlier);
    }
  };
  const auto look_for = [&](std::uint32_t classes, std::uint64_t ordered_threads, bool races) {
    for_each_bit(classes & shadow.used(), [&](unsigned earlier_class) {
      const bool pair = (shadow.displaced() >> earlier_class & 1) != 0;
      const History& history = shadow.history(earlier_class, pair);
      look_in(history.last, earlier_class, ordered_threads, races);
      if (pair) look_in(history.other, earlier_class, ordered_threads, races);
    });
  };
  look_for(kClassRelations.race[access_class], ordered_threads_, true);
  look_for(kClassRelations.race_across[access_class], kOrderedInBlock, true);
  if (hands_on_) look_for(kClassRelations.hand_over[access_class], ordered_threads_, false);
}

// Whether two strong accesses, which do not race, hand on data.
bool RaceChecker::is_handed(const Access& access, unsigned access_class, unsigned lane,
                            const Earlier& earlier, Epoch me) {
  const bool across = (kClassRelations.race_across[access_class] >> earlier.access_class & 1) != 0;
  if (across && across_blocks(earlier.epoch, me)) return false;
  if (!may_hand_on(*access.program, earlier.pc, *access.program, access.pc)) return false;
  const bool both_write =
      access.kind == AccessKind::write && AccessClass::of_index(earlier.access_class).write;
  return !both_write ||
         (unordered(earlier.epoch, me, kOrderedInWarp) && !holds_same_bytes(access, lane));
}

Weight RaceChecker::weight_of(const Access& access, unsigned access_class, const RaceRow& row,
                              unsigned lane, std::int64_t cell, const Earlier& earlier,
                              bool races) {
  if (access_class == kWeakWrite && earlier.access_class == kWeakWrite) {
    const bool same = stores_same_bytes(access, row, lane, row.history.last);
    return same ? Weight::same_bytes : Weight::race;
  }
  const Program& program = *access.program;
  const bool one_warp = !unordered(earlier.epoch, row.epoch + lane, kOrderedInWarp);
  if (one_warp && access.kind == AccessKind::write && collectives_.is_on()) {
    const auto byte = static_cast<std::uint32_t>(cell) << row.offset_shift;
    const std::uint32_t offset = std::max(byte, access.offset[lane]);
    const bool depends = !AccessClass::of_index(earlier.access_class).write &&
                         collectives_.orders(access, lane, offset, earlier.pc,
                                             thread_of(earlier.epoch) % kWarpLanes);
    if (depends && collectives_.orders_all(access, lane, offset)) return Weight::dependent;
  }
  if (races) {
    const bool guessed = guesses_.explain(program, earlier.pc, program, access.pc);
    return guessed ? Weight::swap_guess : Weight::race;
  }
  if (access.kind == AccessKind::write && AccessClass::of_index(earlier.access_class).write) {
    return Weight::overwrite;
  }
  const bool in_lockstep_code = one_warp && access.space == ptx::Space::shared &&
                                is_volatile(program, earlier.pc) && is_volatile(program, access.pc);
  return in_lockstep_code ? Weight::warp_hand_over : Weight::hand_over;
}

void RaceChecker::report(const Access& access, unsigned access_class, unsigned lane, Weight weight,
                         const Earlier& earlier) {
  const Program& program = *access.program;
  const ThreadId later_thread = thread_of(access.place, lane);
  const ThreadId earlier_thread{
      access.space == ptx::Space::shared ? access.place.block : block_of(earlier.epoch),
      thread_of(earlier.epoch)};
  AccessKind earlier_kind = AccessKind::read;
  if (AccessClass::of_index(earlier.access_class).write) {
    earlier_kind =
        program.code[earlier.pc].kind == InstrKind::atomic ? AccessKind::atomic : AccessKind::write;
  }

  // The same race is found in either order of the two.
  std::array<std::pair<std::uint32_t, AccessKind>, 2> pair{
      {{earlier.pc, earlier_kind}, {access.pc, access.kind}}};
  std::ranges::sort(pair);
  const auto tag = static_cast<std::uint32_t>(pair[0].second) << 8 |
                   static_cast<std::uint32_t>(pair[1].second) << 4 |
                   static_cast<std::uint32_t>(weight);

  const bool one_block = earlier_thread.block == later_thread.block;
  const bool one_warp =
      one_block && earlier_thread.thread / kWarpLanes == later_thread.thread / kWarpLanes;
  const Relation relation = relation_of(one_block, one_warp);
  reporter_.report({&program, pair[0].first, pair[1].first, tag}, relation, [&] {
    Finding finding;
    finding.kind = FindingKind::data_race;
    finding.space = space_name(access.space);
    finding.severity = severity_of(weight);
    finding.kernel = kernel_name(program.kernel);
    finding.object = describe_element(access, lane);
    finding.accesses = {
        reporter_.side(role_at(program, earlier.pc, earlier_kind), program, earlier.pc,
                       earlier_thread),
        reporter_.side(role_at(program, access.pc, access.kind), program, access.pc, later_thread)};
    const AccessClass before = AccessClass::of_index(earlier.access_class);
    const AccessClass now = AccessClass::of_index(access_class);
    finding.variable = variable_of(*access.allocation, access.offset[lane]);
    finding.message = message_of(before, now, one_block, one_warp);
    finding.message += remark_of(weight);
    finding.lack = lack_of(program, before, earlier.pc, now, access.pc, relation);
    return finding;
  });
}

}  // namespace warpcheck::vgpu
