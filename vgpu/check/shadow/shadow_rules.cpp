#include "vgpu/check/shadow/shadow_rules.hpp"

#include "vgpu/program/unpacking.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Opcode;
using ptx::Type;
using Kind = ShadowRule::Kind;

// Returns whether a conversion widens or narrows integers, which may be halves or parts of numbers.
bool moves_parts(const ptx::Modifiers& m) {
  const auto is_integer = [](Type type) {
    return type == Type::u8 || type == Type::s8 || type == Type::u16 || type == Type::s16 ||
           type == Type::u32 || type == Type::s32;
  };
  return is_integer(m.type) && is_integer(m.source_type) && m.type != m.source_type && !m.sat;
}

Kind kind_of(const Instr& instr) {
  switch (instr.opcode) {
    case Opcode::mov_:
      if (instr.modifiers.type == Type::pred) return Kind::predicates;
      if (unpacks(instr)) return Kind::unpack;
      return instr[ComputeOperand::b].bank == Bank::none ? Kind::move : Kind::pack;
    case Opcode::cvta_: return Kind::move;
    case Opcode::selp_: return Kind::select;
    case Opcode::setp_:
    case Opcode::testp_:
    case Opcode::isspacep_: return Kind::compare;
    case Opcode::and_:
    case Opcode::or_:
    case Opcode::xor_:
    case Opcode::not_: return instr.modifiers.type == Type::pred ? Kind::predicates : Kind::bits;
    case Opcode::lop3_:
      return instr.modifiers.bool_op == ptx::BoolOp::none ? Kind::bits : Kind::unknown;
    case Opcode::shl_:
    case Opcode::shr_:
    case Opcode::shf_:
    case Opcode::prmt_:
    case Opcode::bfe_:
    case Opcode::bfi_:
    case Opcode::szext_: return Kind::bits;
    case Opcode::cvt_: return moves_parts(instr.modifiers) ? Kind::bits : Kind::calculate;
    case Opcode::set_: return Kind::set;
    case Opcode::slct_: return Kind::unknown;
    default: return Kind::calculate;
  }
}

// The types of the sources of an instruction that calculates.
void set_types(const Instr& instr, ShadowRule& rule) {
  const ptx::Modifiers& m = instr.modifiers;
  const bool is_wide = m.part == ptx::MulPart::wide;
  const bool converts = instr.opcode == Opcode::cvt_;
  const bool is_mixed = m.source_type != Type::none && !converts;
  const Type source = element_type_of(converts ? m.source_type : m.type);
  rule.operation = {instr.opcode, &m, source,
                    is_wide ? ptx::twice_as_wide(source) : element_type_of(m.type)};
  rule.types.fill(source);
  if (is_wide) rule.types[2] = rule.operation.result;
  const bool has_amount = instr.opcode == Opcode::shl_ || instr.opcode == Opcode::shr_;
  if (has_amount) rule.types[1] = Type::u32;
  rule.elements = ptx::half_bytes_of(m.type) != 0 ? 2 : 1;
  rule.packs = converts && rule.elements == 2 && rule.sources == 2 && !m.relu;
  if (rule.packs) rule.sources = 1;
  // Other conversions of two values have elements of one byte; other operations with two types mix
  // widths.
  const bool packs_otherwise = converts && !rule.packs && (rule.elements == 2 || rule.sources != 1);
  // The last source of bfi has the place of a carry.
  const bool carries = m.carry_out || (instr.opcode != Opcode::bfi_ &&
                                       instr[CarryOperand::carry_in].bank != Bank::none);
  if (packs_otherwise || is_mixed || carries) rule.kind = Kind::unknown;
}

}  // namespace

ptx::Type element_type_of(ptx::Type type) {
  switch (type) {
    case Type::f16x2: return Type::f16;
    case Type::bf16x2: return Type::bf16;
    case Type::f32x2: return Type::f32;
    case Type::u16x2: return Type::u16;
    case Type::s16x2: return Type::s16;
    default: return type;
  }
}

ShadowRule shadow_rule_of(const Instr& instr) {
  ShadowRule rule{.kind = kind_of(instr)};
  for (const ComputeOperand operand : kComputeSources) {
    if (instr[operand].bank == Bank::none) break;
    ++rule.sources;
  }
  const bool calculates = rule.kind == Kind::calculate || rule.kind == Kind::bits;
  if (calculates) set_types(instr, rule);
  if (rule.kind == Kind::compare || rule.kind == Kind::set) {
    rule.sources = rule.sources > 2 ? 2 : rule.sources;
    const Type type = instr.modifiers.source_type != Type::none ? instr.modifiers.source_type
                                                                : instr.modifiers.type;
    rule.elements = ptx::half_bytes_of(type) != 0 ? 2 : 1;
    rule.types.fill(element_type_of(type));
    rule.operation = {instr.opcode, &instr.modifiers, element_type_of(type), Type::pred};
  }
  return rule;
}

}  // namespace warpcheck::vgpu
