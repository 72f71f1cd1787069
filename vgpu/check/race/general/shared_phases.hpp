// Shared memory between two barriers of its block, which needs no cells as long as a log of rows
// (row_log.hpp) can take its accesses.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "vgpu/check/race/general/deferred/deferred_atomics.hpp"
#include "vgpu/check/race/rows/row_log.hpp"

namespace warpcheck::vgpu {

class SharedPhases {
  // A row of asynchronous copies that may not have been waited for.
  struct OpenCopy {
    SegmentId segment = 0;
    std::uint32_t mask = 0, bytes = 0;
    RowLog::Offsets offsets{};
  };
  struct Phase {
    RowLog log;
    std::vector<OpenCopy> copies;
    bool has_lost_copies = false;  // there were too many; the block has no log any more
    const Allocation* shared = nullptr;
    WarpPlace place;  // of the block
    SegmentId first = 0;
  };
  using Phases = std::deque<Phase>;  // by slot; machine code keeps pointers to the logs

 public:
  SharedPhases(GeneralState& state, DeferredAtomics& deferred)
      : state_(state), deferred_(deferred) {}

  void close();
  // What is kept of a launch, also while it is suspended.
  struct OfLaunch {
    const Program* program = nullptr;
    bool are_ordered = false;
    bool has_copies = false;
    bool polls_by_atomics = false;  // some atomic may be a poll
    Phases phases;
  };
  OfLaunch suspend() {
    settle_all();
    return std::exchange(now_, {});
  }
  void resume(OfLaunch launch) { now_ = std::move(launch); }
  void begin_launch(const Program& program);
  //   shared: null: there is none
  void begin_block(const WarpPlace& place, const Allocation* shared);
  // A block begins, or completes a barrier.
  void begin_phase(const WarpPlace& place);
  void end_block(const WarpPlace& place) { now_.phases[place.slot].log.close(); }
  // Returns the structure through which machine code adds rows; null: it must report each row.
  [[nodiscard]] AccessRecord* record_of(std::uint32_t slot) {
    return now_.are_ordered ? &now_.phases[slot].log.record() : nullptr;
  }
  // Completes the rows that machine code has added.  Must be called before a warp of the block
  // releases or learns anything, because the rows belong to the segments before that.
  void settle(const WarpPlace& place) {
    if (place.slot >= now_.phases.size()) return;  // only the epoch checker has seen the block
    Phase& phase = now_.phases[place.slot];
    if (phase.log.is_open() && !phase.log.is_settled()) settle(phase);
  }
  // Returns whether, in this launch, a barrier of a block orders everything before it that the
  // block has done with its shared memory.
  [[nodiscard]] bool are_ordered() const { return now_.are_ordered && !now_.has_copies; }
  // Returns the first segment of the phase of a block.
  [[nodiscard]] SegmentId first_segment(std::uint32_t slot) const {
    return now_.phases[slot].first;
  }

  // Takes an access into the log.  False: it needs cells; the cells then contain everything that
  // the log had.
  bool take(const Access& access);
  // The same; false: it must come again, as an Access.
  bool take(const RowAccess& access);
  // Returns whether the log has atomics that are not performed yet.
  [[nodiscard]] bool has_atomics(std::uint32_t slot) const {
    const RowLog& log = now_.phases[slot].log;
    return log.is_open() && !(log.atomics().is_empty() && log.updates().empty());
  }
  // Performs the atomics of the log; all its rows move to the cells.
  void perform_atomics(std::uint32_t slot) {
    if (has_atomics(slot)) move_to_cells(now_.phases[slot]);
  }

  // Calls visit(segment) for each row.
  template <typename Visit>
  void for_each_segment(Visit visit) {
    settle_all();
    for_each_segment(now_, visit);
  }
  template <typename Visit>
  static void for_each_segment(OfLaunch& launch, Visit visit) {
    for (Phase& phase : launch.phases) {
      for (OpenCopy& copy : phase.copies) visit(copy.segment);
      if (!phase.log.is_open()) continue;
      for (RowLog::Row& row : phase.log.rows()) visit(row.segment);
      phase.log.atomics().for_each_segment(visit);
      phase.log.for_each_word_segment(visit);
    }
  }
  //   renewed: the new numbers of segments, by their old numbers
  void renew_thresholds(const std::vector<SegmentId>& renewed) { renew_thresholds(now_, renewed); }
  static void renew_thresholds(OfLaunch& launch, const std::vector<SegmentId>& renewed) {
    for (Phase& phase : launch.phases) {
      if (phase.first < renewed.size()) phase.first = renewed[phase.first];
    }
  }
  // Completes the rows of all blocks.
  void settle_all() {
    for (Phase& phase : now_.phases) {
      if (phase.log.is_open()) settle(phase);
    }
  }

 private:
  void begin_copy(Phase& phase, const Access& access);
  void forget_known_copies(Phase& phase);
  [[nodiscard]] bool may_silence(const Allocation& allocation, AccessKind kind) const;
  [[nodiscard]] bool may_wait(const Phase& phase, const Access& access);
  void settle(Phase& phase);
  template <typename Take>
  bool take_in_order(Phase& phase, Take take);
  void move_to_cells(Phase& phase);
  void record_row(const Phase& phase, const RowLog::Row& row, CellMemory& memory);
  void record(const Phase& phase, const RowLog::Row& row, std::uint32_t lanes, Cell& cell);

  GeneralState& state_;
  DeferredAtomics& deferred_;
  OfLaunch now_;
};

}  // namespace warpcheck::vgpu
