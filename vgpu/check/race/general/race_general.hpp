// The general race checker, for programs that synchronise by more than whole-block barriers.
//
// The definition of a race is that of race.hpp (PTX ISA 8.7.1), and so are the classes of accesses.
// Only the order differs: it is the causality order of chapter 8.9, with release and acquire
// patterns, barriers of any set of threads, mbarriers, asynchronous copies and unordered launches
// (thread_order.hpp, sync_variables.hpp).
//
// A row of accesses is checked against the records of its cells (row_check.hpp, weak_accesses.hpp)
// and recorded there (race_cells.hpp), unless a log can take it as it is: of a phase of shared
// memory (shared_phases.hpp), or of atomics (deferred_atomics.hpp).
//
// A synchronisation orders what comes after its whole pattern, so the operations of the pattern
// itself are checked before it takes effect.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "vgpu/check/checker.hpp"
#include "vgpu/check/order/collective_order.hpp"
#include "vgpu/check/race/general/counted_launches.hpp"
#include "vgpu/check/race/general/deferred/deferred_atomics.hpp"
#include "vgpu/check/race/general/deferred/deferred_reads.hpp"
#include "vgpu/check/race/general/general_state.hpp"
#include "vgpu/check/race/general/host_races.hpp"
#include "vgpu/check/race/general/race_reports.hpp"
#include "vgpu/check/race/general/repeated_polls.hpp"
#include "vgpu/check/race/general/row_check.hpp"
#include "vgpu/check/race/general/shared_owners.hpp"
#include "vgpu/check/race/general/shared_phases.hpp"
#include "vgpu/check/race/general/weak_accesses.hpp"

namespace warpcheck::vgpu {

class GeneralRaceChecker final : public Checker {
 public:
  GeneralRaceChecker(Reporter& reporter, CollectiveOrder& collectives,
                     const RaceRowFunctions& functions, const EpochLimits& limits);

  void reset(WarpModel model) override;
  void on_sync(const Sync& sync) override;
  // Replaces on_sync() for a launch that another checker checks: this checker receives no other
  // event of it.  No earlier launch is unordered with it.
  void count_launch(const LaunchShape& shape) { counted_.add(shape); }
  void begins_beside(std::span<const std::uint32_t> suspended) override;
  void resumes(const ResumedLaunch& resumed) override;
  // From now on this checker checks the running launch, which it has only counted.  A block of it
  // is told as in on_sync(), with its present phase.
  void take_over() {
    catch_up();
    end_queues();
    is_running_ = true;
  }
  void on_access(const Access& access) override;
  bool takes_row(const RowAccess& access) override;
  bool takes_product(const ProductRead& read) override;
  AccessRecord* record_of(std::uint32_t slot) override { return phases_.record_of(slot); }
  std::optional<RowQueue*> queue_of(const Allocation& allocation) override {
    RowQueue* const atomics = deferred_.queue_of(allocation.id);
    RowQueue* const queue = atomics != nullptr ? atomics : reads_.queue_of(allocation);
    return queue == nullptr ? std::nullopt : std::optional(queue);
  }
  void on_fence(const Fence& fence) override;
  void on_meeting(const Meeting& meeting) override {
    settle(meeting.place);
    deferred_.perform_observed_by_block(meeting.place);
    state_.order.meet(meeting);
  }
  void on_device_launch(const DeviceLaunch& event) override {
    settle(event.place);
    state_.order.launch_from(event);
  }
  void on_barrier_object(const BarrierObject& event) override {
    settle(event.place);
    state_.barrier_objects.pass(event, owners_.block_of(*event.allocation));
  }
  void on_cluster_barrier(const ClusterBarrier& event) override {
    begin_event();
    state_.cluster_order.pass(event);
  }
  void on_copy_commit(const CopyCommit& commit) override {
    begin_event();
    state_.order.copies().commit(commit);
  }
  void on_copy_wait(const CopyWait& wait) override {
    begin_event();
    state_.order.copies().wait(wait);
  }
  void on_allocate(const Allocation& allocation) override { on_free(allocation); }
  void on_free(const Allocation& allocation) override;
  void on_host_access(const HostAccess& access) override;
  void on_late_host_access(const HostAccess& access) override;
  void on_device_copy(const DeviceCopy& copy) override;
  void on_operand(const OperandAccess& access) override;
  void on_late_operand(const OperandAccess& access) override;

