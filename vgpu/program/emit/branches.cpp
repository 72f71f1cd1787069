// Emits control flow within a function, and instructions without effect here.  PTX ISA 9.0, 9.7.12,
// 9.7.13.16.
#include "vgpu/program/emit/families.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

using ptx::Opcode;
using ptx::Type;

void emit_branch(Emission& e, const ptx::Instruction& in, Instr& out) {
  const std::uint32_t target = e.flow.target_of(in);
  if (in.guard == ptx::kNone && target == e.next_block) return;
  out.kind = in.guard == ptx::kNone ? InstrKind::jump : InstrKind::branch;
  e.flow.add_jump(static_cast<std::uint32_t>(e.program.code.size()), target);
  e.push(out);
}

void emit_jump_table(Emission& e, const ptx::Instruction& in, Instr& out) {
  out.kind = InstrKind::jump_table;
  out[TargetOperand::index] = e.source(in, in.operands.at(0), Type::u32);
  out.table = static_cast<std::uint32_t>(e.program.jump_tables.size());
  e.flow.add_table(out.table);
  e.program.jump_tables.push_back(e.flow.targets_of(in));
  e.push(out);
}

void emit_end(Emission& e, const ptx::Instruction& in, Instr& out) {
  if (in.opcode == Opcode::ret_) emit_register_results(e, out);
  switch (in.opcode) {
    case Opcode::ret_: out.kind = e.function.is_entry ? InstrKind::exit : InstrKind::ret; break;
    case Opcode::exit_: out.kind = InstrKind::exit; break;
    default: out.kind = InstrKind::trap; break;
  }
  e.push(out);
}

void emit_sleep(Emission& e, const ptx::Instruction&, Instr& out) {
  out.kind = InstrKind::sleep;
  e.push(out);
}

// nop and prefetches; pmevent, which counts events for a profiler; setmaxnreg, for which registers
// keep their values, and the warps of a warpgroup are compared; griddepcontrol: kernels of a stream
// run one after the other anyway, and its order is reported as a Fence.
void emit_nothing(Emission& e, const ptx::Instruction& in, Instr& out) {
  const bool is_of_warpgroup = in.opcode == ptx::Opcode::setmaxnreg_;
  out.kind = is_of_warpgroup ? InstrKind::group_pending : InstrKind::nop;
  if (in.opcode == ptx::Opcode::griddepcontrol_) {
    out.kind = InstrKind::fence;
    out.modifiers.arrive = in.text == "griddepcontrol.launch_dependents";
  }
  e.push(out);
}

}  // namespace warpcheck::vgpu
