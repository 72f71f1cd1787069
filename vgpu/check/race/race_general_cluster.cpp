// The general race checker for clusters, whose blocks access each other's shared memory, and for
// mbarriers, which count asynchronous copies.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "vgpu/check/race/race_general.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::size_t kRemoteMax = 4'096;  // accesses by other blocks that are remembered per block

}  // namespace

void GeneralRaceChecker::begin_shared(const Sync& sync) {
  const std::uint32_t id = sync.shared->id;
  if (id >= owners_.size()) owners_.resize(id + 1);
  owners_[id] = {order_.block_key(sync.place), order_.segments(), {}};
}

ThreadOrder::SegmentId GeneralRaceChecker::segment_of(const Access& access) {
  if (!access.asynchronous) return order_.segment_of(access.place, false);
  if (access.object != nullptr) {
    return order_.segment_of_object(access.place, object_at(*access.object, access.object_offset),
                                    access.async_proxy);
  }
  if (!access.async_proxy) return order_.segment_of(access.place, true);
  if (access.program->code[access.pc].kind == InstrKind::group_load) {
    return order_.segment_of_products(access.place);
  }
  return order_.segment_of_group(access.place, access.kind == AccessKind::read);
}

ThreadOrder::Object GeneralRaceChecker::object_at(const Allocation& allocation,
                                                  std::uint32_t offset) const {
  return {allocation.id < owners_.size() ? owners_[allocation.id].block : 0, offset};
}

ThreadOrder::SegmentId GeneralRaceChecker::first_segment_of(const Access& access) const {
  const std::uint32_t id = access.allocation->id;
  const bool is_owned = id < owners_.size() && owners_[id].first_segment != 0;
  return is_owned ? owners_[id].first_segment : order_.first_segment_of_slot(access.place);
}

// Records accesses by threads of one block to the shared memory of another block of the cluster.
void GeneralRaceChecker::remember_remote(const Row& row) {
  const Access& access = *row.access;
  if (!order_.has_clusters()) return;
  if (access.allocation->id >= owners_.size()) return;
  Owner& owner = owners_[access.allocation->id];
  if (owner.first_segment == 0 || owner.block == order_.block_key(access.place)) return;
  if (!owner.remote.empty()) {
    Remote& last = owner.remote.back();
    if (last.segment == row.now && last.pc == access.pc) {
      last.lanes |= access.mask;
      return;
    }
  }
  if (owner.remote.size() == kRemoteMax) owner.remote.erase(owner.remote.begin());
  owner.remote.push_back({row.now, access.mask, access.pc, class_of(access).index(),
                          describe_element(access, access.first_lane())});
}

// The shared memory of a block ends when all its threads have exited, so each access by another
// block must come before the exit of some thread of the owner.  Arrivals at an mbarrier have been
// made, whatever their scopes are, when a thread has seen the phase complete.
void GeneralRaceChecker::end_shared(const Sync& sync) {
  const Owner& owner = owners_[sync.shared->id];
  if (owner.remote.empty() || !sync.has_ended) return;
  const VectorClock known = order_.knowledge_of_block(sync.place);
  VectorClock seen = known;
  for (const auto& [place, state] : barriers_) {
    if (place.first == sync.shared->id) seen.join(state.seen);
  }
  const Program& program = *sync.program;
  const Dim3& grid = launches_[order_.launch()].grid;
  const Dim3 block{sync.place.block % grid.x, sync.place.block / grid.x % grid.y,
                   sync.place.block / grid.x / grid.y};
  for (const Remote& remote : owner.remote) {
    const bool is_arrival = program.code[remote.pc].kind == InstrKind::barrier_object;
    std::uint32_t late = 0;
    for (std::uint32_t rest = remote.lanes; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      if (!order_.knows(is_arrival ? seen : known, remote.segment, lane)) late |= 1u << lane;
    }
    if (late == 0) continue;
    reporter_.report({&program, remote.pc, ptx::kNone, 1u << 30}, [&] {
      Finding finding;
      finding.kind = FindingKind::use_after_free;
      finding.space = "shared";
      finding.kernel = kernel_name(program.kernel);
      finding.object = remote.object;
      const auto lane = static_cast<unsigned>(std::countr_zero(late));
      finding.accesses = {side_of({remote.segment, lane, remote.pc, remote.access_class})};
      finding.message = fmt::format(
          "block ({},{},{}), whose shared memory this is, may have exited: nothing orders (1) "
          "before "
          "its end, as a last barrier of the cluster does",
          block.x, block.y, block.z);
      return finding;
    });
  }
}

// Returns whether fence.mbarrier_init has released the earlier access, an initialisation.
bool GeneralRaceChecker::is_fenced_init(const Row& row, const LaneAccess& mine,
                                        const Earlier& earlier) const {
  const ThreadOrder::Segment& segment = order_.segment(earlier.segment);
  if (segment.launch != order_.launch()) return false;
  const Instr& instr = row.access->program->code[earlier.pc];
  return instr.kind == InstrKind::barrier_object &&
         instr.modifiers.object_op == ptx::ObjectOp::init &&
         cluster_order_.knows_init(earlier.segment, earlier.lane, row.access->place, mine.lane);
}

