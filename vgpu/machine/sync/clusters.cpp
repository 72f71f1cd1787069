// Thread block clusters (PTX ISA 9.0, 5.2.2): blocks that are resident at once, reach each other's
// shared memory, and meet at a barrier of their own (9.7.13.3).
//
// The barrier completes when all threads of the cluster that have not exited have arrived.  A
// thread that arrives goes on; one that waits, waits for the phase in which it arrived.  An H200
// lets a thread pass that waits without having arrived, and counts one that arrives twice; both are
// undefined, and are reported here.
#include <algorithm>
#include <bit>

#include "vgpu/machine/core.hpp"

namespace warpcheck::vgpu {

using Reason = BarrierDivergence::Reason;

namespace {

std::uint32_t linear(const Dim3& at, const Dim3& extent) {
  return at.x + extent.x * (at.y + extent.y * at.z);
}

Dim3 position(std::uint32_t linear, const Dim3& extent) {
  return {linear % extent.x, linear / extent.x % extent.y, linear / extent.x / extent.y};
}

}  // namespace

// The block of a cluster with the rank 0.
std::uint32_t Core::first_of_cluster(std::uint32_t block) const {
  const Dim3& extent = launch_->cluster;
  Dim3 at = position(block, launch_->grid);
  at = {at.x - at.x % extent.x, at.y - at.y % extent.y, at.z - at.z % extent.z};
  return linear(at, launch_->grid);
}

std::uint32_t Core::block_of_rank(std::uint32_t cluster, std::uint32_t rank) const {
  const Dim3 first = position(cluster, launch_->grid);
  const Dim3 in_cluster = position(rank, launch_->cluster);
  return linear({first.x + in_cluster.x, first.y + in_cluster.y, first.z + in_cluster.z},
                launch_->grid);
}

// All blocks of a cluster become resident together.
void Core::dispatch_cluster(std::uint32_t first) {
  const auto size = static_cast<std::uint32_t>(launch_->cluster.count());
  if (program_->uses_clusters) clusters_[first] = {0, size * threads_, 0};
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    const std::uint32_t block = block_of_rank(first, rank);
    dispatch(block);
    Slot& slot = *slot_of(block);
    slot.cluster = first;
    slot.cluster_rank = rank;
    for (std::uint32_t index = 0; index < warps_per_block_; ++index) {
      slot.warps[index].cluster_arrived = 0;
    }
  }
}

// Zeros, as cooperative groups expect it to be.
void Core::renew_reserved_shared(Slot& slot) {
  Allocation*& memory = slot.reserved_shared;
  memory = memory_.renew_private(memory, kReservedSharedBytes, ptx::Space::shared);
  memory->name = "reserved shared memory";
  memory->reserved = true;
  std::fill_n(memory->data, memory->bytes, std::byte{0});
  HostAccess zeros;
  zeros.allocation = memory;
  zeros.bytes = memory->bytes;
  zeros.write = true;
  notify([&](Observer& observer) { observer.on_host_access(zeros); });
}

std::uint32_t Core::special_of_cluster(const Slot& slot, ptx::SpecialRegister special) const {
  using ptx::SpecialRegister;
  const Dim3& grid = launch_->grid;
  const Dim3& extent = launch_->cluster;
  const Dim3& at = slot.position;
  switch (special) {
    case SpecialRegister::clusterid_x: return at.x / extent.x;
    case SpecialRegister::clusterid_y: return at.y / extent.y;
    case SpecialRegister::clusterid_z: return at.z / extent.z;
    case SpecialRegister::nclusterid_x: return grid.x / extent.x;
    case SpecialRegister::nclusterid_y: return grid.y / extent.y;
    case SpecialRegister::nclusterid_z: return grid.z / extent.z;
    case SpecialRegister::cluster_ctaid_x: return at.x % extent.x;
    case SpecialRegister::cluster_ctaid_y: return at.y % extent.y;
    case SpecialRegister::cluster_ctaid_z: return at.z % extent.z;
    case SpecialRegister::cluster_nctaid_x: return extent.x;
    case SpecialRegister::cluster_nctaid_y: return extent.y;
    case SpecialRegister::cluster_nctaid_z: return extent.z;
    case SpecialRegister::cluster_ctarank: return slot.cluster_rank;
    case SpecialRegister::cluster_nctarank: return static_cast<std::uint32_t>(extent.count());
    default: return 0;
  }
}

// The shared memory that an address of the cluster leads to.  The allocation is null where there is
// none any more, or was none.
//   own: the target if the address has no rank
Core::Target Core::cluster_target(const RunningFragment& run, std::uint64_t address,
                                  const Target& own) {
  const std::uint64_t window = address >= kSharedWindow ? kSharedWindow : 0;
  const std::uint64_t tag = (address - window) / kWindowBytes;
  if (!program_->uses_clusters || tag == 0 || tag > kSharedWindows) return own;
  Target target{nullptr, ptx::Space::shared, window + tag * kWindowBytes, 0};
  if (tag == kSharedWindows) {
    if (!program_->uses_reserved_shared) return own;
    target.allocation = run.slot.reserved_shared;
    target.limit = kReservedSharedBytes;
    return target;
  }
  const auto rank = static_cast<std::uint32_t>(tag - 1);
  if (rank >= launch_->cluster.count()) return target;
  const Slot* const slot = slot_of(block_of_rank(run.slot.cluster, rank));
  if (slot == nullptr) return target;
  target.allocation = slot->shared;
  target.limit = slot->shared->bytes;
  return target;
}

