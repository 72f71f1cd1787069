#include "vgpu/program/emit/matrix_steps.hpp"

#include "vgpu/program/emit/matrix_words.hpp"
#include "vgpu/program/emit/steps.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

using Kind = ptx::Operand::Kind;
using ptx::Opcode;
using ptx::Space;
using ptx::Type;
using Instruction = ptx::Instruction;

Space space_of(const std::vector<std::string_view>& words) {
  if (has(words, "shared") || has(words, "shared::cta")) return Space::shared;
  return has(words, "global") ? Space::global : Space::generic;
}

const std::vector<ptx::Operand>& parts_of(const ptx::Operand& operand,
                                          std::vector<ptx::Operand>& single) {
  if (operand.kind == Kind::vector) return operand.parts;
  single = {operand};
  return single;
}

void access_element(Emission& e, const Instruction& in, Space space, Type type, Ref address,
                    std::int64_t offset, Ref value, bool is_load) {
  Instr out = e.begin(in);
  out.kind = is_load ? InstrKind::load : InstrKind::store;
  out.opcode = is_load ? Opcode::ld_ : Opcode::st_;
  out.modifiers = {};
  out.modifiers.type = type;
  out.modifiers.space = space;
  out.modifiers.sync = true;  // a part of an operation of the warp
  out.displacement = offset;
  out[MemoryOperand::address] = address;
  out[MemoryOperand::value] = value;
  e.push(out);
}

Ref joined(Emission& e, const Instruction& in, Ref whole, Ref element, std::uint32_t shift) {
  if (shift == 0) return element;
  const Ref shifted = calculate(e, in, Opcode::shl_, Type::b32, {element, e.constants.word(shift)});
  return calculate(e, in, Opcode::or_, Type::b32, {whole, shifted});
}

Ref shifted_down(Emission& e, const Instruction& in, Ref whole, std::uint32_t shift) {
  if (shift == 0) return whole;
  return calculate(e, in, Opcode::shr_, Type::u32, {whole, e.constants.word(shift)});
}

}  // namespace warpcheck::vgpu
