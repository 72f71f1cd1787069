// Chooses which warp comes first in a launch: each warp in turn.
//
// Many defects depend on which of n contenders is first: which one takes the lock, the first
// ticket, the slot of a queue.  Strategies with consecutive seeds take the contenders in turn
// instead of drawing each time, so a few runs cover all of them.  Each of n blocks, or of n warps,
// is first once in any n consecutive seeds, and so is each pair of a block and a warp as far as
// possible.  Over all seeds, all starts are equally likely.
#pragma once

#include <cstdint>

#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

// Returns the start with number `seed`.  Number 0 of launch 0 is that of the default policy.
StartOrder nth_start(std::uint64_t seed, const StartPoint& point);

}  // namespace warpcheck::vgpu
