// A reference interpreter of PTX: it executes one instruction of one thread after the other,
// directly from the parsed text.
//
// It is written from the PTX ISA (9.7) to be obviously correct, and shares only the parser with the
// machine.  Threads run until they wait for others: at a barrier of the block, or at a warp
// operation.
#pragma once

#include <cstdint>
#include <string>

#include "vgpu/differential/engine.hpp"
#include "vgpu/ptx/module.hpp"

namespace warpcheck::vgpu {

// Returns the result of a random_program().  `unknown` receives the first instruction that the
// reference does not support; then there are no bytes.
Result run_on_reference(const ptx::Module& module, std::uint32_t threads, std::string& unknown);

}  // namespace warpcheck::vgpu