// Why an address with a rank leads nowhere.
void Core::explain_fault_in_cluster(const RunningFragment& run, const Target& target,
                                    Fault& fault) const {
  const auto rank = static_cast<std::uint32_t>(target.base % kSharedWindow / kWindowBytes) - 1;
  const bool exists = rank < launch_->cluster.count();
  fault.kind = exists ? Fault::Kind::block_exited : Fault::Kind::no_such_block;
  fault.block = exists ? block_of_rank(run.slot.cluster, rank) : rank;
}

// Whose shared memory it is.
Slot& Core::owner_of(const RunningFragment& run, const Allocation* shared) {
  for (Slot* slot : resident_) {
    if (slot->shared == shared) return *slot;
  }
  return run.slot;
}

// Lanes of a fragment, which has its pc stored, come to barrier.cluster.
Core::Step Core::come_to_cluster_barrier(RunningFragment& run, std::size_t index,
                                         const Instr& instr, std::uint32_t lanes) {
  ClusterState& cluster = clusters_[run.slot.cluster];
  Warp& warp = run.warp;
  if (instr.modifiers.arrive) {
    ++warp.fragments[index].pc;
    const std::uint32_t again = lanes & warp.cluster_arrived;
    if (again != 0) {
      report_misuse(run, static_cast<unsigned>(std::countr_zero(again)), Reason::arrived_already);
      lanes &= ~again;
    }
    if (lanes == 0) return Step::again;
    warp.cluster_arrived |= lanes;
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      warp.cluster_phase[static_cast<std::size_t>(std::countr_zero(rest))] = cluster.phase;
    }
    cluster.arrived_lanes += lane_count(lanes);
    tell_cluster_barrier(run.slot, warp, ClusterBarrier::Kind::arrive, lanes, cluster.phase,
                         instr.modifiers.order == ptx::Order::relaxed);
    complete_cluster_barrier(run.slot.cluster);
    return Step::again;
  }
  if (const std::uint32_t early = lanes & ~warp.cluster_arrived; early != 0) {
    report_misuse(run, static_cast<unsigned>(std::countr_zero(early)), Reason::not_arrived);
  }
  std::uint32_t waiting = 0;
  for (std::uint32_t rest = lanes & warp.cluster_arrived; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    if (warp.cluster_phase[lane] == cluster.phase) waiting |= 1u << lane;
  }
  const std::uint32_t done = lanes & warp.cluster_arrived & ~waiting;
  if (done != 0) {
    warp.cluster_arrived &= ~done;
    tell_cluster_barrier(run.slot, warp, ClusterBarrier::Kind::wait, done, cluster.phase - 1,
                         false);
  }
  if (waiting != lanes && waiting != 0) {
    const std::size_t other = split(warp, index, lanes & ~waiting);
    ++warp.fragments[other].pc;
  }
  if (waiting == 0) {
    ++warp.fragments[index].pc;
  } else {
    warp.fragments[index].state = Fragment::State::at_cluster_barrier;
  }
  return Step::again;
}

void Core::tell_cluster_barrier(const Slot& slot, const Warp& warp, ClusterBarrier::Kind kind,
                                std::uint32_t lanes, std::uint64_t phase, bool relaxed) {
  const ClusterBarrier event{kind, program_, place_of(slot, warp), lanes, phase, relaxed};
  notify([&](Observer& observer) { observer.on_cluster_barrier(event); });
}

void Core::complete_cluster_barrier(std::uint32_t first) {
  ClusterState& cluster = clusters_[first];
  if (cluster.live_lanes == 0 || cluster.arrived_lanes != cluster.live_lanes) return;
  const std::uint64_t phase = cluster.phase++;
  cluster.arrived_lanes = 0;
  came_last_ = true;
  for (Slot* slot : resident_) {
    if (slot->cluster != first) continue;
    for (std::uint32_t index = 0; index < warps_per_block_; ++index) {
      Warp& warp = slot->warps[index];
      for (Fragment& fragment : warp.fragments) {
        if (fragment.state != Fragment::State::at_cluster_barrier) continue;
        fragment.state = Fragment::State::ready;
        ++fragment.pc;
        warp.cluster_arrived &= ~fragment.mask;
        slot->ready_warps |= 1u << index;
        tell_cluster_barrier(*slot, warp, ClusterBarrier::Kind::wait, fragment.mask, phase, false);
      }
    }
  }
}

// Nobody waits for threads that have exited.
void Core::leave_cluster(Slot& slot, Warp& warp, std::uint32_t lanes) {
  ClusterState& cluster = clusters_[slot.cluster];
  cluster.live_lanes -= lane_count(lanes);
  for (std::uint32_t rest = lanes & warp.cluster_arrived; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    if (warp.cluster_phase[lane] == cluster.phase) --cluster.arrived_lanes;
  }
  warp.cluster_arrived &= ~lanes;
  complete_cluster_barrier(slot.cluster);
}

// Whether a block, of which no thread can go on, waits for another one that can.
bool Core::waits_for_cluster(const Slot& slot) const {
  if (!program_->uses_clusters) return false;
  bool waits = false;
  for (std::uint32_t index = 0; index < warps_per_block_; ++index) {
    waits |= std::ranges::any_of(slot.warps[index].fragments, [](const Fragment& fragment) {
      return fragment.state == Fragment::State::at_cluster_barrier;
    });
  }
  return waits && std::ranges::any_of(resident_, [&](const Slot* other) {
           return other->cluster == slot.cluster && other->ready_warps != 0;
         });
}

}  // namespace warpcheck::vgpu
