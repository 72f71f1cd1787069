// Whether the blocks of a launch may be run apart from each other.
//
// Blocks that touch no memory of each other do the same wherever they run, unless an instruction
// tells them apart: one that reads a clock or the multiprocessor, that takes memory from a heap
// that all share, or that finds in a register what the block before has left there.  Those are
// looked for here.  What blocks do to memory only a run can tell.
#pragma once

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

[[nodiscard]] bool blocks_may_run_apart(const Program& program);

// Whether a register may be read that its thread has not written, on some path.
[[nodiscard]] bool reads_unwritten_register(const Program& program);

}  // namespace warpcheck::vgpu
