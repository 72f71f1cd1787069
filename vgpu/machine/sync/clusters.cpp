#include "vgpu/machine/sync/clusters.hpp"

#include <algorithm>

namespace warpcheck::vgpu {

std::uint32_t Clusters::first_of(std::uint32_t block) const {
  if (!launch_.has_clusters()) return block;
  const Dim3& extent = launch_.request().cluster;
  Dim3 at = launch_.request().grid.position_of(block);
  at = {at.x - at.x % extent.x, at.y - at.y % extent.y, at.z - at.z % extent.z};
  return launch_.request().grid.linear(at);
}

std::uint32_t Clusters::block_of_rank(std::uint32_t cluster, std::uint32_t rank) const {
  const Dim3 first = launch_.request().grid.position_of(cluster);
  const Dim3 in_cluster = launch_.request().cluster.position_of(rank);
  return launch_.request().grid.linear(
      {first.x + in_cluster.x, first.y + in_cluster.y, first.z + in_cluster.z});
}

void Clusters::renew_reserved_shared(Slot& slot) {
  Allocation*& memory = slot.reserved_shared;
  memory = launch_.memory().renew_private(memory, kReservedSharedBytes, ptx::Space::shared);
  memory->name = "reserved shared memory";
  memory->reserved = true;
  std::fill_n(memory->data, memory->bytes, std::byte{0});
  HostAccess zeros;
  zeros.allocation = memory;
  zeros.bytes = memory->bytes;
  zeros.write = true;
  launch_.notify([&](Observer& observer) { observer.on_host_access(zeros); });
}

std::uint32_t Clusters::special(const Slot& slot, ptx::SpecialRegister special) const {
  using ptx::SpecialRegister;
  const Dim3& grid = launch_.request().grid;
  const Dim3& extent = launch_.request().cluster;
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

Target Clusters::target(const RunningFragment& run, std::uint64_t address,
                        const Target& own) const {
  const std::uint64_t window = address >= kSharedWindow ? kSharedWindow : 0;
  const std::uint64_t offset = address - window;
  const bool is_of_cluster =
      kClusterOffset <= offset && offset < kReservedSharedOffset + kWindowBytes;
  if (!launch_.program().uses_clusters || !is_of_cluster) return own;
  Target target{nullptr, ptx::Space::shared, address - address % kWindowBytes, 0};
  if (offset >= kReservedSharedOffset) {
    if (!launch_.program().uses_reserved_shared) return own;
    target.allocation = run.slot.reserved_shared;
    target.limit = kReservedSharedBytes;
    return target;
  }
  const std::uint32_t rank = rank_of_window(offset);
  if (rank >= launch_.request().cluster.count()) return target;
  const Slot* const slot = launch_.slot_of(block_of_rank(run.slot.cluster, rank));
  if (slot == nullptr) return target;
  target.allocation = slot->shared;
  target.limit = slot->shared->limit();
  return target;
}

void Clusters::explain(const RunningFragment& run, const Target& target, Fault& fault) const {
  const std::uint32_t rank = rank_of_window(target.base % kSharedWindow);
  const bool exists = rank < launch_.request().cluster.count();
  fault.kind = exists ? Fault::Kind::block_exited : Fault::Kind::no_such_block;
  fault.block = exists ? block_of_rank(run.slot.cluster, rank) : rank;
}

Slot& Clusters::owner_of(const RunningFragment& run, const Allocation* shared) const {
  for (Slot* slot : launch_.resident()) {
    if (slot->shared == shared) return *slot;
  }
  return run.slot;
}

}  // namespace warpcheck::vgpu
