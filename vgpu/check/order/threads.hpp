// The states of the resident threads of a launch, by slot, warp and lane.
//
// The lanes of a warp mostly do the same.  They share one state until one of them does something
// alone.  With lockstep warps they are one thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "vgpu/check/order/clocks/bits.hpp"
#include "vgpu/check/order/clocks/epoch.hpp"
#include "vgpu/check/order/clocks/segments.hpp"
#include "vgpu/check/order/launch_order.hpp"
#include "vgpu/check/order/thread_state.hpp"

namespace warpcheck::vgpu {

class Threads {
 public:
  explicit Threads(const LaunchOrder& launches) : launches_(launches) {}

  // Begins a trial.
  void reset(bool lockstep);
  //   threads: of a block
  void begin_launch(std::uint32_t threads);
  // What is kept of a launch that is suspended, while another one runs.
  struct OfLaunch;
  OfLaunch suspend();
  void resume(OfLaunch launch);
  // What the threads do from now on is in new segments.
  void end_segments() {
    for_each_segment([](SegmentId& id) { id = 0; });
  }
  //   first_segment: of the block
  //   known: by all threads at the start
  void begin_block(const WarpPlace& place, SegmentId first_segment, const VectorClock& known);
  // From now on, every thread of the block knows everything that any thread of it knows.
  void complete_barrier(const WarpPlace& place);

  // Returns the thread that stands for a lane: with lockstep warps, one thread stands for all
  // lanes.
  [[nodiscard]] unsigned actor_of(unsigned lane) const { return lockstep_ ? 0 : lane; }
  [[nodiscard]] bool is_lockstep() const { return lockstep_; }
  // Returns the threads that stand for lanes.
  [[nodiscard]] std::uint32_t actors_of(std::uint32_t lanes) const {
    return lockstep_ ? 1u : lanes;
  }
  // Returns how many consecutive threads are ordered among themselves, as in epoch.hpp.
  [[nodiscard]] std::uint64_t ordered_threads() const {
    return lockstep_ ? kOrderedInWarp : kOrderedInThread;
  }
  // Returns the number of a thread in its block.
  [[nodiscard]] std::uint32_t thread_at(const WarpPlace& place, unsigned lane) const {
    return place.warp * kWarpLanes + actor_of(lane);
  }
  // Returns a number of a thread that is unique in the trial.
  [[nodiscard]] std::uint64_t key_of(const WarpPlace& place, unsigned lane) const {
    return launches_.block_key(place) << 16 | thread_at(place, lane);
  }
  // Returns the lanes of a warp that have a thread.
  [[nodiscard]] std::uint32_t lanes_of(std::uint32_t warp) const {
    const std::uint32_t others = threads_ - warp * kWarpLanes;
    return others < kWarpLanes ? (1u << others) - 1 : ~0u;
  }
  [[nodiscard]] std::uint32_t warps() const { return (threads_ + kWarpLanes - 1) / kWarpLanes; }

  [[nodiscard]] Tick phase_of(const WarpPlace& place) const { return slots_[place.slot].phase; }
  [[nodiscard]] SegmentId first_segment(const WarpPlace& place) const {
    return slots_[place.slot].first_segment;
  }
  // Returns whether the block is in that slot now.
  [[nodiscard]] bool is_in_slot(BlockKey block, std::uint32_t slot) const {
    return slot < slots_.size() && block == launches_.first_block() + slots_[slot].block;
  }
  // Returns the block that was in a slot before; kNoBlock: none.
  static constexpr std::uint32_t kNoBlock = ~0u;
  [[nodiscard]] std::uint32_t block_in(std::uint32_t slot) const {
    return slot < slots_.size() ? slots_[slot].block : kNoBlock;
  }

