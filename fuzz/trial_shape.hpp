// How large the last trial was: what a mutator should know to place decisions that are met.
#pragma once

#include <cstdint>
#include <vector>

namespace warpcheck::fuzz {

struct TrialShape {
  struct Launch {
    std::uint32_t blocks = 1;
    std::uint32_t warps_per_block = 1;
    std::uint64_t accesses_max = 0;  // of a warp; a little more where rows span allocations
  };
  std::vector<Launch> launches;
};

}  // namespace warpcheck::fuzz
