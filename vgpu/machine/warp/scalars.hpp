// Moves values that are not registers into registers: special registers, kernel parameters,
// addresses of local variables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vgpu/machine/memory/grid_workspace.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/sync/clusters.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {

class Scalars {
 public:
  Scalars(const RunningLaunch& launch, const Clusters& clusters, const GridWorkspace& workspace)
      : launch_(launch), clusters_(clusters), workspace_(workspace) {}

  // Moves a kernel parameter or the address of a local variable, which is the same for all lanes.
  void move(RunningFragment& run, const Instr& instr, std::uint32_t active) const;
  void read_special(RunningFragment& run, const Instr& instr, std::uint32_t mask) const;
  // The rows of %tid.x, .y and .z for each warp of a block.
  static constexpr std::size_t kThreadWords = std::size_t{3} * kWarpLanes;
  [[nodiscard]] const std::uint32_t* threads() const {
    if (threads_.empty() || block_ != launch_.request().block) [[unlikely]]
      number_threads();
    return threads_.data();
  }

 private:
  void number_threads() const;
  [[nodiscard]] std::uint64_t value_of(const RunningFragment& run,
                                       ptx::SpecialRegister special) const;

  const RunningLaunch& launch_;
  const Clusters& clusters_;
  const GridWorkspace& workspace_;
  mutable Dim3 block_;                          // the block shape of threads_
  mutable std::vector<std::uint32_t> threads_;  // kThreadWords per warp
};

}  // namespace warpcheck::vgpu
