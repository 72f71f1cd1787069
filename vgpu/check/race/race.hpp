// The race checker: data races by happens-before, in shared and global memory.
//
// PTX ISA 8.7.1: two overlapping memory operations conflict when at least one of them is a write;
// two conflicting operations are in a data race when they are not related in causality order and
// not morally strong.  Two strong operations are morally strong (8.7) if their scopes include each
// other's thread and they overlap completely.  Strong are atomics, and loads and stores that are
// volatile (8.4: relaxed at system scope), relaxed, acquire or release.  A vector access counts as
// that many scalar accesses (8.2.2).
//
// Volatile and relaxed accesses do not race, but they may pass data on without any order:
// race_weight.hpp says which of these cases are reported, and how.
//
// Most programs synchronise only by whole-block barriers and by the order of kernels.  Their
// launches are checked by epochs (epoch_races.hpp); with WarpModel::lockstep the lanes of a warp
// are ordered too, except those that execute one store (one_statement.hpp).  Launches of programs
// with further synchronisation (Program::synchronizes_threads), and launches that are not ordered
// among themselves, are checked by GeneralRaceChecker.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "vgpu/check/checker.hpp"
#include "vgpu/check/order/collective_order.hpp"
#include "vgpu/check/race/checking_engine.hpp"
#include "vgpu/check/race/epoch_races.hpp"
#include "vgpu/check/race/race_work.hpp"
#include "vgpu/check/race/rows/race_rows.hpp"

namespace warpcheck::vgpu {

class GeneralRaceChecker;
class TensorOrder;

class RaceChecker final : public Checker {
 public:
  // The checker uses the loops of `functions` throughout the trial.
  RaceChecker(Reporter& reporter, const RaceRowFunctions& functions,
              const EpochLimits& limits = {});
  ~RaceChecker() override;

  void configure(const CheckerSet& set) override;
  void reset(WarpModel model) override;
  void on_sync(const Sync& sync) override;
  void begins_beside(std::span<const std::uint32_t> suspended) override;
  void resumes(const ResumedLaunch& resumed) override;
  void on_access(const Access& access) override;
  bool takes_row(const RowAccess& row) override;
  bool takes_product(const ProductRead& read) override;
  AccessRecord* record_of(std::uint32_t slot) override;
  std::optional<RowQueue*> queue_of(const Allocation& allocation) override;
  void on_fence(const Fence& fence) override;
  void on_meeting(const Meeting& meeting) override;
  void on_device_launch(const DeviceLaunch& event) override;
  [[nodiscard]] Watched watches() const override { return {.collectives = true}; }
  [[nodiscard]] bool may_be_split() const override { return true; }
  [[nodiscard]] bool watches_collectives_of(const Program&) const override {
    return collectives_.is_on();
  }
  void on_collective(const Collective& event) override;
  void on_barrier_object(const BarrierObject& event) override;
  void on_cluster_barrier(const ClusterBarrier& event) override;
  void on_tensor_memory(const TensorMemoryEvent& event) override;
  void on_copy_commit(const CopyCommit& commit) override;
  void on_copy_wait(const CopyWait& wait) override;
  // Can find a race only if the host did not wait for every kernel.
  void on_host_access(const HostAccess& access) override;
  void on_late_host_access(const HostAccess& access) override;
  void on_device_copy(const DeviceCopy& copy) override;
  void on_operand(const OperandAccess& access) override;
  void on_late_operand(const OperandAccess& access) override;
  void on_allocate(const Allocation& allocation) override;
  // Freeing conflicts with every access, like a write of all bytes.
  void on_heap_free(const HeapFree& event) override;
  void on_free(const Allocation& allocation) override;

  // Returns what the trial has cost.
  [[nodiscard]] RaceWork work() const;

 private:
  void begin_launch(const Sync& sync);
  void suspend();
  void split();
  void lend_logs(const WarpPlace& place);
  void take_logs_back();
  void begin_streams();
  void recall_accesses();
  void check_one_by_one(const Access& access);
  void check(const Access& access);
  // Returns whether accesses that come by on_access() need more than a check: their loads are
  // logged, or they are not checked as what they are.
  [[nodiscard]] bool needs_each() const { return collectives_.is_on() || volatile_is_weak_; }
  // Takes an Access or a RowAccess.  Returns whether lanes that lockstep orders may store to one
  // place at once: their values are looked at.
  [[nodiscard]] bool is_statement_of_lanes(const auto& access) const {
    return model_ == WarpModel::lockstep && access.kind == AccessKind::write &&
           access.pattern != Pattern::strided;
  }

  // What belongs to a launch that is suspended.
  struct Suspended {
    CollectiveOrder collectives;
    CheckingEngine::By by{};
  };

  CollectiveOrder collectives_;
  EpochRaces epochs_;
  std::unique_ptr<GeneralRaceChecker> general_;
  // Null, unless the running launch has tensor memory.
  std::unique_ptr<TensorOrder> tensor_;
  WarpModel model_{};
  std::uint64_t blocks_max_;  // of a grid that is checked by epochs
  bool volatile_is_weak_ = false;
  RaceWork calls_;  // its rows and accesses
  CheckingEngine engine_;
  std::map<std::uint32_t, Suspended> suspended_;  // by their numbers in the trial
};

}  // namespace warpcheck::vgpu
