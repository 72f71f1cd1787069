// Relaxed atomics on global memory that a launch has accessed by nothing else so far.
//
// Machine code appends their rows to a queue (rows/deferred_rows.hpp), so they need neither a call
// nor marks in cells.  They race with nothing: they are of one class, whose scope includes all
// threads, and whatever earlier launches did comes before them.  Like the rows of an AtomicLog,
// each waits with the segment of its warp and with what its threads had released by fences.  Both
// are found before the warp releases or learns anything.
//
// The first other access to the allocation, and whoever asks for its records, has the rows
// performed first; the launch then queues no more there.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/check/race/general/deferred/slot_time.hpp"
#include "vgpu/check/race/general/general_state.hpp"
#include "vgpu/check/race/rows/atomic_log.hpp"
#include "vgpu/check/race/rows/deferred_rows.hpp"

namespace warpcheck::vgpu {

class QueuedAtomics {
 public:
  QueuedAtomics(GeneralState& state, std::uint32_t chunks_max) : state_(state), room_(chunks_max) {}

  void clear();
  // Forgets the rows of an allocation, whose memory ends.
  void forget(std::uint32_t allocation);
  //   takes: the launch comes after all that were begun before, and nothing suspends it
  //   begins_era: as AtomicLog::begin_era(), for the rows so far
  void begin_launch(const Program& program, bool takes, bool begins_era);
  // The launch takes no more rows.
  void end_launch();

  // Returns the queue to which machine code may append rows of an allocation; null: there is none.
  [[nodiscard]] RowQueue* queue_of(std::uint32_t allocation) {
    return is_open(allocation) ? &queues_[allocation]->rows.queue() : nullptr;
  }
  // Returns whether rows of the allocation are taken in this launch.
  [[nodiscard]] bool is_open(std::uint32_t allocation) const {
    return has(allocation) && queues_[allocation]->rows.period() == launch();
  }
  enum class Taken : std::uint8_t { yes, no, no_room };
  // Takes a row of relaxed atomics whose scope includes all threads.
  Taken take(const Access& access);
  // Finds the segments of the rows that machine code has appended.  Must be called before a warp
  // releases or learns anything, and before a block begins or ends.
  //   observes(place): a row of the warp has read
  template <typename Observes>
  void settle(Observes observes) {
    for (Queue* const queue : open_) {
      if (queue->rows.has_new()) settle(*queue, observes);
    }
  }
  // The launch accesses an allocation in another way.  Returns whether rows wait, which must be
  // performed.
  bool leave(std::uint32_t allocation) {
    if (!takes_ && !has(allocation)) return false;
    Queue& queue = of(allocation);
    queue.left_in = launch();
    return !queue.rows.is_empty();
  }

  [[nodiscard]] bool has_rows_of(std::uint32_t allocation) const {
    return has(allocation) && !queues_[allocation]->rows.is_empty();
  }
  // Returns the first allocation, from this one on, that has rows; ptx::kNone: there is none.
  //   matters: of those whose rows may have released and observed something
  [[nodiscard]] std::uint32_t next_with_rows(std::uint32_t allocation, bool matters) const;
  // Returns the rows of an allocation, which is empty afterwards.  All must have their segments.
  AtomicLog take_rows(std::uint32_t allocation);

  // Calls visit(segment) for each row.  All must have their segments.
  template <typename Visit>
  void for_each_segment(Visit visit) {
    for (const std::unique_ptr<Queue>& queue : queues_) {
      if (queue == nullptr) continue;
      queue->rows.for_each_time([&](QueuedRow& row) {
        auto segment = static_cast<SegmentId>(row.time);
        visit(segment);
        row.time = row.time >> kContextShift << kContextShift | segment;
      });
      queue->latest = 0;
      queue->log.forget_snapshot();
    }
  }

 private:
  static constexpr unsigned kContextShift = 32;  // above the segment
  // What the rows of one segment have in common.
  struct Context {
    std::uint32_t slot = 0, fences = 0;
  };
  struct Queue {
    DeferredRows rows;
    AtomicLog log;  // without rows: what their threads had released
    std::vector<Context> contexts;
    SegmentId latest = 0;       // of the latest context; 0: it is of none
    std::uint64_t left_in = 0;  // the launch that has accessed the memory in another way
    const Allocation* allocation = nullptr;
    std::uint64_t era = 0;  // of the latest rows
    bool has_observers = false;
  };

  [[nodiscard]] std::uint64_t launch() const { return state_.order.launches().current() + 1; }
  [[nodiscard]] bool has(std::uint32_t allocation) const {
    return allocation < queues_.size() && queues_[allocation] != nullptr;
  }
  Queue& of(std::uint32_t allocation);
  bool begin(const Access& access, QueuedKind kind, Queue& queue);
  std::uint64_t time_of(const WarpPlace& place, Queue& queue);
  [[nodiscard]] bool reads(const Program& program, std::uint32_t pc) const;
  template <typename Observes>
  void settle(Queue& queue, Observes observes) {
    queue.rows.for_each_new([&](QueuedRow& row) {
      if (!SlotTime::is_of_slot(row.time)) return;
      const WarpPlace place = SlotTime::place_of(row.time, state_.order.threads());
      row.time = time_of(place, queue);
      if (!reads(*program_, row.pc)) return;
      queue.has_observers = true;
      observes(place);
    });
  }

  GeneralState& state_;
  DeferredRoom room_;
  std::vector<std::unique_ptr<Queue>> queues_;  // by Allocation::id; machine code keeps pointers
  std::vector<Queue*> open_;                    // those that take rows of this launch
  const Program* program_ = nullptr;            // of the launch
  const Program* known_ = nullptr;              // the program of which `may_queue_` tells
  bool may_queue_ = false;
  std::uint64_t eras_ = 0;
  bool takes_ = false;
};

}  // namespace warpcheck::vgpu
