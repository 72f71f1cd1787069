// Which instructions of a function may follow one of its instructions (block_graph.hpp: which
// blocks of a program).
#pragma once

#include <cstdint>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// Returns whether an instruction goes to its target: always, or under its guard.
inline bool branches(const Instr& instr) {
  return instr.kind == InstrKind::branch || instr.kind == InstrKind::jump;
}

// Calls visit(pc) for the instructions that may follow the one at `pc`; a call goes on behind it.
template <typename Visit>
void for_each_next(const Program& program, std::uint32_t pc, Visit visit) {
  const Instr& instr = program.code[pc];
  bool goes_on = instr.guard.bank != Bank::none;
  switch (instr.kind) {
    case InstrKind::branch:
    case InstrKind::jump: visit(instr.target); break;
    case InstrKind::jump_table:
      for (const std::uint32_t target : program.jump_tables[instr.table]) visit(target);
      break;
    case InstrKind::ret:
    case InstrKind::exit:
    case InstrKind::trap: break;
    default: goes_on = true;
  }
  if (goes_on) visit(pc + 1);
}

}  // namespace warpcheck::vgpu
