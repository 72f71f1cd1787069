// Causality order of the threads of a trial: what each thread knows of the others, and when (PTX
// ISA 8.9.5).
//
// The time of a thread has two parts: the phase of its block (the number of completed whole-block
// barriers) and its own tick, which advances whenever the thread releases something.  Another
// thread knows what a thread did if it has learned of a later phase of that thread's block or of a
// later tick of that thread.  Within a block, all threads know everything from earlier phases.
// Threads learn by joining clocks: the clocks of threads that they meet at a barrier, and the
// clocks of the releases that they acquire (sync_variables.hpp).
//
// Accesses are recorded by their *segment*: a stretch of one warp's execution in which no lane
// released or learned anything.  Whether one segment comes before another is then one question for
// 32 lanes, and a small table of answers answers most of these questions.
//
// Asynchronous copies are done by agents of their own (copy_order.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "vgpu/check/order/clocks/segments.hpp"
#include "vgpu/check/order/clocks/vector_clock.hpp"
#include "vgpu/check/order/copy_order.hpp"
#include "vgpu/check/order/fence_order.hpp"
#include "vgpu/check/order/launch_order.hpp"
#include "vgpu/check/order/thread_state.hpp"
#include "vgpu/check/order/threads.hpp"
#include "vgpu/machine/events.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

class ThreadOrder {
 public:
  enum class Before : std::uint8_t { no_lane, some_lanes, all_lanes };

  ThreadOrder() = default;
  // The parts refer to each other.
  ThreadOrder(const ThreadOrder&) = delete;
  ThreadOrder& operator=(const ThreadOrder&) = delete;

  void reset(WarpModel model);
  //   unordered, early_after: as for LaunchOrder::begin()
  void begin_launch(const LaunchShape& launch, std::span<const std::uint32_t> unordered = {},
                    std::uint32_t early_after = ptx::kNone);
  // The running launch is suspended, or goes on.
  void suspend();
  void resume(std::uint32_t launch);
  // The current launch begins while these are suspended; none: it runs alone.
  void begin_beside(std::span<const std::uint32_t> suspended);
  // What these launches have done until now comes before what the current one does from now on.
  void learn_of(std::span<const std::uint32_t> launches);
  void begin_block(const WarpPlace& place);
  void end_block(const WarpPlace& place) { launches_.early().end_block(place.slot); }
  void complete_barrier(const WarpPlace& place);
  // Handles griddepcontrol.  With wait, the previous launch comes before what the lanes do from now
  // on; with launch_dependents, the next launch may begin.
  void control_grids(const Fence& fence);
  void meet(const Meeting& meeting);
  // The launch with the event's number will know what the lane has done and knows.
  void launch_from(const DeviceLaunch& event);

  [[nodiscard]] const LaunchOrder& launches() const { return launches_; }
  [[nodiscard]] const Threads& threads() const { return threads_; }
  [[nodiscard]] Threads& threads() { return threads_; }
  [[nodiscard]] const Segments& segments() const { return segments_; }
  [[nodiscard]] Segments& segments() { return segments_; }
  [[nodiscard]] FenceOrder& fences() { return fences_; }
  [[nodiscard]] CopyOrder& copies() { return copies_; }

  // Returns the current segment of a warp, or of its lanes' copiers, to record an access in it.
  SegmentId segment_of(const WarpPlace& place, bool asynchronous);
  // Returns the current segment of a warp that records nothing.
  SegmentId present_segment(const WarpPlace& place);
  // Returns for which lanes of `earlier` what they did comes before what the lanes of `place` do
  // now.
  //   now: the segment of those lanes
  Before before(SegmentId earlier, SegmentId now, const WarpPlace& place);
  [[nodiscard]] bool before(SegmentId earlier, unsigned earlier_lane, const WarpPlace& place,
                            unsigned lane) const;
  // Returns whether `clock` knows what a lane did in a segment.
  [[nodiscard]] bool knows(const VectorClock& clock, SegmentId earlier,
                           unsigned earlier_lane) const;
  // Forgets all segments that are not `live` (by number) and that no thread is in, and renumbers
  // the others as Segments::forget() does.
  std::vector<SegmentId> forget_segments(std::vector<bool> live);

 private:
  struct Answer {
    SegmentId earlier = 0, now = 0;
    Before before = Before::no_lane;
  };
  static constexpr std::size_t kAnswers = 1u << 12;
  // By barrier and thread: arrivals without a wait, oldest first, at barriers that are not
  // complete.
  using Arrivals = std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Moment>>;
  // What threads that meet at a barrier tell each other.
  struct Told {
    VectorClock common;
    std::vector<ThreadTime> times;
  };

  // What belongs to a launch that is suspended.
  struct Suspended {
    Threads::OfLaunch threads;
    FenceOrder::OfLaunch fences;
    VectorClock known_at_start;
    std::vector<Arrivals> arrivals;
  };

  SegmentId begin_segment(SegmentId& id, const WarpPlace& place, bool asynchronous);
  [[nodiscard]] bool is_of_earlier_launch(std::uint32_t launch, SegmentId segment) const {
    return launches_.is_ordered(launch) || launches_.knows_of(launch, segment);
  }
  [[nodiscard]] bool is_of_one_warp(const Meeting& meeting) const;
  void arrive(const Meeting& meeting, const WarpPlace& place, std::uint32_t lanes);
  void gather(const Meeting& meeting, const WarpPlace& place, std::uint32_t lanes, Told& all);
  void forget_answers();
  [[nodiscard]] Before answer(SegmentId earlier, const WarpPlace& place) const;
  [[nodiscard]] std::uint32_t known_lanes(const VectorClock& clock, const Segment& segment,
                                          std::uint32_t asked) const;
  [[nodiscard]] bool is_awaited(const VectorClock& clock, const Segment& segment) const;
  [[nodiscard]] std::uint32_t known_lanes(const VectorClock::Knowledge& known,
                                          const Segment& segment) const;

  LaunchOrder launches_;
  Threads threads_{launches_};
  Segments segments_;
  FenceOrder fences_{launches_, threads_};
  CopyOrder copies_{launches_, threads_, segments_};
  std::map<std::uint32_t, VectorClock> known_to_launch_;  // by DeviceLaunch::number
  VectorClock known_at_start_;                            // by all threads of this launch
  std::vector<Arrivals> arrivals_;                        // by slot
  std::map<std::uint32_t, Suspended> suspended_;
  std::vector<Answer> answers_;
  bool has_answers_ = false;
};

}  // namespace warpcheck::vgpu
