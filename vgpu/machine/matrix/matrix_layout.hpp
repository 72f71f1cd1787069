// The places of a product's elements: where each part of the lanes' registers belongs in its
// matrix.  They are computed once for each kind of product.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/program/matrix.hpp"

namespace warpcheck::vgpu {

// Matrices are stored by rows without gaps: a with the depth of its registers, the others with n
// columns.  The elements of an operand are counted by registers, then by lanes, then by the parts
// of a register from the lowest, as they lie in the rows of a warp; a[i] is the index in the matrix
// of the i-th element of a.
struct MatrixLayout {
  MatrixProduct product;
  std::uint32_t depth = 0;  // of a's registers
  std::vector<std::uint16_t> d, a, b, c;
};

// Valid until the thread ends.
const MatrixLayout& layout_of(const Instr& instr);

// Returns whether the operands are 8-bit floats of mma, which the hardware handles as halves.
bool is_in_halves(const MatrixProduct& product, ptx::Type type);
// For such operands, k counts the lower halves of all registers before the upper halves.
MatrixPlace place_of_byte(const MatrixProduct& product, MatrixOperand operand, MatrixPlace at);

}  // namespace warpcheck::vgpu
