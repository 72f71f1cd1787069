// Shared memory between two barriers of its block, which needs no cells as long as a log of rows
// (row_log.hpp) can take its accesses.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "vgpu/check/race/general/deferred_atomics.hpp"
#include "vgpu/check/race/rows/row_log.hpp"

namespace warpcheck::vgpu {

class SharedPhases {
 public:
  SharedPhases(ThreadOrder& order, const SyncVariables& variables, PollExits& polls,
               CellMemories& memories, CellLists& lists, DeferredAtomics& deferred)
      : order_(order),
        variables_(variables),
        polls_(polls),
        memories_(memories),
        lists_(lists),
        deferred_(deferred) {}

  void close();
  // What is kept of a launch that is suspended, while another one runs.
  struct OfLaunch;
  OfLaunch suspend();
  void resume(OfLaunch launch);
  void begin_launch(const Program& program);
  //   shared: null: there is none
  void begin_block(const WarpPlace& place, const Allocation* shared);
  // A block begins, or completes a barrier.
  void begin_phase(const WarpPlace& place);
  void end_block(const WarpPlace& place) { phases_[place.slot].log.close(); }
  // Returns the structure through which machine code adds rows; null: it must report each row.
  [[nodiscard]] NotedRows* notes_of(std::uint32_t slot) {
    return are_ordered_ ? &phases_[slot].log.notes() : nullptr;
  }
  // Completes the rows that machine code has added.  Must be called before a warp of the block
  // releases or learns anything, because the rows belong to the segments before that.
  void settle(const WarpPlace& place) {
    if (place.slot >= phases_.size()) return;  // only the epoch checker has seen the block
    Phase& phase = phases_[place.slot];
    if (phase.log.is_open() && !phase.log.is_settled()) settle(phase);
  }
  // Returns whether, in this launch, a barrier of a block orders everything before it that the
  // block has done with its shared memory.
  [[nodiscard]] bool are_ordered() const { return are_ordered_; }
  // Returns the first segment of the phase of a block.
  [[nodiscard]] SegmentId first_segment(std::uint32_t slot) const { return phases_[slot].first; }

  // Takes an access into the log.  False: it needs cells; the cells then contain everything that
  // the log had.
  bool take(const Access& access);
  // Returns whether the log has atomics that are not performed yet.
  [[nodiscard]] bool has_atomics(std::uint32_t slot) const {
    const RowLog& log = phases_[slot].log;
    return log.is_open() && !(log.atomics().is_empty() && log.updates().empty());
  }
  // Performs the atomics of the log; all its rows move to the cells.
  void perform_atomics(std::uint32_t slot) {
    if (has_atomics(slot)) move_to_cells(phases_[slot]);
  }

  // Calls visit(segment) for each row.
  template <typename Visit>
  void for_each_segment(Visit visit) {
    settle_all();
    visit_segments(phases_, visit);
  }
  template <typename Visit>
  static void for_each_segment(OfLaunch& suspended, Visit visit);
  //   renewed: the new numbers of segments, by their old numbers
  void renew_thresholds(const std::vector<SegmentId>& renewed) { renew(phases_, renewed); }
  static void renew_thresholds(OfLaunch& suspended, const std::vector<SegmentId>& renewed);
  // Completes the rows of all blocks.
  void settle_all() {
    for (Phase& phase : phases_) {
      if (phase.log.is_open()) settle(phase);
    }
  }

 private:
  struct Phase {
    RowLog log;
    const Allocation* shared = nullptr;
    WarpPlace place;  // of the block
    SegmentId first = 0;
  };

  using Phases = std::deque<Phase>;  // by slot; machine code keeps pointers to the logs

  template <typename Visit>
  static void visit_segments(Phases& phases, Visit visit) {
    for (Phase& phase : phases) {
      if (!phase.log.is_open()) continue;
      for (RowLog::Row& row : phase.log.rows()) visit(row.segment);
      phase.log.atomics().for_each_segment(visit);
    }
  }
  static void renew(Phases& phases, const std::vector<SegmentId>& renewed) {
    for (Phase& phase : phases) {
      if (phase.first < renewed.size()) phase.first = renewed[phase.first];
    }
  }
  bool take_atomics(Phase& phase, const Access& access);
  bool take_strong(Phase& phase, const Access& access);
  void settle(Phase& phase);
  void move_to_cells(Phase& phase);
  void record(const Phase& phase, const RowLog::Row& row, std::uint32_t lanes, Cell& cell);

  ThreadOrder& order_;
  const SyncVariables& variables_;
  PollExits& polls_;
  CellMemories& memories_;
  CellLists& lists_;
  DeferredAtomics& deferred_;
  const Program* program_ = nullptr;
  bool are_ordered_ = false;
  bool polls_by_atomics_ = false;  // some atomic may be a poll
  Phases phases_;
};

struct SharedPhases::OfLaunch {
  const Program* program = nullptr;
  bool are_ordered = false, polls_by_atomics = false;
  Phases phases;
};

template <typename Visit>
void SharedPhases::for_each_segment(OfLaunch& suspended, Visit visit) {
  visit_segments(suspended.phases, visit);
}

inline void SharedPhases::renew_thresholds(OfLaunch& suspended,
                                           const std::vector<SegmentId>& renewed) {
  renew(suspended.phases, renewed);
}

}  // namespace warpcheck::vgpu
