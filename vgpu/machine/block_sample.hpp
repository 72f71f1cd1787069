// The blocks of a launch that is too large to run whole.
#pragma once

#include <cstdint>
#include <vector>

namespace warpcheck::vgpu {

struct BlockSample {
  std::vector<std::uint32_t> blocks;  // ascending; these run
  // Then others, in ascending order, until the launch has executed as many warp instructions.
  std::uint64_t steps_budget = 0;
};

}  // namespace warpcheck::vgpu
