#include "vgpu/program/emit/steps.hpp"

#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

using ptx::Opcode;
using ptx::Type;

void push_compute(Emission& e, const Instr& base, Opcode opcode, Type type, Type from,
                  const ComputeRows& rows, std::uint8_t vector) {
  Instr out = base;
  out.kind = InstrKind::compute;
  out.opcode = opcode;
  out.modifiers = {};
  out.modifiers.type = type;
  out.modifiers.source_type = from;
  out.modifiers.vector = vector;
  out.operands = rows;
  e.push(out);
}

Ref calculate(Emission& e, const ptx::Instruction& in, Opcode opcode, ptx::Modifiers modifiers,
              std::initializer_list<Ref> sources, Bank bank) {
  Instr out = e.begin(in);
  out.kind = InstrKind::compute;
  out.opcode = opcode;
  out.modifiers = modifiers;
  out.guard = {};
  out[ComputeOperand::d] = e.frame.temporary(bank);
  std::size_t at = 0;
  for (const Ref& source : sources) out[kComputeSources[at++]] = source;
  e.push(out);
  return out[ComputeOperand::d];
}

Ref calculate(Emission& e, const ptx::Instruction& in, Opcode opcode, Type type,
              std::initializer_list<Ref> sources) {
  ptx::Modifiers modifiers;
  modifiers.type = type;
  return calculate(e, in, opcode, modifiers, sources,
                   ptx::bytes_of(type) == 8 ? Bank::wide : Bank::word);
}

void copy_row(Emission& e, const ptx::Instruction& in, Ref to, Ref from, bool guarded) {
  Instr out = e.begin(in);
  out.kind = InstrKind::compute;
  out.opcode = Opcode::mov_;
  out.modifiers = {};
  out.modifiers.type = to.bank == Bank::wide ? Type::b64 : Type::b32;
  if (!guarded) out.guard = {};
  out.operands = ComputeRows{.d = to, .a = from};
  e.push(out);
}

Ref lane_number(Emission& e, const ptx::Instruction& in) {
  Instr out = e.begin(in);
  out.kind = InstrKind::special;
  out.special = ptx::SpecialRegister::laneid;
  out.guard = {};
  out[ScalarOperand::result] = e.frame.temporary(Bank::word);
  e.push(out);
  return out[ScalarOperand::result];
}

Ref shuffled(Emission& e, const ptx::Instruction& in, Ref value, Ref lane) {
  Instr out = e.begin(in);
  out.kind = InstrKind::warp_sync;
  out.opcode = Opcode::shfl_;
  out.modifiers = {};
  out.modifiers.type = Type::b32;
  out.modifiers.shuffle = ptx::ShuffleMode::idx;
  out.modifiers.sync = true;
  out[WarpOperand::result] = e.frame.temporary(Bank::word);
  out[WarpOperand::value] = value;
  out[WarpOperand::lane] = lane;
  out[WarpOperand::clamp] = e.constants.word(31);
  out[WarpOperand::members] = e.constants.word(kWholeWarp);
  e.push(out);
  return out[WarpOperand::result];
}

Ref address_row(Emission& e, const ptx::Instruction& in, const ptx::Operand& operand, Place place) {
  Instr base;
  Ref row = e.address(in, operand, place, base);
  if (row.bank == Bank::word) row = widened(e, in, row);
  if (base.displacement == 0) return row;
  const auto offset = static_cast<std::uint64_t>(base.displacement);
  return calculate(e, in, Opcode::add_, Type::u64, {row, e.constants.wide(offset)});
}

Ref cluster_address_row(Emission& e, const ptx::Instruction& in, const ptx::Operand& operand,
                        ptx::Space space) {
  const Ref row = address_row(e, in, operand, {space, true});
  return space == ptx::Space::shared ? row : to_shared(e, in, row, false);
}

Ref to_shared(Emission& e, const ptx::Instruction& in, Ref address, bool for_program) {
  ptx::Modifiers to;
  to.type = Type::u64;
  to.space = ptx::Space::shared;
  to.to = true;
  to.cluster = for_program && e.layout.has_ranks;
  return calculate(e, in, Opcode::cvta_, to, {address}, Bank::wide);
}

Ref widened(Emission& e, const ptx::Instruction& in, Ref word) {
  ptx::Modifiers widen;
  widen.type = Type::u64;
  widen.source_type = Type::u32;
  return calculate(e, in, Opcode::cvt_, widen, {word}, Bank::wide);
}

}  // namespace warpcheck::vgpu
