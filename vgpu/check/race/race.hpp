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
// Most programs synchronise only by whole-block barriers and by the order of kernels.  For them,
// two epochs tell their causality order (epoch.hpp), 32 lanes at a time; with WarpModel::lockstep
// the lanes of a warp are ordered too.  Launches of programs with further synchronisation
// (Program::synchronizes_threads), and launches that are not ordered among themselves, are checked
// by GeneralRaceChecker.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "vgpu/check/checker.hpp"
#include "vgpu/check/order/collective_order.hpp"
#include "vgpu/check/order/thread_order.hpp"
#include "vgpu/check/race/race_class.hpp"
#include "vgpu/check/race/race_shadow.hpp"
#include "vgpu/check/race/race_weight.hpp"
#include "vgpu/check/race/rows/race_rows.hpp"
#include "vgpu/check/race/rows/row_log.hpp"

namespace warpcheck::vgpu {

class GeneralRaceChecker;

class RaceChecker final : public Checker {
 public:
  // The checker uses the loops of `functions` throughout the trial.
  RaceChecker(Reporter& reporter, const RaceRowFunctions& functions,
              const EpochLimits& limits = {});
  ~RaceChecker() override;

  void configure(const CheckerSet& set) override;
  void reset(WarpModel model) override;
  void on_sync(const Sync& sync) override;
  bool passes_over(const Sync& kernel_start) override;
  void on_access(Access& access) override;
  bool takes_row(const RowAccess& row) override;
  bool lends_notes(std::uint32_t slot, RowNotes& notes) override;
  void on_fence(const Fence& fence) override;
  void on_meeting(const Meeting& meeting) override;
  void on_device_launch(const DeviceLaunch& event) override;
  [[nodiscard]] bool watches_collectives() const override { return collectives_.is_on(); }
  void on_collective(const Collective& event) override;
  void on_barrier_object(const BarrierObject& event) override;
  void on_cluster_barrier(const ClusterBarrier& event) override;
  void on_copy_commit(const CopyCommit& commit) override;
  void on_copy_wait(const CopyWait& wait) override;
  // Can find a race only if the host did not wait for every kernel.
  void on_host_access(const HostAccess& access) override;
  void on_late_host_access(const HostAccess& access) override;
  void on_device_copy(const DeviceCopy& copy) override;
  void on_operand(OperandAccess& access) override;
  void on_late_operand(const OperandAccess& access) override;
  void on_allocate(const Allocation& allocation) override;
  // Freeing conflicts with every access, like a write of all bytes.
  void on_heap_free(const HeapFree& event) override;
  void on_free(const Allocation& allocation) override;

 private:
  // The phases of consecutive blocks in one slot are numbered consecutively.  So the slot's shared
  // memory, which only its own block accesses, needs no clearing between blocks.
  struct Slot {
    std::uint32_t base = 0;             // phase 0 of the current block
    std::uint32_t last = 0;             // the current phase, counted from the slot's beginning
    std::uint32_t shared = ptx::kNone;  // id of its shared memory
    std::uint32_t shared_bytes = 0;
    std::uint64_t period = 0;  // the period of that memory
    std::uint64_t launch = 0;  // the launch that this slot's state belongs to
    // The current block, its phase, and the phase that is 0 in epochs of global memory.
    std::uint32_t block = 0, phase = 0, global_base = 0;
    RowLog log;  // of the current phase
  };
  // An earlier access that races with a lane's access.
  struct Earlier {
    unsigned access_class;
    Epoch epoch;
    std::uint32_t pc;
    friend bool operator==(const Earlier&, const Earlier&) = default;
  };

