// Matrix products of doubles: consecutive fused multiply-adds, each rounded.
#pragma once

#include <cstdint>

#include "vgpu/machine/matrix/matrix_loops.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// Uses the host's instructions where they round as the product does, and otherwise integers.
void multiply_doubles(const MatrixLoops& loops, const LaneBanks& banks, const Instr& instr,
                      std::uint32_t active);

}  // namespace warpcheck::vgpu
