// Thread block clusters (PTX ISA 9.0, 5.2.2): which blocks form a cluster, and how they address
// each other's shared memory.  Their barrier is in cluster_barriers.hpp.
#pragma once

#include <cstdint>

#include "vgpu/machine/memory/target.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {

class Clusters {
 public:
  explicit Clusters(RunningLaunch& launch) : launch_(launch) {}

  // Returns the number of blocks in a cluster; 1: the launch has no clusters.
  [[nodiscard]] std::uint32_t size() const {
    return launch_.has_clusters() ? static_cast<std::uint32_t>(launch_.request().cluster.count())
                                  : 1;
  }
  // Returns the block with rank 0 in a block's cluster; without clusters, the block itself.
  [[nodiscard]] std::uint32_t first_of(std::uint32_t block) const;
  [[nodiscard]] std::uint32_t block_of_rank(std::uint32_t cluster, std::uint32_t rank) const;
  [[nodiscard]] std::uint32_t special(const Slot& slot, ptx::SpecialRegister special) const;

  // Renews the reserved shared memory with zeros, as cooperative groups expect.
  void renew_reserved_shared(Slot& slot);
  // Returns the shared memory that an address in the cluster leads to.  The allocation is null if
  // that memory does not exist or exists no more.
  //   own: the target of an address without a rank
  [[nodiscard]] Target target(const RunningFragment& run, std::uint64_t address,
                              const Target& own) const;
  // Sets in `fault` why an address with a rank leads to no memory.
  void explain(const RunningFragment& run, const Target& target, Fault& fault) const;
  // Returns the slot whose shared memory it is.
  [[nodiscard]] Slot& owner_of(const RunningFragment& run, const Allocation* shared) const;

 private:
  RunningLaunch& launch_;
};

}  // namespace warpcheck::vgpu
