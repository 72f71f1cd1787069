#include "vgpu/check/race/epoch_races.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "vgpu/check/order/clocks/bits.hpp"
#include "vgpu/check/race/race_class.hpp"
#include "vgpu/check/race/stored_bytes.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/machine/memory/rows.hpp"

namespace warpcheck::vgpu {
namespace {

// Shadows are kept between trials up to this amount of host memory.
constexpr std::size_t kKeptBytesMax = std::size_t{1} << 30;
// Shadows larger than this are released with their allocation, if those of a trial that are not
// have this amount of host memory.  The next trial mostly has the same allocations; its pages are
// there.
constexpr std::size_t kReleasedMin = std::size_t{1} << 20;
constexpr std::size_t kLeftBytesMax = std::size_t{64} << 20;
// Each worker has marks of owners, and in time marks all words of a program: of more memory than
// this, rows are records at once.
constexpr std::size_t kOwnerBytesMax = std::size_t{32} << 20;

// Returns the cell at which lane 0 of a strided row, or every lane of a uniform row, begins.
//   row: an Access or a RowLog::UpdateRow; offset_shift: cell = byte offset >> offset_shift
template <typename AnyRow>
std::int64_t first_cell(const AnyRow& row, Pattern pattern, unsigned offset_shift) {
  const auto first = static_cast<unsigned>(__builtin_ctz(row.mask));
  const std::uint32_t step = pattern == Pattern::strided ? row.bytes : 0;
  return (std::int64_t{row.offset[first]} - std::int64_t{first} * step) >> offset_shift;
}

// Marks that a row was recorded.
void mark(Shadow& shadow, unsigned access_class, bool displaced) {
  shadow.mark(1u << access_class, std::uint32_t{displaced} << access_class);
}

// Machine code queues lanes as scattered that may lie otherwise.
void set_pattern(RowAccess& row) {
  row.pattern = pattern_of(row.offsets, row.mask, row.bytes);
  const auto first = static_cast<unsigned>(std::countr_zero(row.mask));
  row.first = row.offsets[first] - (row.pattern == Pattern::strided ? first * row.bytes : 0);
}

// Reads and writes of words that are only read, or accessed by one thread.
constexpr QueuedKind kOwnedRows = QueuedKind::owned();

// Returns the class of rows that wait.
unsigned class_of_queued(QueuedKind kind) {
  if (kind.scope == 0) return kWeakRead;
  if (kind.scope == QueuedRow::kWrites) return kWeakWrite;
  return class_of_atomic(kind.bytes, static_cast<ptx::Scope>(kind.scope - 1)).index();
}

// Returns the classes of rows that may wait in one queue, as bits.
std::uint32_t classes_in(QueuedKind kind) {
  return 1u << class_of_queued(kind) | (kind == kOwnedRows ? 1u << kWeakRead : 0);
}

}  // namespace

EpochRaces::EpochRaces(Reporter& reporter, CollectiveOrder& collectives,
                       const RaceRowFunctions& functions, const EpochLimits& limits)
    : limits_(limits),
      own_(functions.own),
      loops_(functions),
      reports_(reporter, collectives),
      room_(limits.queue_chunks),
      numbers_(shadows_, limits, [this] { perform_all_rows(); }) {}

void EpochRaces::reset(WarpModel model) {
  numbers_.reset();
  work_ = {};
  ordered_threads_ = model == WarpModel::lockstep ? kOrderedInWarp : kOrderedInThread;
  close_queues();
  clear_queues();
  std::size_t kept = 0;
  for (const Shadow& shadow : shadows_) kept += shadow.host_bytes();
  kept += bytes_of_owners();
  if (kept > kKeptBytesMax) {
    shadows_.clear();
    for (Owned& owned : owned_) owned.owners.release();
  }
  left_bytes_ = 0;
}

void EpochRaces::begin_launch(const Sync& sync, std::uint32_t launch) {
  hands_on_ = !sync.program->data_reads.empty();
  close_queues();
  if (sync.is_alone) clear_queues();  // everything so far comes before everything to come
  reports_.begin_launch(ordered_threads_);
  numbers_.begin_launch(sync, launch);
  may_own_ = ordered_threads_ == kOrderedInThread && limits_.queue_chunks != 0 &&
             sync.grid.count() <= OwnerMark::kBlocksEnd;
}

void EpochRaces::begin_block(const Sync& sync) {
  const std::uint32_t slot = sync.place.slot;
  if (slot >= shared_.size()) shared_.resize(slot + 1);
  shared_[slot].id = sync.shared == nullptr ? ptx::kNone : sync.shared->id;
  shared_[slot].bytes = sync.shared == nullptr ? 0 : sync.shared->limit();
  begin_phase(sync.place, numbers_.begin_block(sync.place));
}

void EpochRaces::complete_barrier(const WarpPlace& place) {
  const std::uint64_t period = numbers_.global_period();
  const bool starts_again = numbers_.complete_barrier(place);
  if (numbers_.has_renumbered_phases()) [[unlikely]] {
    numbers_.for_each_slot([this](const WarpPlace& block) { set_time(block); });
  }
  begin_phase(place, starts_again);
  if (numbers_.global_period() != period) close_queues();
}

// Tells machine code what the time of the block is.
void EpochRaces::set_time(const WarpPlace& place) {
  RowAccess read;
  read.place = place;
  read.place.warp = 0;
  read.space = ptx::Space::global;
  AccessRecord& record = record_of(place.slot);
  record.time = numbers_.epoch_of(read);
  record.owner = place.block * OwnerMark::kBlock;
}

void EpochRaces::begin_phase(const WarpPlace& place, bool starts_again) {
  Shared& shared = shared_[place.slot];
  if (starts_again && shared.id < shadows_.size()) shadows_[shared.id].clear();
  shared.log.begin(shared.bytes, ordered_threads_);
  set_time(place);
}

inline Shadow& EpochRaces::shadow_at(std::uint32_t id) {
  if (id >= shadows_.size()) [[unlikely]] {
    shadows_.resize(id + 1);
    while (queues_.size() <= id) {
      queues_.push_back(std::make_unique<DeferredRows>());
      owned_.push_back({.owners = WordOwners(own_)});
    }
  }
  return shadows_[id];
}

RowQueue* EpochRaces::queue_of(const Allocation& allocation) {
  shadow_at(allocation.id);
  return &queues_[allocation.id]->queue();
}

// Returns the shadow with all that came before the access.
template <typename AnyAccess>
inline Shadow& EpochRaces::shadow_of(const AnyAccess& access) {
  Shadow& shadow = shadow_at(access.allocation->id);
  DeferredRows& rows = *queues_[access.allocation->id];
  if (!rows.is_empty()) [[unlikely]]
    perform_rows(shadow, rows);
  const Shadow::Period period = numbers_.period_of(access);
  if (shadow.period().number != period.number) shadow.begin(period, access.allocation->limit());
  return shadow;
}

// Moves the rows of `log` to the shadow of the allocation that `access` is about to touch.  If
// global memory of an earlier trial had the same id, its records are converted to cells first;
// otherwise they would be converted later and look newer.
void EpochRaces::move_to_shadow(RowLog& log, const Access& access) {
  log.close();
  if (log.rows().empty() && log.updates().empty()) return;
  Shadow& shadow = shadow_of(access);
  const Epoch warp_0 = numbers_.epoch_of(access) - std::uint64_t{access.place.warp} * kWarpLanes;
  for (const RowLog::Row& from : log.rows()) {
    if (from.bytes() < 4 && !shadow.is_bytes()) shadow.split_to_bytes();
    RaceRow row;
    row.epoch = warp_0 + std::uint64_t{from.warp} * kWarpLanes;
    row.pc = from.pc;
    row.mask = from.mask;
    row.cell = std::int64_t{from.cell} << (2 - shadow.offset_shift());
    if (from.scattered) row.offset = log.offsets_of(from).data();
    record(row, RowLog::pattern_of(from), AccessClass{.write = from.write}.index(), from.bytes(),
           shadow);
  }
  for (const RowLog::UpdateRow& from : log.updates()) {
    const Pattern pattern = RowLog::pattern_of(from);
    RaceRow row;
    row.epoch = warp_0 + std::uint64_t{from.warp} * kWarpLanes;
    row.pc = from.pc;
    row.mask = from.mask;
    row.cell = first_cell(from, pattern, shadow.offset_shift());
    row.offset = from.offset.data();
    record(row, pattern, class_of_atomic(from.bytes, from.scope).index(), from.bytes, shadow);
  }
}

// Records a row that races with nothing in cells.
//   row: its epoch, pc, lanes and place
//   bytes: of one lane
void EpochRaces::record(RaceRow row, Pattern pattern, unsigned access_class, std::uint32_t bytes,
                        Shadow& shadow) {
  ++work_.in_cells;
  row.ordered_threads = ordered_threads_;
  row.offset_shift = static_cast<std::uint8_t>(shadow.offset_shift());
  row.cells_log2 = static_cast<std::uint8_t>(__builtin_ctz(bytes) - int{row.offset_shift});
  row.exclusive = access_class == kWeakWrite;
  shadow.to_cells(row, pattern);
  row.history = shadow.plan(access_class, ordered_threads_, hands_on_).history;
  const bool is_update = AccessClass::of_index(access_class).atomic;
  const RaceRowResult result =
      is_update ? loops_.check(row, pattern, false, shadow) : loops_.record(row, pattern, bytes);
  mark(shadow, access_class, result == RaceRowResult::displaced);
}

void EpochRaces::check(const Access& access) {
  if (access.space == ptx::Space::shared) {
    RowLog& log = shared_[access.place.slot].log;
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
  const std::optional<QueuedKind> kind = kind_of(access);
  if (kind && defer(vgpu::row_of(access), *kind)) return;
  const bool is_weak = access.kind != AccessKind::atomic && access.order == ptx::Order::weak;
  if (is_weak && !access.asynchronous && defer_weak(vgpu::row_of(access))) return;
  check_in_shadow(access);
}

bool EpochRaces::take(const RowAccess& access) {
  if (access.space == ptx::Space::shared) {
    RowLog& log = shared_[access.place.slot].log;
    if (log.is_open()) {
      is_refused_ = !log.take(access);
      return !is_refused_;
    }
  }
  if (defer_weak(access)) return true;
  const unsigned access_class = access.kind == AccessKind::write ? kWeakWrite : kWeakRead;
  return take_in_shadow(access, numbers_.epoch_of(access), access_class, shadow_of(access));
}

// Returns the kind of rows of an atomic that can wait; nothing: it must be checked.
std::optional<QueuedKind> EpochRaces::kind_of(const Access& access) {
  if (access.kind != AccessKind::atomic || access.asynchronous || access.elements() != 1) return {};
  const unsigned access_class = class_of(access).index();
  const bool may_race =
      ((kClassRelations.race[access_class] | kClassRelations.race_across[access_class]) >>
           access_class &
       1) != 0;
  if (may_race) return {};
  return QueuedKind::atomics(access.scope, access.bytes);
}

// Takes a row that waits until records of its memory are needed.  False: it must be checked.
inline bool EpochRaces::defer(const RowAccess& row, QueuedKind kind) {
  if (row.space != ptx::Space::global) return false;
  shadow_at(row.allocation->id);
  DeferredRows& rows = *queues_[row.allocation->id];
  return (rows.takes(kind, numbers_.global_period()) || begin_rows(row, kind)) && put(row, kind);
}

// Puts a row behind those of its kind that wait.
inline bool EpochRaces::put(const RowAccess& row, QueuedKind kind) {
  DeferredRows& rows = *queues_[row.allocation->id];
  const Epoch epoch = numbers_.epoch_of(row);
  if (rows.take(row, epoch, room_)) [[likely]]
    return true;
  perform_all_rows();
  const bool is_open = rows.takes(kind, numbers_.global_period()) || begin_rows(row, kind);
  if (is_open && rows.take(row, epoch, room_)) return true;
  rows.close();
  return false;
}

// Takes a weak row that waits until records of its memory are needed.  False: it must be checked.
inline bool EpochRaces::defer_weak(const RowAccess& row) {
  if (row.space != ptx::Space::global) return false;
  const std::uint32_t id = row.allocation->id;
  shadow_at(id);
  if (!queues_[id]->takes(kOwnedRows, numbers_.global_period())) {
    if (row.kind == AccessKind::read) return defer(row, {});
    if (!begin_owned(row)) return false;
  }
  if (owned_[id].owners.take(row, row.place)) [[likely]]
    return put(row, kOwnedRows);
  give_up_owners(id);
  return false;
}

// Lets rows wait that marks of owners allow, from the first write of a period on; what was read
// before waits already.  False: they must not.
bool EpochRaces::begin_owned(const RowAccess& row) {
  const std::uint32_t id = row.allocation->id;
  const Shadow::Period period = numbers_.period_of(row);
  DeferredRows& rows = *queues_[id];
  Owned& owned = owned_[id];
  const bool are_reads = rows.takes({}, period.number);
  const bool are_recorded =
      shadows_[id].period().number == period.number && shadows_[id].used() != 0;
  if (!may_own_ || row.bytes < 4 || numbers_.launches() < owned.tried_from || are_recorded ||
      (rows.period() == period.number && !are_reads) || !has_room_for_owners(*row.allocation) ||
      !owned.owners.begin(row.allocation->limit())) {
    return false;
  }
  if (!are_reads) {
    owned.owners.lend(rows.queue());
    return begin_rows(row, kOwnedRows);
  }
  WarpPlace warp;
  const bool are_allowed = rows.for_each_of_period([&](const RowAccess& read, Epoch epoch) {
    warp.block = block_of(epoch);
    warp.warp = thread_of(epoch) / kWarpLanes;
    return owned.owners.take(read, warp);
  });
  if (are_allowed) {
    go_on_owned(id);
  } else {
    give_up_owners(id);
  }
  return are_allowed;
}

bool EpochRaces::has_room_for_owners(const Allocation& allocation) const {
  if (owned_[allocation.id].owners.host_bytes() >= allocation.limit()) return true;
  return bytes_of_owners() + allocation.limit() <= kOwnerBytesMax;
}

std::size_t EpochRaces::bytes_of_owners() const {
  std::size_t bytes = 0;
  for (const Owned& owned : owned_) bytes += owned.owners.host_bytes();
  return bytes;
}

void EpochRaces::go_on_owned(std::uint32_t id) {
  queues_[id]->go_on(kOwnedRows, numbers_.global_period());
  owned_[id].owners.lend(queues_[id]->queue());
}

// The rows of the period that wait are performed by the access that follows.
void EpochRaces::give_up_owners(std::uint32_t id) {
  constexpr std::uint64_t kPauseMax = 63;
  queues_[id]->close();
  Owned& owned = owned_[id];
  owned.pause = std::min(2 * owned.pause + 1, kPauseMax);
  owned.tried_from = numbers_.launches() + owned.pause;
}

// Lets rows of this kind and period wait from now on.  False: they must not, or there is no room.
bool EpochRaces::begin_rows(const RowAccess& row, QueuedKind kind) {
  const Shadow& shadow = shadows_[row.allocation->id];
  DeferredRows& rows = *queues_[row.allocation->id];
  const Shadow::Period period = numbers_.period_of(row);
  if (rows.period() == period.number) return false;  // rows of another kind wait
  if (shadow.period().number == period.number) {
    if ((shadow.used() & ~classes_in(kind)) != 0) return false;
    rows.go_on(kind, period.number);
  } else if (!rows.begin(kind, period, row.allocation->limit(), room_)) {
    return false;
  }
  open_queues_.push_back(&rows);
  return true;
}

void EpochRaces::close_queues() {
  for (DeferredRows* const rows : std::exchange(open_queues_, {})) rows->close();
}

void EpochRaces::clear_queues() {
  for (const std::unique_ptr<DeferredRows>& rows : queues_) {
    if (!rows->is_empty()) rows->clear(room_);
  }
}

void EpochRaces::perform_rows(Shadow& shadow, DeferredRows& rows) {
  rows.perform(
      room_,
      [&](const Shadow::Period& period, std::uint32_t bytes) { shadow.begin(period, bytes); },
      [&](RowAccess& row, Epoch epoch, QueuedKind kind) {
        if (kind.scope != 0 && row.pattern == Pattern::scattered) set_pattern(row);
        take_in_shadow(row, epoch, class_of_queued(kind), shadow);
      });
}

void EpochRaces::perform_all_rows() {
  open_queues_.clear();
  for (std::uint32_t id = 0; id < shadows_.size(); ++id) {
    DeferredRows& rows = *queues_[id];
    const bool is_owned = rows.takes(kOwnedRows, numbers_.global_period());
    if (!rows.is_empty()) perform_rows(shadows_[id], rows);
    if (!is_owned) continue;
    // The marks know all rows of the period.
    go_on_owned(id);
    open_queues_.push_back(&rows);
  }
}

//   epoch: of the thread in lane 0
bool EpochRaces::take_in_shadow(const RowAccess& access, Epoch epoch, unsigned access_class,
                                Shadow& shadow) {
  if (takes_line(access, epoch, access.first, access_class, shadow)) return true;
  RaceRow row = row_of(access, epoch, access_class, shadow);
  row.offset = access.offsets;
  row.cell = start_of(access.first) >> row.offset_shift;
  if (limits_.has_rows && loops_.take_as_rows(row, access.pattern, access_class, shadow)) {
    return true;
  }
  prepare_cells(row, access.pattern, access_class, shadow);
  const RaceRowResult result = loops_.check(row, access.pattern, access_class == kWeakRead, shadow);
  if (result == RaceRowResult::conflict) return false;
  mark(shadow, access_class, result == RaceRowResult::displaced);
  return true;
}

// Returns a row with everything that checks of one access class need, except the offsets and the
// cell.
template <typename AnyAccess>
inline RaceRow EpochRaces::row_of(const AnyAccess& access, Epoch epoch, unsigned access_class,
                                  Shadow& shadow) const {
  if (access.bytes < 4 && !shadow.is_bytes()) shadow.split_to_bytes();
  RaceRow row;
  row.epoch = epoch;
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
inline bool EpochRaces::takes_line(const AnyAccess& access, Epoch epoch, std::int64_t first,
                                   unsigned access_class, Shadow& shadow) const {
  constexpr std::int64_t kLineBytes = 4 * kLineCells;
  return access.mask == ~0u && access.bytes == 4 && access.pattern == Pattern::strided &&
         first % kLineBytes == 0 && limits_.has_rows && !shadow.is_bytes() &&
         shadow.takes_rows(access_class) &&
         shadow.take_line(first / kLineBytes, epoch, access.pc, access_class, ordered_threads_);
}

// Sets where to record the row and which histories to check, in cells.
inline void EpochRaces::prepare_cells(RaceRow& row, Pattern pattern, unsigned access_class,
                                      Shadow& shadow) {
  ++work_.in_cells;
  shadow.to_cells(row, pattern);
  const Shadow::Plan& plan = shadow.plan(access_class, ordered_threads_, hands_on_);
  row.history = plan.history;
  row.checks = static_cast<std::uint8_t>(plan.checks.size());
  row.check = plan.checks.data();
}

void EpochRaces::check_in_shadow(const Access& access) {
  Shadow& shadow = shadow_of(access);
  const Epoch epoch = numbers_.epoch_of(access);
  const unsigned access_class = class_of(access).index();
  if (takes_line(access, epoch, access.offset[0], access_class, shadow)) return;
  RaceRow row = row_of(access, epoch, access_class, shadow);
  row.offset = access.offset.data();
  row.cell = first_cell(access, access.pattern, row.offset_shift);
  if (limits_.has_rows && loops_.take_as_rows(row, access.pattern, access_class, shadow)) {
    return;
  }
  prepare_cells(row, access.pattern, access_class, shadow);
  const bool is_weak = access.order == ptx::Order::weak;
  const bool meet = hands_on_ && ordered_threads_ == kOrderedInThread && !is_weak &&
                    access.kind == AccessKind::write && lanes_meet(access);
  if (meet && !is_one_value(access)) return check_lane_by_lane(access, access_class, row, shadow);
  const bool is_weak_read = access.kind == AccessKind::read && is_weak;
  const RaceRowResult result = loops_.check(row, access.pattern, is_weak_read, shadow);
  if (result == RaceRowResult::conflict) {
    return check_lane_by_lane(access, access_class, row, shadow);
  }
  mark(shadow, access_class, result == RaceRowResult::displaced);
  if (meet) reports_.begin_same_value(access, row.epoch);
}

void EpochRaces::check_lane_by_lane(const Access& access, unsigned access_class, RaceRow& row,
                                    Shadow& shadow) {
  row.history = shadow.history(access_class, true);
  const std::int64_t cells = std::int64_t{1} << row.cells_log2;
  for_each_bit(access.mask, [&](unsigned lane) {
    reports_.report_lane({{access, lane}, access_class}, row, shadow);
    const std::int64_t begin = access.offset[lane] >> row.offset_shift;
    bool displaced = false;
    for (std::int64_t cell = begin; cell < begin + cells; ++cell) {
      displaced |= vgpu::record(row.history, cell, row.epoch + lane, row.pc, row.ordered_threads);
    }
    mark(shadow, access_class, displaced);
  });
}

// Within the launch, other memory may get the id of freed heap memory.
void EpochRaces::forget(const Allocation& allocation) {
  if (allocation.id >= shadows_.size()) return;
  Shadow& shadow = shadows_[allocation.id];
  if (!allocation.on_heap()) {
    WordOwners& owners = owned_[allocation.id].owners;
    const std::size_t bytes = shadow.host_bytes() + owners.host_bytes();
    if (bytes < kReleasedMin) return;
    if (left_bytes_ + bytes <= kLeftBytesMax) {
      left_bytes_ += bytes;
      return;
    }
    queues_[allocation.id]->clear(room_);
    owners.release();
    return shadow.release();
  }
  perform_rows(shadow, *queues_[allocation.id]);
  if (shadow.period().launch != numbers_.launches()) return;
  shadow.clear();
  shadow.begin({0, numbers_.launches(), true}, 0);
}

}  // namespace warpcheck::vgpu
