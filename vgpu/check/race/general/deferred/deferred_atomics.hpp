// Rows of relaxed atomics whose effects nothing needs yet (atomic_log.hpp), by allocation.
//
// A cell whose list does not yet contain its deferred rows is marked (Cell::is_deferred), so any
// other access to the cell performs them first.  Deferred rows are performed in their order, each
// with the knowledge that its threads had at its time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "vgpu/check/race/general/deferred/queued_atomics.hpp"
#include "vgpu/check/race/general/row_causality.hpp"
#include "vgpu/check/race/general/strong_operations.hpp"
#include "vgpu/check/race/rows/atomic_log.hpp"

namespace warpcheck::vgpu {

class DeferredAtomics {
 public:
  //   rows_max: of an allocation, and of a phase of shared memory
  DeferredAtomics(GeneralState& state, RowCausality& causality, StrongOperations& strong,
                  std::uint32_t rows_max, std::uint32_t chunks_max)
      : state_(state),
        causality_(causality),
        strong_(strong),
        rows_max_(rows_max),
        queued_(state, chunks_max) {}

  void clear() {
    logs_.clear();
    queued_.clear();
  }
  // Forgets the rows of an allocation, whose memory ends.
  void forget(std::uint32_t allocation) {
    logs_.erase(allocation);
    queued_.forget(allocation);
  }
  // Begins deferring for a launch.
  //   takes: it comes after all that were begun before, and nothing suspends it
  void begin_launch(const LaunchShape& launch, std::span<const std::uint32_t> unordered,
                    bool takes);
  // Rows are queued no more.
  void end_launch() {
    settle();
    queued_.end_launch();
  }
  void begin_block(const WarpPlace& place);
  // What is kept of a launch that is suspended, while another one runs.
  using OfLaunch = std::vector<std::uint32_t>;
  OfLaunch suspend() {
    perform_all();
    return std::exchange(observers_, {});
  }
  void resume(OfLaunch launch) {
    perform_all();
    observers_ = std::move(launch);
  }

  [[nodiscard]] std::uint32_t rows_max() const { return rows_max_; }
  [[nodiscard]] bool is_empty() const {
    return logs_.empty() && queued_.next_with_rows(0, false) == ptx::kNone;
  }
  // Defers the row if its lanes race with nothing and its effects can wait.  False: nothing was
  // done.
  bool defer(CheckedRow& row);
  // Queues the row if the launch has accessed its memory by nothing else.
  bool queue(const Access& access);
  [[nodiscard]] RowQueue* queue_of(std::uint32_t allocation) {
    return queued_.queue_of(allocation);
  }
  [[nodiscard]] bool is_queue_open(std::uint32_t allocation) const {
    return queued_.is_open(allocation);
  }
  // Finds the segments of rows that machine code has queued (QueuedAtomics::settle()).
  void settle() {
    queued_.settle([&](const WarpPlace& place) { observers_[place.slot] |= 1u << place.warp; });
  }
  // The launch accesses an allocation in another way than by queued rows.
  void leave(std::uint32_t allocation) {
    if (queued_.leave(allocation)) [[unlikely]]
      perform(allocation);
  }
  // Does the same for a row whose lines (cell_lines.hpp) show that.
  //   now: the segment of its lanes
  bool defer_in_lines(const Access& access, SegmentId now, CellMemory& memory);
  [[nodiscard]] bool has_rows_of(std::uint32_t allocation) const {
    return logs_.contains(allocation) || queued_.has_rows_of(allocation);
  }
  // Returns whether the row touches cells of deferred rows.
  [[nodiscard]] bool meets(const CheckedRow& row) const;
  // Bytes are overwritten by an access that is not a strong write.
  void overwrite(std::uint32_t allocation, std::uint32_t offset, std::uint32_t bytes);

  void perform(std::uint32_t allocation);
  void perform_all();
  // Performs the rows by which threads may have observed a release, if the warp, or a warp of the
  // block, has deferred rows that have read.
  void perform_observed_by_warp(const WarpPlace& place) {
    if ((observers_[place.slot] >> place.warp & 1) != 0) perform_observed();
  }
  void perform_observed_by_block(const WarpPlace& place) {
    if (observers_[place.slot] != 0) perform_observed();
  }
  // Performs all rows of a log and empties it.
  //   first: the first segment of the phase, for shared memory; 0: global memory
  //   before_row: called for each row before it is performed
  using BeforeRow = std::function<void(const AtomicLog::Row&)>;
  void perform_rows(AtomicLog& log, SegmentId first, const BeforeRow& before_row = {});

  // Calls visit(segment) for each row.
  template <typename Visit>
  void for_each_segment(Visit visit) {
    settle();
    queued_.for_each_segment(visit);
    for (auto& [allocation, log] : logs_) log.for_each_segment(visit);
  }

 private:
  [[nodiscard]] bool may_defer(const Access& access) const;
  void add(const Access& access, SegmentId now);
  [[nodiscard]] bool may_defer(CheckedRow& row, const LaneAccess& mine, std::uint64_t mark) const;
  void perform_observed();
  void perform_row(const AtomicLog& rows, const AtomicLog::Row& row, const CheckedRow& checked,
                   SegmentId first, SyncVariables& variables);

  GeneralState& state_;
  RowCausality& causality_;
  StrongOperations& strong_;
  std::uint32_t rows_max_;
  std::map<std::uint32_t, AtomicLog> logs_;  // by Allocation::id; none is empty
  QueuedAtomics queued_;                     // rows of later launches than those of logs_
  // By slot: the warps of its block that have deferred rows that have read.
  std::vector<std::uint32_t> observers_;
};

}  // namespace warpcheck::vgpu
