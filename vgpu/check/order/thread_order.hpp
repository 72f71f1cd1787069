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
// Asynchronous copies are not in the program order of any thread (PTX ISA 8.9.1.1).  The copies of
// a thread count as a thread of their own, its copier, which ticks when a group of copies is
// closed.  Bulk copies have two such agents for each thread, because a thread can wait for their
// reads alone.  The copies that an mbarrier counts belong to an agent of that mbarrier, which ticks
// whenever bytes are complete.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "vgpu/check/order/bits.hpp"
#include "vgpu/check/order/early_launches.hpp"
#include "vgpu/check/order/epoch.hpp"
#include "vgpu/check/order/vector_clock.hpp"
#include "vgpu/machine/access.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

// How far a strong operation reaches (PTX ISA 8.5): its block, its cluster, or all threads.  If
// there are several devices and no clusters, `cluster` means the blocks of one device.
enum class Reach : std::uint8_t { block, cluster, grid };
inline constexpr std::array kReaches{Reach::block, Reach::cluster, Reach::grid};

// What an acquire at each reach would learn.
struct ReleasedClocks {
  VectorClock block, cluster, grid;  // each includes the one before it
  void join(const ReleasedClocks& other) {
    block.join(other.block);
    cluster.join(other.cluster);
    grid.join(other.grid);
  }
  [[nodiscard]] const VectorClock& at(Reach reach) const {
    return reach == Reach::block ? block : reach == Reach::cluster ? cluster : grid;
  }
  [[nodiscard]] bool is_empty() const { return grid.is_empty(); }
};

// The properties of a launch that matter for the order.
struct LaunchShape {
  const Program* program = nullptr;
  Dim3 grid, block, cluster;
  unsigned device = 0, devices = 1;
  std::uint32_t launched_as = 0;
  friend bool operator==(const LaunchShape&, const LaunchShape&) = default;
};
[[nodiscard]] inline LaunchShape shape_of(const Sync& start) {
  return {start.program, start.grid,    start.block,      start.cluster,
          start.device,  start.devices, start.launched_as};
}

class ThreadOrder {
 public:
  using SegmentId = std::uint32_t;  // 0: none
  static constexpr SegmentId kSegmentsMax = 1u << 27;

  // Everything that a thread had done and knew when it released.
  struct Moment {
    VectorClock knows;
    Tick phase = 0, ticks = 0;
    bool is_set = false;
  };
  // What a thread has released by fences.
  struct Fences {
    std::array<Moment, 3> latest;  // by Reach: the latest fence that reaches that far
    // The latest fence.sc that reaches the grid; and such fences of other threads that come before
    // it by barriers.
    Moment sc;
    VectorClock sc_of_others;

    [[nodiscard]] const Moment& operator[](std::size_t reach) const { return latest[reach]; }
    Moment& operator[](std::size_t reach) { return latest[reach]; }
    [[nodiscard]] bool is_empty() const { return !latest[0].is_set && sc_of_others.is_empty(); }
  };
  struct Lane {
    VectorClock knows;
    Tick tick = 0;
    Tick copier_tick = 0;
    std::vector<Tick> groups;  // of copies: each group ends before this tick of the copier
    Fences fence;
    ReleasedClocks observed;  // by strong reads; not acquired yet
    // What fence.sc operations have released and strong reads have observed: reads of this thread,
    // and reads that come before it by barriers.
    VectorClock sc_observed;
    // What was observed of each variable, oldest first.  `observed` includes the first `folded`
    // entries.
    struct Seen {
      std::uint64_t variable = 0;
      std::uint64_t chain = 0;  // 0: several chains
      ReleasedClocks released_clocks;
    };
    std::vector<Seen> seen;
    std::size_t folded = 0, compact_at = 32;

    //   chain: a later observer of the same chain observes at least as much
    void observe(std::uint64_t variable, std::uint64_t chain,
                 const ReleasedClocks& released_clocks);
    void fold();
    // Returns everything that operations with the reach of the grid have observed.
    [[nodiscard]] VectorClock all_observed() const;

