// The size of the last trial, by which a mutator places decisions that can be reached.
#pragma once

#include <cstdint>
#include <vector>

namespace warpcheck::fuzz {

struct TrialShape {
  struct Launch {
    std::uint32_t blocks = 1;
    std::uint32_t warps_per_block = 1;
    std::uint64_t accesses_max = 0;  // of a warp; a little more if rows span allocations
  };
  std::vector<Launch> launches;
};

}  // namespace warpcheck::fuzz
