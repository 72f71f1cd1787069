#include "vgpu/check/race/race.hpp"

#include <utility>

#include "vgpu/check/checkers.hpp"
#include "vgpu/check/race/general/race_general.hpp"
#include "vgpu/machine/machine.hpp"

namespace warpcheck::vgpu {

std::unique_ptr<Checker> make_race_checker(Reporter& reporter) {
  return std::make_unique<RaceChecker>(reporter, race_row_functions(simd_level()));
}

RaceChecker::RaceChecker(Reporter& reporter, const RaceRowFunctions& functions,
                         const EpochLimits& limits)
    : Checker(reporter),
      epochs_(reporter, collectives_, functions, limits),
      general_(std::make_unique<GeneralRaceChecker>(reporter, collectives_, limits)),
      blocks_max_(limits.blocks) {}

RaceChecker::~RaceChecker() = default;

void RaceChecker::configure(const CheckerSet& set) { volatile_is_weak_ = set.volatile_is_weak; }

void RaceChecker::reset(WarpModel model) {
  collectives_.reset(model);
  general_->reset(model);
  epochs_.reset(model);
  is_general_ = is_split_ = has_streams_ = is_running_ = recalls_at_end_ = false;
  is_plain_ = is_plain_in_shared_ = false;
  launches_ = current_ = 0;
  suspended_.clear();
}

void RaceChecker::begin_launch(const Sync& sync) {
  if (!sync.unordered_launches.empty()) begin_streams();
  const bool fits = sync.grid.count() <= blocks_max_ && sync.block.count() <= kThreadsMax;
  is_general_ = has_streams_ || sync.program->synchronizes_threads || !fits;
  is_split_ = is_plain_in_shared_ = false;
  is_running_ = true;
  current_ = launches_++;
  collectives_.begin_launch(*sync.program);
  is_plain_ = !is_general_ && !collectives_.is_on() && !volatile_is_weak_;
  if (is_general_) {
    general_->on_sync(sync);
  } else {
    general_->count_launch(shape_of(sync));
    epochs_.begin_launch(sync, current_);
    recalls_at_end_ = false;
  }
}

void RaceChecker::on_sync(const Sync& sync) {
  if (sync.kind == Sync::Kind::kernel_start) return begin_launch(sync);
  if (sync.kind == Sync::Kind::block_start) collectives_.begin_block(sync.place);
  if (is_general_) {
    is_running_ = sync.kind != Sync::Kind::kernel_end;
    general_->on_sync(sync);
    if (!is_split_) return;
  }
  switch (sync.kind) {
    case Sync::Kind::block_start: epochs_.begin_block(sync); break;
    case Sync::Kind::barrier_complete: epochs_.complete_barrier(sync.place); break;
    case Sync::Kind::kernel_end:
      is_running_ = false;
      if (std::exchange(recalls_at_end_, false)) recall_accesses();
      break;
    case Sync::Kind::kernel_start:
    case Sync::Kind::block_end: break;
  }
}

void RaceChecker::begins_beside(std::span<const std::uint32_t> suspended) {
  if (is_running_ && !is_general_) split();
  begin_streams();
  general_->begins_beside(suspended);
  if (is_running_) suspend();
}

// Launches that overlap are checked by general_.  It takes over the current one, which is checked
// by epochs, so only barriers order its threads.  The machine may keep the places where its shared
// memory is recorded, and no other launch can access that.
void RaceChecker::split() {
  general_->take_over();
  is_general_ = is_split_ = true;
  is_plain_in_shared_ = std::exchange(is_plain_, false);
  recalls_at_end_ = false;
  Sync start;
  start.kind = Sync::Kind::block_start;
  epochs_.for_each_slot([&](const WarpPlace& place) {
    start.place = place;
    general_->on_sync(start);
  });
  recall_accesses();
  has_streams_ = true;
}

void RaceChecker::suspend() {
  suspended_[current_] = {collectives_.suspend(), is_split_, is_plain_in_shared_};
  is_running_ = false;
}

void RaceChecker::resumes(const ResumedLaunch& resumed) {
  if (resumed.launch != current_ || !is_running_) {
    if (is_running_) suspend();
    Suspended& suspended = suspended_.at(resumed.launch);
    collectives_ = std::move(suspended.collectives);
    is_split_ = suspended.is_split;
    is_plain_in_shared_ = suspended.is_plain_in_shared;
    is_plain_ = false;
    suspended_.erase(resumed.launch);
    current_ = resumed.launch;
    is_general_ = is_running_ = true;
  }
  if (is_general_) general_->resumes(resumed);
}

// From now on, launches of the trial may be unordered.  What the fast engine has recorded is all
// that can matter of the earlier launches: those were ordered, so each record stands for the
// records that it has replaced.
void RaceChecker::begin_streams() {
  if (has_streams_) return;
  has_streams_ = true;
  recall_accesses();
  recalls_at_end_ = is_running_ && !is_general_;
}

void RaceChecker::recall_accesses() {
  epochs_.take_accesses([&](const RecalledAccess& access) {
    // Epochs go on to check the shared memory of a launch that is split.
    if (access.is_global || !is_split_ || access.launch != current_) general_->recall(access);
  });
}

void RaceChecker::on_access(Access& access) {
  // No other space can be shared between threads and written.
  if (access.space != ptx::Space::shared && access.space != ptx::Space::global) return;
  if (is_plain_) [[likely]]
    return epochs_.check(access);
  check_access(access);
}

bool RaceChecker::takes_row(const RowAccess& access) {
  if (access.space != ptx::Space::shared && access.space != ptx::Space::global) return true;
  if (is_general_in(access.space)) return !collectives_.is_on() && general_->takes_row(access);
  return (is_plain_ || is_plain_in_shared_) && epochs_.take(access);
}

bool RaceChecker::lends_notes(std::uint32_t slot, RowNotes& notes) {
  if (is_general_in(ptx::Space::shared)) {
    return !collectives_.is_on() && !volatile_is_weak_ && general_->lends_notes(slot, notes);
  }
  const bool lends = is_plain_ || is_plain_in_shared_;
  if (lends) notes.rows = &epochs_.notes_of(slot);
  return lends;
}

void RaceChecker::check_access(Access& access) {
  if (collectives_.is_on() && access.kind == AccessKind::read && !access.asynchronous) {
    collectives_.on_load(access);
  }
  const auto check = [&] {
    is_general_in(access.space) ? general_->on_access(access) : epochs_.check(access);
  };
  if (!volatile_is_weak_ || access.order != ptx::Order::volatile_) return check();
  const auto scope = std::exchange(access.scope, ptx::Scope::none);
  access.order = ptx::Order::weak;
  check();
  access.order = ptx::Order::volatile_;
  access.scope = scope;
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
  if (!access.unordered_launches.empty() && epochs_.has_records_of(*access.allocation)) {
    begin_streams();
  }
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

void RaceChecker::on_free(const Allocation& allocation) {
  general_->on_free(allocation);
  epochs_.forget(allocation);
}

}  // namespace warpcheck::vgpu