   private:
    void compact();
  };
  struct Segment {
    BlockKey block = 0;
    Tick phase = 0;
    std::uint32_t launch = 0;  // in the trial
    std::uint32_t ticks = 0;   // index into the rows of ticks
    std::uint16_t warp = 0;
    bool asynchronous = false;
    bool async_proxy = false;
    // For asynchronous segments: the agent, and the block that counts its ticks.  An mbarrier is
    // one agent for all lanes; other agents have one number per lane.
    bool is_object = false;
    std::uint32_t agent = 0;
    BlockKey agent_block = 0;
  };
  enum class Before : std::uint8_t { no_lane, some_lanes, all_lanes };

  void reset(WarpModel model);
  // Launches count from 0 in a trial.
  //   unordered: earlier launches that are not ordered before this one
  //   early_after: as in Sync
  void begin_launch(const LaunchShape& launch, std::span<const std::uint32_t> unordered = {},
                    std::uint32_t early_after = ptx::kNone);
  void begin_block(const WarpPlace& place);
  void end_block(const WarpPlace& place) { early_.end_block(place.slot); }
  void complete_barrier(const WarpPlace& place);

  void fence(const Fence& fence);
  // Handles griddepcontrol.  With wait, the previous launch comes before what the lanes do from now
  // on; with launch_dependents, the next launch may begin.
  void control_grids(const Fence& fence);
  [[nodiscard]] const EarlyLaunches& early_launches() const { return early_; }
  void meet(const Meeting& meeting);
  // The launch with the event's number will know what the lane has done and knows.
  void launch_from(const DeviceLaunch& event);
  void commit_copies(const CopyCommit& commit);
  void wait_for_copies(const CopyWait& wait);

  // Returns the thread that stands for a lane: with lockstep warps, one thread stands for all
  // lanes.
  [[nodiscard]] unsigned actor_of(unsigned lane) const { return lockstep_ ? 0 : lane; }
  // Returns how many consecutive threads are ordered among themselves, as in epoch.hpp.
  [[nodiscard]] std::uint64_t ordered_threads() const {
    return lockstep_ ? kOrderedInWarp : kOrderedInThread;
  }
  [[nodiscard]] const Lane& lane_at(const WarpPlace& place, unsigned lane) const {
    return slots_[place.slot].warps[place.warp].lane(lane);
  }
  // Returns the state of this lane alone, so that it can be changed without changing other lanes.
  [[nodiscard]] Lane& own_lane(const WarpPlace& place, unsigned lane) {
    Warp& warp = slots_[place.slot].warps[place.warp];
    return lockstep_ ? warp.common : warp.own(lane);
  }
  [[nodiscard]] std::uint32_t thread_at(const WarpPlace& place, unsigned lane) const {
    return place.warp * kWarpLanes + actor_of(lane);
  }
  // Keys of blocks are unique across launches.
  [[nodiscard]] BlockKey block_key(const WarpPlace& place) const {
    return first_block_ + place.block;
  }
  [[nodiscard]] std::uint32_t first_segment_of_slot(const WarpPlace& place) const {
    return slots_[place.slot].first_segment;
  }
  // Returns the cluster of a block of the running launch: the key of the cluster's first block.
  [[nodiscard]] BlockKey cluster_of(BlockKey block) const;
  // Returns whether Reach::cluster is used.  It includes the threads of a cluster, or of a device.
  [[nodiscard]] bool has_groups() const { return has_clusters() || has_devices(); }
  [[nodiscard]] BlockKey group_of(BlockKey block) const {
    return has_clusters() || !has_devices() ? cluster_of(block) : device_of_block(block);
  }
  [[nodiscard]] bool has_devices() const { return devices_ > 1; }
  // Returns the device of a launch of the trial.
  [[nodiscard]] unsigned device_of(std::uint32_t launch) const { return starts_[launch].device; }
  // Returns whether the block is in that slot now.
  [[nodiscard]] bool is_in_slot(BlockKey block, std::uint32_t slot) const {
    return slot < slots_.size() && block == first_block_ + slots_[slot].block;
  }
  // Returns whether all threads of a block have exited, as far as its slot shows.
  [[nodiscard]] bool has_ended(BlockKey block) const {
    return block < first_block_ || ended_[block - first_block_];
  }
  [[nodiscard]] bool has_clusters() const { return cluster_.count() != 1; }
  [[nodiscard]] Reach reach_of(ptx::Scope scope) const {
    if (scope == ptx::Scope::cta) return Reach::block;
    if (scope == ptx::Scope::cluster) return has_clusters() ? Reach::cluster : Reach::block;
    const bool is_of_device = scope == ptx::Scope::gpu && has_devices() && !has_clusters();
    return is_of_device ? Reach::cluster : Reach::grid;
  }
  [[nodiscard]] Reach reach_of(const Access& access) const {
    return reach_of(has_devices() ? scope_of(access.program->code[access.pc]) : access.scope);
  }

