// Literals that mean the very number that they are.
//
// 0.1f means 0.1, and is as far from it as a datum is from what was measured.  The coefficients of
// the toolkit's polynomials, and pi / 2 in parts, mean themselves: no shorter decimal number is
// rounded to them.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// Returns for each instruction, by pc, which of its sources (kComputeSources, the first at bit 0)
// hold a float of 32 or 64 bits that is such a literal, or that no data has influenced otherwise.
std::vector<std::uint8_t> exact_literals_of(const Program& program);

}  // namespace warpcheck::vgpu
