// Multiplication of matrices that are spread over the registers of a warp: mma.sync, wmma.mma.
#pragma once

#include "vgpu/machine/warp/warp_ops.hpp"

namespace warpcheck::vgpu {

// The function that executes `instr`, or nullptr if it is no multiplication the machine knows.
// Operands: see vgpu/program/matrix.hpp; [5] is the member mask.
WarpFn find_matrix_op(const Instr& instr);

}  // namespace warpcheck::vgpu