  Slot& slot_at(std::uint32_t slot);
  [[nodiscard]] RaceRowResult record_scattered(RaceRow row, std::uint32_t bytes) const;
  void move_to_shadow(RowLog& log, const Access& access);
  bool read_runs(RaceRow row, std::uint32_t bytes, Shadow& shadow);
  RaceRowResult check_cells(const RaceRow& row, Pattern pattern, std::uint32_t bytes,
                            bool is_weak_read, Shadow& shadow);
  // Takes an Access or a RowAccess.
  template <typename AnyAccess>
  Shadow& shadow_of(const AnyAccess& access);
  template <typename AnyAccess>
  [[nodiscard]] Epoch epoch_of(const AnyAccess& access) const;
  template <typename AnyAccess>
  [[nodiscard]] RaceRow row_of(const AnyAccess& access, unsigned access_class,
                               Shadow& shadow) const;
  void prepare_cells(RaceRow& row, Pattern pattern, unsigned access_class, Shadow& shadow);
  template <typename AnyAccess>
  bool takes_line(const AnyAccess& access, std::int64_t first, unsigned access_class,
                  Shadow& shadow) const;
  bool take_as_rows(const RaceRow& all, Pattern pattern, unsigned access_class,
                    Shadow& shadow) const;
  void begin_launch(const Sync& sync);
  void count_passed_over();
  void begin_streams();
  void recall_all();
  void renumber_launches();
  void renumber_phases();
  void rows_to_cells();
  [[nodiscard]] std::vector<std::uint32_t> live_launches() const;
  template <typename Visit>
  void for_each_record(Visit visit) const;
  void begin_phase(const Sync& sync, std::uint32_t in_slot);
  void check_lane_by_lane(const Access& access, unsigned access_class, RaceRow& row,
                          Shadow& shadow);
  void report_lane(const Access& access, unsigned access_class, const RaceRow& row, Shadow& shadow,
                   unsigned lane);
  static bool is_handed(const Access& access, unsigned access_class, unsigned lane,
                        const Earlier& earlier, Epoch me);
  Weight weight_of(const Access& access, unsigned access_class, const RaceRow& row, unsigned lane,
                   std::int64_t cell, const Earlier& earlier, bool races);
  void report(const Access& access, unsigned access_class, unsigned lane, Weight weight,
              const Earlier& earlier);
  void check_access(Access& access);
  void check_row(const Access& access);  // by epochs
  void check_in_shadow(const Access& access);

  CollectiveOrder collectives_;
  SwapGuesses guesses_;
  std::unique_ptr<GeneralRaceChecker> general_;
  bool volatile_is_weak_ = false;
  bool is_plain_ = false;     // accesses of the current launch are checked one by one, by epochs
  bool hands_on_ = false;     // the current launch has loads that may be handed data
  bool is_refused_ = false;   // the log has refused the row that on_access() receives next
  bool is_general_ = false;   // general_ checks the current launch
  bool has_streams_ = false;  // the trial has unordered launches
  bool is_running_ = false;   // a launch has begun and not ended
  // The current launch is checked by epochs, and other launches are unordered with it.
  bool recalls_at_end_ = false;
  std::uint32_t trial_launches_ = 0;
  std::vector<LaunchShape> passed_over_;  // since the current launch began
  std::uint32_t first_recorded_ = 1;      // the launch number, as in an epoch, of recorded_[0]
  std::vector<std::uint32_t> recorded_;   // launches of the trial that the shadows have records of
  std::vector<RecalledAccess> put_away_;  // records whose launch numbers had to be reused
  EpochLimits limits_;
  const RaceRowFunctions* functions_;
  std::uint64_t ordered_threads_ = kOrderedInThread;
  std::uint32_t launch_ = 0;    // as in an epoch
  std::uint64_t launches_ = 0;  // not wrapped around
  bool single_block_ = false;   // the launch has one block
  std::uint64_t periods_ = 0;   // number of periods so far
  std::uint64_t global_period_ = 0;
  // a deque, because machine code keeps pointers to the logs of slots
  std::deque<Slot> slots_;
  std::vector<Shadow> shadows_;  // by Allocation::id
};

}  // namespace warpcheck::vgpu