  // Releases: everything that the lane did until now comes before what acquires the returned
  // moment.
  Moment release(const WarpPlace& place, unsigned lane);
  [[nodiscard]] VectorClock clock_of(const Moment& moment, const WarpPlace& place,
                                     unsigned lane) const {
    return clock_of(moment, block_key(place), thread_at(place, lane));
  }
  [[nodiscard]] static VectorClock clock_of(const Moment& moment, BlockKey block,
                                            std::uint32_t thread);
  void learn(const WarpPlace& place, unsigned lane, const VectorClock& clock);
  // Handles a strong read that has observed a write; fence.sc had released `released` before that
  // write.
  void observe_sc(const WarpPlace& place, unsigned lane, const VectorClock& released);

  // Returns a clock for the asynchronous copies that the lane has begun: they come before what
  // acquires it.
  VectorClock release_copies(const WarpPlace& place, unsigned lane);

  // An mbarrier of a block, as an agent for asynchronous accesses.
  struct Object {
    BlockKey block = 0;
    std::uint32_t offset = 0;  // in the block's shared memory
  };
  // Returns a clock for what this mbarrier has counted so far: it comes before what acquires the
  // clock.
  VectorClock complete(const Object& object);

  // Returns the current segment of a warp, or of its lanes' copiers.
  SegmentId segment_of(const WarpPlace& place, bool asynchronous);
  // Returns the current segment of a group of bulk copies; reads: of their reads, else of their
  // writes.
  SegmentId segment_of_group(const WarpPlace& place, bool reads);
  // Returns the current segment of the reads by a warpgroup's products.
  SegmentId segment_of_products(const WarpPlace& place);
  SegmentId segment_of_object(const WarpPlace& place, const Object& object, bool async_proxy);
  // Returns a segment for everything that a warp did in an earlier launch.
  SegmentId past_segment(std::uint32_t launch, BlockKey block, std::uint32_t warp);
  [[nodiscard]] const Segment& segment(SegmentId id) const { return segments_[id]; }
  // Returns for which lanes of `earlier` what they did comes before what the lanes of `place` do
  // now.
  //   now: the segment of those lanes
  Before before(SegmentId earlier, SegmentId now, const WarpPlace& place);
  [[nodiscard]] bool before(SegmentId earlier, unsigned earlier_lane, const WarpPlace& place,
                            unsigned lane);
  // Returns whether `clock` knows what a lane did in a segment.
  [[nodiscard]] bool knows(const VectorClock& clock, SegmentId earlier,
                           unsigned earlier_lane) const;

