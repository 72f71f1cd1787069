// Which warp comes first in a launch: each of them, in turn.
//
// Which of n contenders is first decides what many defects show: who takes the lock, the first
// ticket, the slot of a queue.  Strategies of consecutive seeds go through the contenders one after
// the other instead of drawing each time, so that few runs meet all of them: of n blocks or n warps
// each is first once in any n seeds, and so is each pair of a block and a warp as far as possible.
// Over all seeds every start is as likely as every other.
#pragma once

#include <cstdint>

#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

// The start of number `seed`.  Number 0 of launch 0 is the default policy's.
StartOrder nth_start(std::uint64_t seed, const StartPoint& point);

}  // namespace warpcheck::vgpu