  [[nodiscard]] const ThreadState& at(const WarpPlace& place, unsigned lane) const {
    return slots_[place.slot].warps[place.warp].lane(lane);
  }
  // Returns the state of this lane alone, so that it can be changed without changing other lanes.
  [[nodiscard]] ThreadState& own(const WarpPlace& place, unsigned lane) {
    Warp& warp = slots_[place.slot].warps[place.warp];
    return lockstep_ ? warp.common : warp.own(lane);
  }
  // Returns whether the lanes are all of their warp and share one state.
  [[nodiscard]] bool are_alike(const WarpPlace& place, std::uint32_t lanes) const {
    if (lockstep_) return true;
    const std::uint32_t all = lanes_of(place.warp);
    const Warp& warp = slots_[place.slot].warps[place.warp];
    warp.put_down();
    return warp.each == nullptr && (lanes & all) == all;
  }
  // Calls visit(state) for each of `lanes`, or once if the lanes of the warp are alike.
  template <typename Visit>
  void for_each_actor(const WarpPlace& place, std::uint32_t lanes, Visit visit) {
    Warp& warp = slots_[place.slot].warps[place.warp];
    if (are_alike(place, lanes)) return visit(warp.common);
    for_each_bit(lanes, [&](unsigned lane) { visit(warp.own(lane)); });
  }
  // Visits every lane of a block, or of a warp, but only one of the lanes that are alike.
  template <typename Visit>
  void for_each_lane(const WarpPlace& place, Visit visit) const {
    for (const Warp& warp : slots_[place.slot].warps) warp.for_each(visit);
  }
  template <typename Visit>
  void for_each_lane_of_warp(const WarpPlace& place, Visit visit) const {
    slots_[place.slot].warps[place.warp].for_each(visit);
  }

  // Releases: everything that the lane did until now comes before what acquires the returned
  // moment.
  Moment release(const WarpPlace& place, unsigned lane) { return release(place, own(place, lane)); }
  Moment release(const WarpPlace& place, ThreadState& self);
  [[nodiscard]] VectorClock clock_of(const Moment& moment, const WarpPlace& place,
                                     unsigned lane) const {
    return vgpu::clock_of(moment, launches_.block_key(place), thread_at(place, lane));
  }
  // The same for several lanes that are alike, or for one.
  [[nodiscard]] VectorClock clock_of_alike(const Moment& moment, const WarpPlace& place,
                                           std::uint32_t lanes) const {
    const auto first = static_cast<unsigned>(__builtin_ctz(lanes));
    const auto count = static_cast<std::uint32_t>(__builtin_popcount(actors_of(lanes)));
    return vgpu::clock_of(moment, launches_.block_key(place), thread_at(place, first), count);
  }
  void learn(const WarpPlace& place, unsigned lane, const VectorClock& clock);
  void learn(const WarpPlace& place, ThreadState& self, const VectorClock& clock);
  // The same for some lanes of a warp.
  void learn_together(const WarpPlace& place, std::uint32_t lanes, const VectorClock& clock);
  // The lanes of a warp, which are alike, release and learn what they have released.
  //   lanes: that stand for them
  void tell_each_other(const WarpPlace& place, std::uint32_t lanes);
  // Returns the tick of the lanes of a warp when all of them, alike, last told each other all that
  // they had done: each knows what any of them did at an earlier tick.  0: they never did.
  [[nodiscard]] Tick met_at(const WarpPlace& place) const {
    return slots_[place.slot].warps[place.warp].met_at;
  }
  // Returns everything that any thread of a block has done and knows.
  [[nodiscard]] VectorClock knowledge_of_block(const WarpPlace& place) const;

  // All lanes of a warp have waited for copies, each for those of its own copier.  A barrier mostly
  // follows, and after it all threads know all copies.  So the separate knowledge is written for
  // each lane only if it is needed before that barrier.  False: the lanes are not alike.
  //   groups_left: the latest groups, which need not be complete
  bool await_copies_together(const WarpPlace& place, std::uint32_t lanes, std::size_t groups_left);

