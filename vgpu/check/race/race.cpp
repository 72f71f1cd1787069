#include "vgpu/check/race/race.hpp"

#include <utility>

#include "vgpu/check/checkers.hpp"
#include "vgpu/check/race/general/race_general.hpp"
#include "vgpu/check/race/one_statement.hpp"
#include "vgpu/check/tensor_memory/tensor_order.hpp"
#include "vgpu/machine/access/access_record.hpp"
#include "vgpu/machine/compute/simd.hpp"
#include "vgpu/machine/machine.hpp"

namespace warpcheck::vgpu {

std::unique_ptr<Checker> make_race_checker(Reporter& reporter) {
  return std::make_unique<RaceChecker>(reporter, race_row_functions(simd_level()));
}

RaceChecker::RaceChecker(Reporter& reporter, const RaceRowFunctions& functions,
                         const EpochLimits& limits)
    : Checker(reporter),
      epochs_(reporter, collectives_, functions, limits),
      general_(std::make_unique<GeneralRaceChecker>(reporter, collectives_, functions, limits)),
      blocks_max_(limits.blocks) {}

RaceChecker::~RaceChecker() = default;

void RaceChecker::configure(const CheckerSet& set) { volatile_is_weak_ = set.volatile_is_weak; }

void RaceChecker::reset(WarpModel model) {
  model_ = model;
  tensor_.reset();
  collectives_.reset(model);
  general_->reset(model);
  epochs_.reset(model);
  engine_ = {};
  suspended_.clear();
  calls_ = {};
}

RaceWork RaceChecker::work() const { return calls_ + epochs_.work() + general_->work(); }

void RaceChecker::begin_launch(const Sync& sync) {
  if (!sync.unordered_launches.empty()) begin_streams();
  const bool fits = sync.grid.count() <= blocks_max_ && sync.block.count() <= kThreadsMax;
  engine_.begin(sync.program->synchronizes_threads || !fits);
  collectives_.begin_launch(*sync.program, sync.block.count());
  tensor_.reset();
  if (sync.program->tensor_memory != nullptr) {
    tensor_ = std::make_unique<TensorOrder>(reporter_);
    tensor_->begin_launch(sync, model_);
  }
  if (engine_.has_general()) {
    general_->on_sync(sync);
  } else {
    general_->count_launch(shape_of(sync));
    epochs_.begin_launch(sync, engine_.launch());
  }
}

void RaceChecker::on_sync(const Sync& sync) {
  if (sync.kind == Sync::Kind::kernel_start) return begin_launch(sync);
  if (sync.kind == Sync::Kind::block_start) collectives_.begin_block(sync.place);
  if (engine_.has_general()) general_->on_sync(sync);
  if (tensor_ != nullptr) [[unlikely]]
    tensor_->on_sync(sync);
  if (engine_.has_epochs()) {
    if (sync.kind == Sync::Kind::block_start) epochs_.begin_block(sync);
    if (sync.kind == Sync::Kind::barrier_complete) epochs_.complete_barrier(sync.place);
  }
  if (sync.kind == Sync::Kind::block_start || sync.kind == Sync::Kind::barrier_complete) {
    lend_logs(sync.place);
  }
  if (sync.kind != Sync::Kind::kernel_end) return;
  take_logs_back();
  epochs_.close_queues();
  if (engine_.is_by_epochs() && engine_.has_streams()) recall_accesses();
  engine_.leave();
}

void RaceChecker::begins_beside(std::span<const std::uint32_t> suspended) {
  if (engine_.is_by_epochs()) split();
  begin_streams();
  general_->begins_beside(suspended);
  if (engine_.is_running()) suspend();
}

// The general engine takes over the running launch, of which only barriers have ordered threads.
void RaceChecker::split() {
  general_->take_over();
  engine_.split();
  Sync start;
  start.kind = Sync::Kind::block_start;
  epochs_.for_each_slot([&](const WarpPlace& place) {
    start.place = place;
    general_->on_sync(start);
  });
  engine_.begin_streams();
  recall_accesses();
}

// Lets machine code log loads that are not reported, for the order of collectives.
void RaceChecker::lend_logs(const WarpPlace& place) {
  if (AccessRecord* const record = record_of(place.slot)) collectives_.lend_logs(place, *record);
}

void RaceChecker::take_logs_back() {
  collectives_.for_each_lent([this](const WarpPlace& place) {
    if (AccessRecord* const record = record_of(place.slot)) record->loads = nullptr;
  });
}

void RaceChecker::suspend() {
  take_logs_back();
  epochs_.close_queues();
  suspended_[engine_.launch()] = {collectives_.suspend(), engine_.leave()};
}

// The order of tensor memory is not followed in a launch that was suspended.
void RaceChecker::resumes(const ResumedLaunch& resumed) {
  tensor_.reset();
  if (!engine_.is_running(resumed.launch)) {
    if (engine_.is_running()) suspend();
    Suspended& suspended = suspended_.at(resumed.launch);
    collectives_ = std::move(suspended.collectives);
    engine_.resume(resumed.launch, suspended.by);
    suspended_.erase(resumed.launch);
  }
  if (engine_.has_general()) general_->resumes(resumed);
  collectives_.for_each_lent([this](const WarpPlace& place) { lend_logs(place); });
}

// What epochs have recorded is all that can matter of the earlier launches: those were ordered, so
// each record stands for the records that it has replaced.  A launch that epochs check is recalled
// once more at its end.
void RaceChecker::begin_streams() {
  if (engine_.begin_streams()) recall_accesses();
}

void RaceChecker::recall_accesses() {
  epochs_.take_accesses([&](const RecalledAccess& access) {
    const bool is_past = access.launch != engine_.launch();
    if (access.is_global || is_past || !engine_.has_general()) general_->recall(access);
  });
}

void RaceChecker::on_access(const Access& access) {
  // No other space can be shared between threads and written.
  if (access.space != ptx::Space::shared && access.space != ptx::Space::global) return;
  ++calls_.accesses;
  if (needs_each()) [[unlikely]]
    return check_one_by_one(access);
  check(access);
}

bool RaceChecker::takes_row(const RowAccess& access) {
  if (access.space != ptx::Space::shared && access.space != ptx::Space::global) return true;
  ++calls_.rows;
  if (volatile_is_weak_ || is_statement_of_lanes(access)) return false;
  const bool is_taken =
      engine_.is_general_in(access.space) ? general_->takes_row(access) : epochs_.take(access);
  if (is_taken && collectives_.is_on() && access.kind == AccessKind::read) {
    collectives_.on_load(access);
  }
  return is_taken;
}

bool RaceChecker::takes_product(const ProductRead& read) {
  return engine_.is_general_in(ptx::Space::shared) && general_->takes_product(read);
}

AccessRecord* RaceChecker::record_of(std::uint32_t slot) {
  if (volatile_is_weak_ || model_ == WarpModel::lockstep) return nullptr;
  return engine_.is_general_in(ptx::Space::shared) ? general_->record_of(slot)
                                                   : &epochs_.record_of(slot);
}

std::optional<RowQueue*> RaceChecker::queue_of(const Allocation& allocation) {
  if (volatile_is_weak_) return std::nullopt;
  if (allocation.space != ptx::Space::global) return nullptr;
  return engine_.is_general_in(ptx::Space::global) ? general_->queue_of(allocation)
                                                   : epochs_.queue_of(allocation);
}

void RaceChecker::check(const Access& access) {
  if (access.order == ptx::Order::weak && is_statement_of_lanes(access)) [[unlikely]]
    check_one_statement(access, reporter_);
  engine_.is_general_in(access.space) ? general_->on_access(access) : epochs_.check(access);
}

void RaceChecker::check_one_by_one(const Access& access) {
  if (collectives_.is_on() && access.kind == AccessKind::read && !access.asynchronous) {
    collectives_.on_load(row_of(access));
  }
  if (!volatile_is_weak_ || access.order != ptx::Order::volatile_) return check(access);
  Access weak = access;
  weak.order = ptx::Order::weak;
  weak.scope = ptx::Scope::none;
  check(weak);
}

void RaceChecker::on_fence(const Fence& fence) {
  if (engine_.has_general() || fence.lets_grid_begin) general_->on_fence(fence);
}
void RaceChecker::on_device_launch(const DeviceLaunch& event) {
  if (engine_.has_general()) general_->on_device_launch(event);
}

void RaceChecker::on_meeting(const Meeting& meeting) {
  if (tensor_ != nullptr) [[unlikely]]
    tensor_->on_meeting(meeting);
  if (engine_.has_general()) general_->on_meeting(meeting);
}
void RaceChecker::on_collective(const Collective& event) {
  collectives_.on_collective(event,
                             engine_.has_general() ? general_->knowledge_at(event.place) : 0);
}
void RaceChecker::on_tensor_memory(const TensorMemoryEvent& event) {
  if (tensor_ != nullptr) tensor_->on_tensor_memory(event);
}
void RaceChecker::on_barrier_object(const BarrierObject& event) {
  if (tensor_ != nullptr) [[unlikely]]
    tensor_->on_barrier_object(event);
  if (engine_.has_general()) general_->on_barrier_object(event);
}
void RaceChecker::on_cluster_barrier(const ClusterBarrier& event) {
  if (tensor_ != nullptr) [[unlikely]]
    tensor_->on_cluster_barrier(event);
  if (engine_.has_general()) general_->on_cluster_barrier(event);
}
void RaceChecker::on_copy_commit(const CopyCommit& commit) {
  if (engine_.has_general()) general_->on_copy_commit(commit);
}
void RaceChecker::on_copy_wait(const CopyWait& wait) {
  if (engine_.has_general()) general_->on_copy_wait(wait);
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
void RaceChecker::on_operand(const OperandAccess& access) {
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
