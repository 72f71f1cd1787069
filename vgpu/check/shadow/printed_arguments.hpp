// What printf() of device code reads: its arguments, which the caller has stored in its local
// memory.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "vgpu/machine/events.hpp"

namespace warpcheck::vgpu {

struct PrintedArgument {
  std::uint32_t bytes = 0;  // 4 or 8
  // Its words, whose places in interleaved memory are as in accesses.
  std::array<std::uint32_t, 2> offsets{};
  std::uint64_t bits = 0;
};

// Returns the arguments, in their order, that a lane of a step that prints has in the local memory
// of its warp.
std::vector<PrintedArgument> printed_arguments(const InstrStep& step, unsigned lane);

}  // namespace warpcheck::vgpu