  [[nodiscard]] std::uint32_t launch() const { return launch_; }
  [[nodiscard]] bool is_ordered_launch(std::uint32_t launch) const;
  // All launches with a lower number come before the current one.
  [[nodiscard]] std::uint32_t first_unordered_launch() const { return first_unordered_launch_; }
  // Forgets all segments that are not `live` (by number) and that no thread is in, and renumbers
  // the others in the same order.  Returns the new number for each old number.  For a forgotten
  // segment, and for the number after the last, it is the new number of the next remaining segment.
  std::vector<SegmentId> forget_segments(std::vector<bool> live);
  [[nodiscard]] std::uint32_t segments() const {
    return static_cast<std::uint32_t>(segments_.size());
  }
  [[nodiscard]] BlockKey first_block_of_launch() const { return first_block_; }
  // Returns everything that any thread of a block has done and knows.
  [[nodiscard]] VectorClock knowledge_of_block(const WarpPlace& place) const;
  // For reports: visits every lane of a block, but only one of the lanes that are alike.
  template <typename Visit>
  void for_each_lane(const WarpPlace& place, Visit visit) const {
    for (const Warp& warp : slots_[place.slot].warps) warp.for_each(visit);
  }
  template <typename Visit>
  void for_each_lane_of_warp(const WarpPlace& place, Visit visit) const {
    slots_[place.slot].warps[place.warp].for_each(visit);
  }

 private:
  [[nodiscard]] unsigned device_of_block(BlockKey block) const;

  using Ticks = std::array<Tick, kWarpLanes>;
  // Asynchronous copies that all lanes of a warp have waited for, each lane for those of its own
  // copier.
  struct AwaitedCopies {
    BlockKey block = 0;
    std::uint32_t first_thread = 0;
    std::uint32_t lanes = 0;
    Tick end = 0;  // 0: none
  };
  // The lanes of a warp mostly do the same.  They share one state until one of them does something
  // alone.  With lockstep warps they are one thread.
  //
  // When all lanes wait for copies, each lane learns of its own copies only.  A barrier mostly
  // follows, and after it all threads know all copies.  So the separate knowledge is written for
  // each lane only if it is needed before that barrier.
  struct Warp {
    Lane common;
    mutable std::unique_ptr<std::array<Lane, kWarpLanes>> each;  // null: all lanes are as `common`
    mutable AwaitedCopies awaited;                               // of lanes that are alike
    Tick awaited_before = 0;                                     // the latest end of `awaited`
    // of the lanes, of their copiers; 0: a new one must be created
    std::array<SegmentId, 2> segment{};
    [[nodiscard]] const Lane& lane(unsigned lane) const {
      put_down();
      return each == nullptr ? common : (*each)[lane];
    }
    [[nodiscard]] Lane& own(unsigned lane) {
      put_down();
      if (each == nullptr) part();
      return (*each)[lane];
    }
    void part() const {
      each = std::make_unique<std::array<Lane, kWarpLanes>>();
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
      for (const Lane& lane : *each) visit(lane);
    }
    template <typename Visit>
    void for_each(Visit visit) {
      put_down();
      if (each == nullptr) return visit(common);
      for (Lane& lane : *each) visit(lane);
    }
  };
  static constexpr std::uint32_t kNoBlock = ~0u;
  struct Slot {
    std::vector<Warp> warps;
    std::uint32_t block = kNoBlock;  // its number in the launch
    Tick phase = 0;
    SegmentId first_segment = 0;
    // By barrier and thread: arrivals without a wait, oldest first, at barriers that are not
    // complete.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Moment>> arrivals;
    bool alike = false;  // all lanes know exactly `common`
    VectorClock common;
    bool has_sc = false;  // since the last barrier, a lane has executed fence.sc or observed one
  };
  struct Answer {
    SegmentId earlier = 0, now = 0;
    Before before = Before::no_lane;
  };
  static constexpr std::uint32_t kCopier = 1u << 16;  // + thread: its copier
  static constexpr std::uint32_t kBulkReads = 2u << 16, kBulkWrites = 3u << 16;  // + thread
  static constexpr std::uint32_t kObject = 4u << 16;     // + offset: an mbarrier
  static constexpr std::uint32_t kProducts = 64u << 16;  // + thread: of its warpgroup
  static constexpr std::size_t kAnswers = 1u << 12;

