// The general race checker for clusters, whose blocks access each other's shared memory, and for
// mbarriers, which count asynchronous copies.
#include <fmt/format.h>

#include <bit>

#include "vgpu/check/race/race_general.hpp"

namespace warpcheck::vgpu {

ThreadOrder::SegmentId GeneralRaceChecker::segment_of(const Access& access) {
  if (!access.asynchronous) return order_.segment_of(access.place, false);
  if (access.object != nullptr) {
    return order_.segment_of_object(
        access.place, {owners_.block_of(*access.object), access.object_offset}, access.async_proxy);
  }
  if (!access.async_proxy) return order_.segment_of(access.place, true);
  if (access.program->code[access.pc].kind == InstrKind::group_load) {
    return order_.segment_of_products(access.place);
  }
  return order_.segment_of_group(access.place, access.kind == AccessKind::read);
}

// The shared memory of a block ends when all its threads have exited, so each access by another
// block must come before the exit of some thread of the owner.  Arrivals at an mbarrier have been
// made, whatever their scopes are, when a thread has seen the phase complete.
void GeneralRaceChecker::end_shared(const Sync& sync) {
  const auto& all_remote = owners_.remote_of(*sync.shared);
  if (all_remote.empty() || !sync.has_ended) return;
  const VectorClock known = order_.knowledge_of_block(sync.place);
  VectorClock seen = known;
  barrier_objects_.add_seen(sync.shared->id, seen);
  const Program& program = *sync.program;
  const Dim3& grid = launches_[order_.launch()].grid;
  const Dim3 block{sync.place.block % grid.x, sync.place.block / grid.x % grid.y,
                   sync.place.block / grid.x / grid.y};
  for (const SharedOwners::Remote& remote : all_remote) {
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
  return barrier_objects_.is_before_awaited(earlier, earlier_lane, row.access->place, lane);
}

void GeneralRaceChecker::on_cluster_barrier(const ClusterBarrier& event) {
  cluster_order_.pass(event);
}

void GeneralRaceChecker::on_barrier_object(const BarrierObject& event) {
  barrier_objects_.pass(event, owners_.block_of(*event.allocation));
}

}  // namespace warpcheck::vgpu