// Returns whether the access is an mbarrier.inval after uses of the object by other lanes of a
// warp, one lane of which comes before it.  Operations on an mbarrier are complete when they
// return, and cuda::pipeline relies on that: at its end, the lanes of a warp meet at a match.sync,
// which orders no memory, and one lane counts for all.
bool GeneralRaceChecker::is_known_use(const Row& row, const LaneAccess& mine,
                                      const Earlier& earlier) {
  const Access& access = *row.access;
  const Instr& now = access.program->code[access.pc];
  const bool invalidates =
      now.kind == InstrKind::barrier_object && now.modifiers.object_op == ptx::ObjectOp::inval;
  const ThreadOrder::Segment& segment = order_.segment(earlier.segment);
  if (!invalidates || segment.launch != order_.launch() || segment.asynchronous) return false;
  if (access.program->code[earlier.pc].kind != InstrKind::barrier_object) return false;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    if (order_.before(earlier.segment, lane, access.place, mine.lane)) return true;
  }
  return false;
}

// Returns whether a lane that begins a copy has waited for an arrival that comes after the earlier
// access.  By the letter, an arrival at block scope, the default, says nothing to other blocks of
// the cluster.  The vendor's pipelines of multicast copies tell by such arrivals that a tile may be
// overwritten: the threads that arrive have read it, so their values cannot change any more.
bool GeneralRaceChecker::is_before_awaited_arrival(const Row& row, ThreadOrder::SegmentId earlier,
                                                   unsigned earlier_lane, unsigned lane) const {
  if (row.access->space != ptx::Space::shared) return false;
  const auto awaited = awaited_arrivals_.find(key_of_thread(row.access->place, lane));
  return awaited != awaited_arrivals_.end() && order_.knows(awaited->second, earlier, earlier_lane);
}

void GeneralRaceChecker::on_cluster_barrier(const ClusterBarrier& event) {
  cluster_order_.pass(event);
}

// PTX ISA 9.7.13.15.16: an arrival releases into the current phase.  A thread that sees a phase
// complete has acquired everything that arrived in this phase and in earlier ones, and all
// asynchronous accesses that the object has counted.  The first holds at scopes that include the
// other's thread.  The second holds at every scope, whichever block began the copy: its completion
// is an operation on this object, and only threads of the object's block can wait.  The vendor's
// pipelines of multicast copies wait at block scope.
void GeneralRaceChecker::on_barrier_object(const BarrierObject& event) {
  using Kind = BarrierObject::Kind;
  BarrierState& state = barriers_[{event.allocation->id, event.offset}];
  if (event.kind == Kind::init || event.kind == Kind::invalidate) {
    state = {};
    return;
  }
  const ThreadOrder::Object object = object_at(*event.allocation, event.offset);
  if (event.kind == Kind::arrive && event.phase > state.phase) {
    state.phase = event.phase;
    state.before = state.current;
  }
  const bool is_near = object.block == order_.block_key(event.place);
  const bool reaches = is_near || event.completes || event.scope != ptx::Scope::cta;
  VectorClock& into = is_near || event.completes ? state.current.near : state.current.far;
  if (event.completes) {
    const VectorClock done = order_.complete(object);
    into.join(done);
    state.arrived.join(done);
    return;
  }
  if (event.kind == Kind::wait) state.seen = state.arrived;
  for (std::uint32_t rest = event.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    if (event.for_copies) {
      into.join(order_.release_copies(event.place, lane));
    } else if (event.kind == Kind::arrive) {
      const VectorClock done = arrive_on_object(event, lane, reaches ? &into : nullptr);
      state.arrived.join(done);
      state.current.all.join(done);
    } else {
      wait_for_object(event, lane, event.phase < state.phase ? state.before : state.current);
    }
  }
}

// A relaxed arrival releases what an earlier fence has released.  Returns what the lane has done.
VectorClock GeneralRaceChecker::arrive_on_object(const BarrierObject& event, unsigned lane,
                                                 VectorClock* into) {
  const auto reach = static_cast<std::size_t>(order_.reach_of(event.scope));
  const ThreadOrder::Moment fence = order_.lane_at(event.place, lane).fence[reach];
  const VectorClock released =
      order_.clock_of(order_.release(event.place, lane), event.place, lane);
  if (into == nullptr) return released;
  if (!event.relaxed) {
    into->join(released);
  } else if (fence.is_set) {
    into->join(order_.clock_of(fence, event.place, lane));
  }
  return released;
}

// A later fence completes a relaxed wait.
void GeneralRaceChecker::wait_for_object(const BarrierObject& event, unsigned lane,
                                         const Released& released) {
  VectorClock all = released.near;
  if (event.scope != ptx::Scope::cta) all.join(released.far);
  if (order_.has_clusters()) {
    awaited_arrivals_[key_of_thread(event.place, lane)].join(released.all);
  }
  if (!event.relaxed) return order_.learn(event.place, lane, all);
  ReleasedClocks released_clocks{released.near, all, all};
  order_.own_lane(event.place, lane).observed.join(released_clocks);
}

}  // namespace warpcheck::vgpu
