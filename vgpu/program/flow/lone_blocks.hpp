// Finds out whether the blocks of a launch may run on separate machines.
//
// Blocks that do not touch each other's memory do the same wherever they run, unless an instruction
// distinguishes them: one that reads a clock or the multiprocessor number, that allocates from the
// shared device heap, or that reads a register value left by the previous block.  This file looks
// for such instructions.  What blocks do to memory shows only in a run.
#pragma once

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

[[nodiscard]] bool blocks_may_run_apart(const Program& program);

}  // namespace warpcheck::vgpu
