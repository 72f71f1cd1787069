// Races of programs whose threads are ordered by whole-block barriers and the order of kernels
// alone: two epochs (epoch.hpp) tell their causality order, 32 lanes at a time.
//
// Accesses are recorded in the cells of a shadow (race_shadow.hpp).  Between two barriers, shared
// memory needs no cells as long as a log of rows (row_log.hpp) can take its accesses.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "vgpu/check/race/epoch_numbers.hpp"
#include "vgpu/check/race/epoch_reports.hpp"
#include "vgpu/check/race/race_shadow.hpp"
#include "vgpu/check/race/race_work.hpp"
#include "vgpu/check/race/row_loops.hpp"
#include "vgpu/check/race/rows/race_rows.hpp"
#include "vgpu/check/race/rows/row_log.hpp"
#include "vgpu/check/race/rows/word_owners.hpp"

namespace warpcheck::vgpu {

class EpochRaces {
 public:
  // The loops of `functions` are used throughout the trial.
  EpochRaces(Reporter& reporter, CollectiveOrder& collectives, const RaceRowFunctions& functions,
             const EpochLimits& limits);
  EpochRaces(const EpochRaces&) = delete;
  EpochRaces& operator=(const EpochRaces&) = delete;

  // Begins a trial.
  void reset(WarpModel model);
  //   launch: its number in the trial
  void begin_launch(const Sync& sync, std::uint32_t launch);
  // Rows of global memory are of this time no more.
  void close_queues();
  void clear_queues();
  void begin_block(const Sync& sync);
  void complete_barrier(const WarpPlace& place);

  // Checks an access to shared or global memory, and records it.
  void check(const Access& access);
  // Takes a row of weak accesses if no lane races.  False: the caller must call check().
  bool take(const RowAccess& row);
  // Return the structures through which machine code adds rows of shared memory, and rows of
  // global memory.
  [[nodiscard]] AccessRecord& record_of(std::uint32_t slot) { return shared_[slot].log.record(); }
  [[nodiscard]] RowQueue* queue_of(const Allocation& allocation);

  [[nodiscard]] bool has_records_of(const Allocation& allocation) const {
    if (allocation.id >= shadows_.size()) return false;
    return shadows_[allocation.id].capacity() != 0 || !queues_[allocation.id]->is_empty();
  }
  void forget(const Allocation& allocation);
  // Calls visit(place) for the latest block in each slot of the launch, with its phase.
  template <typename Visit>
  void for_each_slot(Visit visit) const {
    numbers_.for_each_slot(visit);
  }
  // Calls visit(access) for the accesses of this trial that can still matter.
  template <typename Visit>
  void take_accesses(Visit visit) {
    numbers_.take_accesses(visit);
  }
  [[nodiscard]] const RaceWork& work() const { return work_; }

 private:
  // The shared memory of the block in a slot.
  struct Shared {
    std::uint32_t id = ptx::kNone;
    std::uint32_t bytes = 0;
    RowLog log;  // of the current phase
  };

  // The owners of words, as long as rows that they allow wait.
  struct Owned {
    WordOwners owners;
    // Where marks have refused a row, they are made again only after some launches, each time after
    // twice as many.
    std::uint64_t tried_from = 0, pause = 0;  // counted in launches
  };

  void begin_phase(const WarpPlace& place, bool starts_again);
  void move_to_shadow(RowLog& log, const Access& access);
  void record(RaceRow row, Pattern pattern, unsigned access_class, std::uint32_t bytes,
              Shadow& shadow);
  Shadow& shadow_at(std::uint32_t id);
  // Take an Access or a RowAccess.
  template <typename AnyAccess>
  Shadow& shadow_of(const AnyAccess& access);
  template <typename AnyAccess>
  [[nodiscard]] RaceRow row_of(const AnyAccess& access, Epoch epoch, unsigned access_class,
                               Shadow& shadow) const;
  template <typename AnyAccess>
  bool takes_line(const AnyAccess& access, Epoch epoch, std::int64_t first, unsigned access_class,
                  Shadow& shadow) const;
  bool take_in_shadow(const RowAccess& access, Epoch epoch, unsigned access_class, Shadow& shadow);
  static std::optional<QueuedKind> kind_of(const Access& access);
  bool defer(const RowAccess& row, QueuedKind kind);
  bool put(const RowAccess& row, QueuedKind kind);
  bool begin_rows(const RowAccess& row, QueuedKind kind);
  [[nodiscard]] bool has_room_for_owners(const Allocation& allocation) const;
  [[nodiscard]] std::size_t bytes_of_owners() const;
  void go_on_owned(std::uint32_t id);
  bool defer_weak(const RowAccess& row);
  bool begin_owned(const RowAccess& row);
  void give_up_owners(std::uint32_t id);
  void perform_rows(Shadow& shadow, DeferredRows& rows);
  void perform_all_rows();
  void set_time(const WarpPlace& place);
  void prepare_cells(RaceRow& row, Pattern pattern, unsigned access_class, Shadow& shadow);
  void check_in_shadow(const Access& access);
  void check_lane_by_lane(const Access& access, unsigned access_class, RaceRow& row,
                          Shadow& shadow);

  EpochLimits limits_;
  OwnFn own_;
  RowLoops loops_;
  EpochReports reports_;
  std::vector<Shadow> shadows_;  // by Allocation::id
  std::size_t left_bytes_ = 0;   // of host memory, in shadows of freed memory
  DeferredRoom room_;
  // In front of them; machine code keeps pointers to these.
  std::vector<std::unique_ptr<DeferredRows>> queues_;
  std::vector<Owned> owned_;                // by Allocation::id, as those
  std::vector<DeferredRows*> open_queues_;  // those that take rows of this period
  EpochNumbers numbers_;
  // by slot; a deque, because machine code keeps pointers to the logs
  std::deque<Shared> shared_;
  std::uint64_t ordered_threads_ = kOrderedInThread;
  RaceWork work_;
  bool may_own_ = false;     // marks of owners have numbers for the threads of the launch
  bool hands_on_ = false;    // the launch has loads that may be handed data
  bool is_refused_ = false;  // the log has refused the row that check() receives next
};

}  // namespace warpcheck::vgpu
