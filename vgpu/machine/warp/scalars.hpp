// Values that are no registers and that an instruction brings into one: special registers,
// parameters of the kernel, addresses of local variables.
#pragma once

#include <cstdint>

#include "vgpu/machine/memory/grid_workspace.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/sync/clusters.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {

class Scalars {
 public:
  Scalars(const RunningLaunch& launch, const Clusters& clusters, const GridWorkspace& workspace)
      : launch_(launch), clusters_(clusters), workspace_(workspace) {}

  // A parameter of the kernel, or the address of a local variable: the same for all lanes.
  void move(RunningFragment& run, const Instr& instr, std::uint32_t active) const;
  void read_special(RunningFragment& run, const Instr& instr, std::uint32_t mask) const;

 private:
  const RunningLaunch& launch_;
  const Clusters& clusters_;
  const GridWorkspace& workspace_;
};

}  // namespace warpcheck::vgpu
