// Matrix multiplication with operands that are spread over the registers of a warp: mma.sync,
// wmma.mma.
#pragma once

#include "vgpu/machine/warp/warp_ops.hpp"

namespace warpcheck::vgpu {

// Returns the function that executes `instr`, or nullptr if it is not a supported matrix
// multiplication.  Operands: see vgpu/program/matrix.hpp; [5] is the member mask.
WarpFn find_matrix_op(const Instr& instr, SimdLevel level);

}  // namespace warpcheck::vgpu
