// Thread block clusters (PTX ISA 9.0, 5.2.2): which blocks form one, and how they reach each
// other's shared memory.  Where they meet: cluster_barriers.hpp.
#pragma once

#include <cstdint>

#include "vgpu/machine/memory/target.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {

class Clusters {
 public:
  explicit Clusters(RunningLaunch& launch) : launch_(launch) {}

  // Blocks of one; 1: the launch has none.
  [[nodiscard]] std::uint32_t size() const {
    return launch_.has_clusters() ? static_cast<std::uint32_t>(launch_.request->cluster.count())
                                  : 1;
  }
  // The block with the rank 0 of a block's cluster; the block itself, where there are none.
  [[nodiscard]] std::uint32_t first_of(std::uint32_t block) const;
  [[nodiscard]] std::uint32_t block_of_rank(std::uint32_t cluster, std::uint32_t rank) const;
  [[nodiscard]] std::uint32_t special(const Slot& slot, ptx::SpecialRegister special) const;

  // The shared memory that the hardware reserves: zeros, as cooperative groups expect it to be.
  void renew_reserved_shared(Slot& slot);
  // The shared memory that an address of the cluster leads to.  The allocation is null where there
  // is none any more, or was none.
  //   own: the target if the address has no rank
  [[nodiscard]] Target target(const RunningFragment& run, std::uint64_t address,
                              const Target& own) const;
  // Why an address with a rank leads nowhere.
  void explain(const RunningFragment& run, const Target& target, Fault& fault) const;
  // Whose shared memory it is.
  [[nodiscard]] Slot& owner_of(const RunningFragment& run, const Allocation* shared) const;

 private:
  RunningLaunch& launch_;
};

}  // namespace warpcheck::vgpu