  // A lane of the warp has released or learned something, so a new segment begins.
  void changed(const WarpPlace& place) { slots_[place.slot].warps[place.warp].segment = {}; }
  // Returns the current segment of a warp, or of its lanes' copiers; 0: it must be made.
  //   acts: an access of the warp is recorded in it
  [[nodiscard]] SegmentId& segment_of(const WarpPlace& place, bool asynchronous, bool acts) {
    Warp& warp = slots_[place.slot].warps[place.warp];
    warp.has_acted |= acts;
    return warp.segment[asynchronous ? 1 : 0];
  }
  // Returns whether a warp has acted since it was asked last, or all of the block met.
  bool take_has_acted(const WarpPlace& place) {
    return std::exchange(slots_[place.slot].warps[place.warp].has_acted, false);
  }
  // Returns the ticks of the lanes of a warp, or of their copiers.
  [[nodiscard]] Segments::Ticks ticks_of(const WarpPlace& place, bool asynchronous) const;
  // Returns the tick of all of them; nothing: they may differ.
  [[nodiscard]] std::optional<Tick> common_tick(const WarpPlace& place, bool asynchronous) const {
    const Warp& warp = slots_[place.slot].warps[place.warp];
    if (warp.each != nullptr) return {};
    return asynchronous ? warp.common.copier_tick : warp.common.tick;
  }
  // Calls visit(segment) for each segment that a warp is in.
  template <typename Visit>
  void for_each_segment(Visit visit) {
    for (Slot& slot : slots_) {
      for (Warp& warp : slot.warps) {
        for (SegmentId& id : warp.segment) visit(id);
      }
    }
  }
  //   renewed: the new numbers of segments, by their old numbers
  void renew_thresholds(const std::vector<SegmentId>& renewed) { renew(slots_, renewed); }
  static void renew_thresholds(OfLaunch& suspended, const std::vector<SegmentId>& renewed);

 private:
  // Asynchronous copies that all lanes of a warp have waited for.
  struct AwaitedCopies {
    BlockKey block = 0;
    std::uint32_t first_thread = 0;
    std::uint32_t lanes = 0;
    Tick end = 0;  // 0: none
  };
  struct Warp {
    ThreadState common;
    // null: all lanes are as `common`
    mutable std::unique_ptr<std::array<ThreadState, kWarpLanes>> each;
    mutable AwaitedCopies awaited;  // of lanes that are alike
    Tick awaited_before = 0;        // the latest end of `awaited`
    Tick met_at = 0;
    // of the lanes, of their copiers; 0: a new one must be created
    std::array<SegmentId, 2> segment{};
    bool has_acted = false;  // since take_has_acted(), or a barrier of all

    // The threads of another block begin.
    //   known: to them
    void begin(const VectorClock& known);
    [[nodiscard]] const ThreadState& lane(unsigned lane) const {
      put_down();
      return each == nullptr ? common : (*each)[lane];
    }
    [[nodiscard]] ThreadState& own(unsigned lane) {
      put_down();
      if (each == nullptr) part();
      return (*each)[lane];
    }
    void part() const {
      each = std::make_unique<std::array<ThreadState, kWarpLanes>>();
      each->fill(common);
    }
    // Writes what each lane has waited for into its own state.
    void put_down() const {
      if (awaited.end != 0) [[unlikely]]
        put_down_awaited();
    }
    void put_down_awaited() const;
    template <typename Visit>
    void for_each(Visit visit) const {
      put_down();
      if (each == nullptr) return visit(common);
      for (const ThreadState& lane : *each) visit(lane);
    }
    template <typename Visit>
    void for_each(Visit visit) {
      put_down();
      if (each == nullptr) return visit(common);
      for (ThreadState& lane : *each) visit(lane);
    }
  };
  struct Slot {
    std::vector<Warp> warps;
    std::uint32_t block = kNoBlock;  // its number in the launch
    Tick phase = 0;
    SegmentId first_segment = 0;
    bool alike = false;  // all lanes know exactly `common`
    VectorClock common;
  };
  static void renew(std::vector<Slot>& slots, const std::vector<SegmentId>& renewed) {
    for (Slot& slot : slots) slot.first_segment = renewed[slot.first_segment];
  }
  static std::vector<ThreadTime> take_awaited(Slot& slot);
  //   joined: all that the thread knows from now on
  void learn_all(const WarpPlace& place, ThreadState& self, VectorClock joined);

  const LaunchOrder& launches_;
  bool lockstep_ = false;
  std::uint32_t threads_ = 0;  // of a block
  std::vector<Slot> slots_;
};

struct Threads::OfLaunch {
  std::uint32_t threads = 0;
  std::vector<Slot> slots;
};

inline void Threads::renew_thresholds(OfLaunch& suspended, const std::vector<SegmentId>& renewed) {
  renew(suspended.slots, renewed);
}

}  // namespace warpcheck::vgpu