  // Returns a number that changes when a lane of the warp acquires or releases something.
  [[nodiscard]] std::uint32_t knowledge_at(const WarpPlace& place) {
    return state_.order.present_segment(place);
  }
  [[nodiscard]] const RaceWork& work() const { return state_.work; }
  // Records an access of an earlier launch.
  void recall(const RecalledAccess& recalled);

 private:
  // Completes the rows that machine code has added.  Must be called before a warp of the block
  // releases or learns anything.
  void settle(const WarpPlace& place) {
    phases_.settle(place);
    begin_event();
  }
  // Something is done that is no row of accesses, or a row that is not only read.
  void begin_event() {
    settle_queues();
    polls_.forget();
  }
  // Finds the segments of rows that machine code has queued.
  void settle_queues() {
    reads_.settle();
    deferred_.settle();
  }
  // The launch queues no more rows.
  void end_queues() {
    reads_.end_launch();
    deferred_.end_launch();
  }
  void begin_launch(const LaunchShape& launch, std::span<const std::uint32_t> unordered = {},
                    std::uint32_t early_after = ptx::kNone);
  void suspend();
  void begin_block(const Sync& sync);
  void end_shared(const Sync& sync);
  void catch_up();
  [[nodiscard]] SegmentId segment_of(const Access& access);
  bool defer_in_lines(const Access& access) {
    return deferred_.defer_in_lines(access, segment_of(access), memory_of(access));
  }
  bool queue_atomics(const Access& access);
  template <typename AnyAccess>
  bool take_in_lines(const AnyAccess& access, SegmentId now, std::int64_t first,
                     const std::uint32_t* offsets);
  // Returns the memory that the access is about to be recorded in.
  template <typename AnyAccess>
  CellMemory& memory_of(const AnyAccess& access, std::int64_t first);
  CellMemory& memory_of(const Access& access);
  CheckedRow row_of(const Access& access);
  void check_strong(CheckedRow& row);
  void check_lanes_of_store(const CheckedRow& row);
  void check_host(const HostAccess& access, const LibraryOperand* operand = nullptr);
  void overwrite(const Allocation& allocation, std::uint32_t offset, std::uint32_t bytes);
  template <typename Visit>
  void for_each_segment(Visit visit);
  void tidy_up();

  // What belongs to a launch that is suspended.
  struct Suspended {
    SharedPhases::OfLaunch phases;
    DeferredAtomics::OfLaunch deferred;
    MissedReads missed;
    SegmentId first_unordered = 0;
  };

  // As long as there was no event in the trial but counted launches, all state below is as reset()
  // has left it.
  CountedLaunches counted_;
  bool is_idle_ = false;
  WarpModel model_{};
  std::uint32_t segments_kept_;        // before the first call of tidy_up()
  std::uint32_t tidy_at_;              // number of segments
  bool is_running_ = false;            // the current launch has not ended
  std::vector<std::uint32_t> beside_;  // launches that are suspended while the next one begins
  std::map<std::uint32_t, Suspended> suspended_;
  Access of_product_;  // scratch: what the reads of a product have in common
  GeneralState state_;
  RowCausality causality_{state_.order, state_.barrier_objects};
  SharedOwners owners_{state_.order};
  StrongOperations strong_{state_};
  DeferredAtomics deferred_;
  DeferredReads reads_;
  RepeatedPolls polls_;
  SharedPhases phases_{state_, deferred_};
  // the checks
  RaceReports reports_;
  RunsFn runs_;
  RowCheck checks_;
  WeakAccesses weak_;
  HostRaces host_;
};

}  // namespace warpcheck::vgpu
