// The steps into which matrix moves are split (matrix.cpp, matrix_rows.cpp).
#pragma once

#include <string_view>
#include <vector>

#include "vgpu/program/emit/emission.hpp"

namespace warpcheck::vgpu {

ptx::Space space_of(const std::vector<std::string_view>& words);
// Returns the parts of a vector, or the operand itself, which `single` then holds.
const std::vector<ptx::Operand>& parts_of(const ptx::Operand& operand,
                                          std::vector<ptx::Operand>& single);
// Accesses one element of each lane, at address + offset.
void access_element(Emission& e, const ptx::Instruction& in, ptx::Space space, ptx::Type type,
                    Ref address, std::int64_t offset, Ref value, bool is_load);
// Returns `whole` with an element added at its place; `whole` has the lower parts.
Ref joined(Emission& e, const ptx::Instruction& in, Ref whole, Ref element, std::uint32_t shift);
Ref shifted_down(Emission& e, const ptx::Instruction& in, Ref whole, std::uint32_t shift);
// ldmatrix, stmatrix, movmatrix: matrix_rows.cpp
void emit_matrix_rows(Emission& e, const ptx::Instruction& in);

}  // namespace warpcheck::vgpu
