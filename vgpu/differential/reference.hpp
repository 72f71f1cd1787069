// A reference interpreter of PTX: one instruction of one thread after the other, straight from the
// parsed text.
//
// Written from the PTX ISA (9.7) to be obviously right, and apart from the machine: it shares the
// parser and nothing else.  Threads run until they wait for others: at a barrier of the block, or
// at an operation of their warp.
#pragma once

#include <cstdint>
#include <string>

#include "vgpu/differential/engine.hpp"
#include "vgpu/ptx/module.hpp"

namespace warpcheck::vgpu {

// What a random_program() leaves.  `unknown` becomes the first instruction that the reference does
// not know; there are no bytes then.
Result run_on_reference(const ptx::Module& module, std::uint32_t threads, std::string& unknown);

}  // namespace warpcheck::vgpu
