// Steps that what moves matrices is taken apart into (matrix.cpp, matrix_rows.cpp).
#pragma once

#include <string_view>
#include <vector>

#include "vgpu/program/emit/emission.hpp"

namespace warpcheck::vgpu {

ptx::Space space_of(const std::vector<std::string_view>& words);
// Of a vector, or the operand itself, for which `single` holds it.
const std::vector<ptx::Operand>& parts_of(const ptx::Operand& operand,
                                          std::vector<ptx::Operand>& single);
// One element of each lane, at address + offset.
void access_element(Emission& e, const ptx::Instruction& in, ptx::Space space, ptx::Type type,
                    Ref address, std::int64_t offset, Ref value, bool is_load);
// An element in its place in a register, whose lower parts are in `whole`.
Ref joined(Emission& e, const ptx::Instruction& in, Ref whole, Ref element, std::uint32_t shift);
Ref shifted_down(Emission& e, const ptx::Instruction& in, Ref whole, std::uint32_t shift);
// ldmatrix, stmatrix, movmatrix: matrix_rows.cpp
void emit_matrix_rows(Emission& e, const ptx::Instruction& in);

}  // namespace warpcheck::vgpu