  // The bulk copies of one thread.
  struct BulkGroups {
    Tick tick = 0;
    std::vector<Tick> ends;
  };
  [[nodiscard]] std::uint64_t thread_key(const WarpPlace& place, unsigned lane) const {
    return block_key(place) << 16 | thread_at(place, lane);
  }
  [[nodiscard]] std::vector<ThreadTime> products_of_warpgroup(const WarpPlace& place,
                                                              std::size_t count) const;
  // Calls visit(lane) for each of `lanes`, or once if the lanes of the warp are alike.
  template <typename Visit>
  void for_each_actor(const WarpPlace& place, std::uint32_t lanes, Visit visit);
  [[nodiscard]] std::uint32_t lanes_of(std::uint32_t warp) const;
  [[nodiscard]] bool are_alike(const WarpPlace& place, std::uint32_t lanes) const;
  Moment release(const WarpPlace& place, Lane& self);
  void learn(const WarpPlace& place, Lane& self, const VectorClock& clock);
  // What threads that meet at a barrier tell each other about fence.sc.
  struct FencesOfMeeting {
    VectorClock fenced, observed;
    std::vector<ThreadTime> times;
    Tick phase = 0;
  };
  void gather_sc(const WarpPlace& place, std::uint32_t lanes, FencesOfMeeting& all) const;
  void hand_on_sc(const WarpPlace& place, std::uint32_t lanes, FencesOfMeeting& all);
  std::uint32_t row_of_ticks(const Ticks& ticks);
  SegmentId segment_of_agent(const Segment& segment, const Ticks& ticks);
  using GroupsOfThreads = std::map<std::uint64_t, BulkGroups>;
  SegmentId segment_of_groups(const WarpPlace& place, std::uint32_t agent,
                              const GroupsOfThreads& groups);
  void forget_answers();
  [[nodiscard]] Before answer(SegmentId earlier, const WarpPlace& place) const;
  [[nodiscard]] std::uint32_t known_lanes(const VectorClock& clock, const Segment& segment) const;
  [[nodiscard]] std::uint32_t known_lanes(const VectorClock::Knowledge& known,
                                          const Segment& segment) const;
  void wait_together(const CopyWait& wait);
  static std::vector<ThreadTime> take_awaited(Slot& slot);
  void changed(const WarpPlace& place);

  bool lockstep_ = false;
  std::uint32_t threads_ = 0, warps_ = 0;
  std::uint32_t launch_ = 0, launches_ = 0;
  unsigned devices_ = 1;
  struct Start {
    BlockKey first_block = 0;
    unsigned device = 0;
  };
  std::map<std::uint32_t, VectorClock> known_to_launch_;  // by DeviceLaunch::number
  VectorClock known_at_start_;                            // by all threads of this launch
  std::vector<Start> starts_;  // of all launches, where there are several devices
  BlockKey first_block_ = 0, next_first_block_ = 0;
  Dim3 grid_, cluster_;
  std::vector<std::uint32_t> unordered_launches_;
  std::uint32_t first_unordered_launch_ = 0;  // the present one, if there are none
  EarlyLaunches early_;
  // Stands for the launch before: a thread that has waited for it knows of this block, which no
  // thread belongs to.
  BlockKey waited_for_ = 0;
  std::vector<Slot> slots_;
  std::vector<bool> ended_;  // by block of the launch
  std::vector<Segment> segments_;
  std::vector<Ticks> ticks_;
  std::vector<Answer> answers_;
  bool has_answers_ = false;
  std::map<std::array<std::uint64_t, 3>, SegmentId> past_;  // by launch, block, warp
  GroupsOfThreads bulk_groups_, product_groups_;
  std::map<std::pair<BlockKey, std::uint32_t>, Tick> object_ticks_;  // block, offset
  SegmentId last_agent_ = 0;  // the latest segment of an agent
};

template <typename Visit>
void ThreadOrder::for_each_actor(const WarpPlace& place, std::uint32_t lanes, Visit visit) {
  Warp& warp = slots_[place.slot].warps[place.warp];
  if (are_alike(place, lanes)) return visit(warp.common);
  for_each_bit(lanes, [&](unsigned lane) { visit(warp.own(lane)); });
}

}  // namespace warpcheck::vgpu
