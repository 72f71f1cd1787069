// Weak reads of global memory that a launch has only read so far (rows/deferred_rows.hpp).
//
// Such rows race with nothing as long as the launch comes after all earlier ones.  They wait in
// their order, each with the segment of its warp.  The first other access to the allocation, and
// whoever looks at its cells, has them recorded first; the launch then defers no more reads there.
//
// When rows are recorded, what their warps knew is no longer known.  So an earlier read is replaced
// only by a read of the same thread, of its block behind a barrier, or of a later launch: an
// earlier read that stays besides cannot hide a race.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/check/race/general/deferred/deferred_atomics.hpp"
#include "vgpu/check/race/general/general_state.hpp"
#include "vgpu/check/race/rows/deferred_rows.hpp"
#include "vgpu/check/race/rows/race_rows.hpp"

namespace warpcheck::vgpu {

class DeferredReads {
 public:
  DeferredReads(GeneralState& state, DeferredAtomics& atomics, RunsFn runs,
                std::uint32_t chunks_max)
      : state_(state), atomics_(atomics), runs_(runs), room_(chunks_max) {}

  void clear();
  // Forgets the rows of an allocation, whose memory ends.
  void forget(std::uint32_t allocation);
  //   takes: the launch comes after all that were begun before, and nothing suspends it
  void begin_launch(bool takes);
  // The launch takes no more rows.
  void end_launch() { begin_launch(false); }

  // Returns the queue to which machine code may append reads; null: it must report them.
  [[nodiscard]] RowQueue* queue_of(const Allocation& allocation) {
    return takes_ ? &of(allocation.id).rows.queue() : nullptr;
  }
  // Returns whether rows of the allocation are taken in this launch.
  [[nodiscard]] bool is_open(std::uint32_t allocation) const {
    return allocation < queues_.size() && queues_[allocation] != nullptr &&
           queues_[allocation]->rows.period() == launch();
  }
  // Takes a row of weak reads.  False: it must be recorded.
  bool take(const RowAccess& row);
  // Finds the segments of the rows that machine code has appended.  Must be called before a warp
  // releases or learns anything, and before a block begins or ends.
  void settle() {
    for (Queue* const queue : open_) {
      if (queue->rows.has_new()) settle(*queue);
    }
  }
  // The launch accesses an allocation in another way.
  void leave(std::uint32_t allocation) {
    Queue& queue = of(allocation);
    queue.left_in = launch();
    if (!queue.rows.is_empty()) [[unlikely]]
      record_rows(allocation, queue);
  }
  // Records the rows of an allocation; its later ones may wait again.
  void perform(std::uint32_t allocation) {
    if (allocation >= queues_.size() || queues_[allocation] == nullptr) return;
    if (!queues_[allocation]->rows.is_empty()) record_rows(allocation, *queues_[allocation]);
  }
  void perform_all();

  // Calls visit(segment) for each row.
  template <typename Visit>
  void for_each_segment(Visit visit) {
    settle();
    for (const std::unique_ptr<Queue>& queue : queues_) {
      if (queue == nullptr) continue;
      queue->rows.for_each_time([&](QueuedRow& row) {
        auto segment = static_cast<SegmentId>(row.time);
        visit(segment);
        row.time = segment;
      });
    }
  }

 private:
  struct Queue {
    DeferredRows rows;
    std::uint64_t left_in = 0;  // the launch that has accessed the memory in another way
    std::uint32_t bytes = 0;    // of the allocation
  };

  [[nodiscard]] std::uint64_t launch() const { return state_.order.launches().current() + 1; }
  Queue& of(std::uint32_t allocation) {
    if (allocation >= queues_.size() || queues_[allocation] == nullptr) [[unlikely]]
      add_queue(allocation);
    return *queues_[allocation];
  }
  void add_queue(std::uint32_t allocation);
  bool begin(const Allocation& allocation, Queue& queue);
  void settle(Queue& queue);
  void record_rows(std::uint32_t allocation, Queue& queue);
  void record(const RowAccess& row, SegmentId now, CellMemory& memory);
  bool take_in_lines(const RowAccess& row, SegmentId now, CellLines& lines);
  void record_in_cells(std::uint32_t offset, std::uint32_t bytes, const CellEntry& reads,
                       CellMemory& memory);
  [[nodiscard]] bool all_before(SegmentId earlier, SegmentId now) const;
  [[nodiscard]] bool is_before(const Record& earlier, SegmentId now, unsigned lane) const;

  GeneralState& state_;
  DeferredAtomics& atomics_;
  RunsFn runs_;
  DeferredRoom room_;
  std::vector<std::unique_ptr<Queue>> queues_;  // by Allocation::id; machine code keeps pointers
  std::vector<Queue*> open_;                    // those that take rows of this launch
  bool takes_ = false;
};

}  // namespace warpcheck::vgpu
