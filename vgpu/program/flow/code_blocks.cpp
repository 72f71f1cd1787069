#include "vgpu/program/flow/code_blocks.hpp"

namespace warpcheck::vgpu {
namespace {

bool ends_block(InstrKind kind) {
  switch (kind) {
    case InstrKind::branch:
    case InstrKind::jump:
    case InstrKind::jump_table:
    case InstrKind::call:
    case InstrKind::call_register:
    case InstrKind::ret:
    case InstrKind::exit: return true;
    default: return false;
  }
}

}  // namespace

CodeBlocks find_code_blocks(const Program& program, bool (*is_alone)(const Instr& instr)) {
  const auto count = static_cast<std::uint32_t>(program.code.size());
  std::vector<bool> begins(count + 1, false);
  begins[0] = true;
  for (const FunctionCode& function : program.functions) begins[function.entry] = true;
  for (std::uint32_t pc = 0; pc < count; ++pc) {
    const Instr& instr = program.code[pc];
    if (instr.kind == InstrKind::branch || instr.kind == InstrKind::jump) {
      begins[instr.target] = true;
    }
    if (is_alone(instr)) begins[pc] = begins[pc + 1] = true;
    if (ends_block(instr.kind)) begins[pc + 1] = true;
  }
  for (const auto& table : program.jump_tables) {
    for (const std::uint32_t target : table) begins[target] = true;
  }
  CodeBlocks found;
  found.block_of.resize(count);
  for (std::uint32_t pc = 0; pc < count; ++pc) {
    if (begins[pc]) found.blocks.push_back({pc, pc});
    found.blocks.back().end = pc + 1;
    found.block_of[pc] = static_cast<std::uint32_t>(found.blocks.size() - 1);
  }
  return found;
}

}  // namespace warpcheck::vgpu
