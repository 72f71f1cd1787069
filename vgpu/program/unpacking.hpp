// Moves that take a register apart: mov {part, part ...}, a (PTX ISA 9.7.9.1).
#pragma once

#include "vgpu/program/program.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

// Returns whether it is a mov {part, part ...}, a.
constexpr bool unpacks(const Instr& instr) {
  return instr.opcode == ptx::Opcode::mov_ && instr.modifiers.vector != 1 &&
         instr.operands[ComputeOperand::b].bank == Bank::none;
}

}  // namespace warpcheck::vgpu
