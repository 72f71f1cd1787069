// Which operands of a decoded instruction are read and which are written.
#pragma once

#include <vector>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

struct OperandRoles {
  OperandSet reads{}, writes{};
  // The instruction reads or writes more registers than these: adjacent rows, or rows of a callee.
  bool opaque = false;
};
OperandRoles roles_of(const Instr& instr);

// Returns every register that an instruction writes, except the rows of matrices; absent operands
// are included.
std::vector<Ref> destinations_of(const Program& program, const Instr& instr);

}  // namespace warpcheck::vgpu
