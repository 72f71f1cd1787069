// Converts operands of PTX instructions to rows.
#include <bit>

#include <fmt/format.h>

#include "vgpu/program/emit/emission.hpp"
#include "vgpu/program/emit/steps.hpp"
#include "vgpu/program/shared_windows.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

using Kind = ptx::Operand::Kind;
using ptx::Opcode;
using ptx::Space;
using ptx::Type;

Ref Emission::immediate(const ptx::Operand& operand, Type type) {
  if (type == Type::pred) return constants.predicate(operand.bits != 0);
  std::uint64_t bits = operand.bits;
  const bool is_wide = ptx::bytes_of(type) == 8;
  if (operand.is_float && operand.float_is_double && !is_wide) {
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
  } else if (operand.is_float && !operand.float_is_double && type == Type::f64) {
    bits = std::bit_cast<std::uint64_t>(
        static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
  }
  return is_wide ? constants.wide(bits) : constants.word(static_cast<std::uint32_t>(bits));
}

Ref Emission::variable_address(const ptx::Instruction& in, const ptx::Operand& operand,
                               bool is_wide) {
  const ptx::Variable& target = context.variable(operand.variable);
  const auto constant = [&](std::int64_t value) {
    return is_wide ? constants.wide(static_cast<std::uint64_t>(value))
                   : constants.word(static_cast<std::uint32_t>(value));
  };
  switch (target.space) {
    case Space::shared: {
      const std::int64_t at = layout.shared_offset.at(&target) + operand.offset;
      const auto value = is_wide ? static_cast<std::uint64_t>(at) : static_cast<std::uint32_t>(at);
      return constants.shared(layout.shared_symbol.at(&target), value, is_wide);
    }
    case Space::global:
    case Space::constant:
      if (operand.variable.scope != ptx::VariableRef::Scope::module) {
        refuse(in, fmt::format("variable '{}' outside module scope", target.name));
      }
      return constants.address(operand.variable.index, operand.offset, is_wide);
    case Space::local: {
      if (operand.variable.scope != ptx::VariableRef::Scope::local) {
        refuse(in, fmt::format("local variable '{}' at module scope", target.name));
      }
      return local_address(in, frame.local_offset(operand.variable.index) + operand.offset,
                           is_wide);
    }
    case Space::param:
      if (function.is_entry && operand.variable.scope == ptx::VariableRef::Scope::parameter) {
        return constant(program.parameters[operand.variable.index].offset + operand.offset);
      }
      if (const auto at = params.local_offset(operand.variable)) {
        return local_address(in, *at + operand.offset, is_wide);
      }
      refuse(in, fmt::format("the address of parameter '{}' of a device function", target.name));
    default: refuse(in, fmt::format("the address of variable '{}'", target.name));
  }
}

Ref Emission::local_address(const ptx::Instruction& in, std::int64_t offset, bool is_wide) {
  Instr out = begin(in);
  out.kind = InstrKind::local_address;
  out.guard = {};
  out[ScalarOperand::result] = frame.temporary(is_wide ? Bank::wide : Bank::word);
  out.local_offset = offset;
  push(out);
  return out[ScalarOperand::result];
}

void Emission::find_own_window(const ptx::Instruction& first) {
  const Ref rank = special(first, ptx::SpecialRegister::cluster_ctarank, Type::u32);
  own_window_ =
      calculate(*this, first, Opcode::shl_, Type::b32, {rank, constants.word(kRankShift)});
  own_wide_window_ = widened(*this, first, own_window_);
}

// Returns the address, to the program, of an offset in the executing block's shared memory.
Ref Emission::with_rank(const ptx::Instruction& in, const Ref& offset, bool is_wide) {
  if (!layout.has_ranks) return offset;
  return is_wide ? calculate(*this, in, Opcode::add_, Type::u64, {offset, own_wide_window_})
                 : calculate(*this, in, Opcode::add_, Type::u32, {offset, own_window_});
}

Ref Emission::address(const ptx::Instruction& in, const ptx::Operand& operand, Place place,
                      Instr& out) {
  if (operand.kind != Kind::address) refuse(in, "expected an address operand");
  out.displacement = operand.offset;
  if (operand.variable.scope != ptx::VariableRef::Scope::none) {
    ptx::Operand base = operand;
    base.offset = 0;
    return variable_address(in, base, true);
  }
  if (operand.index == ptx::kNone) return constants.wide(0);
  const Ref row = frame.row_of(operand.index);
  if (row.bank != Bank::word && row.bank != Bank::wide) refuse(in, "an address that is no integer");
  if (place.space != Space::shared || !layout.has_ranks) return row;
  if (place.of_cluster) {
    out.displacement += static_cast<std::int64_t>(kClusterOffset);
    return row;
  }
  return without_rank(in, row);
}

Ref Emission::without_rank(const ptx::Instruction& in, const Ref& address) {
  return address.bank == Bank::wide
             ? calculate(*this, in, Opcode::sub_, Type::u64, {address, own_wide_window_})
             : calculate(*this, in, Opcode::sub_, Type::u32, {address, own_window_});
}

Ref Emission::source(const ptx::Instruction& in, const ptx::Operand& operand, Type type) {
  switch (operand.kind) {
    case Kind::immediate: return immediate(operand, type);
    case Kind::sink:
    case Kind::none: return {};
    case Kind::variable: {
      const bool is_wide = ptx::bytes_of(type) == 8;
      const Ref at = variable_address(in, operand, is_wide);
      const bool is_shared = context.variable(operand.variable).space == Space::shared;
      return is_shared ? with_rank(in, at, is_wide) : at;
    }
    case Kind::special: return special(in, operand.special, type);
    case Kind::reg: break;
    default: refuse(in, "an operand of this kind");
  }
  if (ptx::bytes_of(function.registers[operand.index].type) == 16) refuse(in, "a 128-bit register");
  const Ref row = frame.row_of(operand.index);
  const Bank expected = type == Type::pred         ? Bank::predicate
                        : ptx::bytes_of(type) == 8 ? Bank::wide
                                                   : Bank::word;
  if (row.bank == Bank::wide && expected == Bank::word) return low_word(in, row);
  if (row.bank != expected) {
    refuse(in, fmt::format("register '{}' where a .{} is expected",
                           function.registers[operand.index].name, ptx::name_of(type)));
  }
  return operand.negated ? negated(in, row) : row;
}

Ref Emission::special(const ptx::Instruction& in, ptx::SpecialRegister reg, Type type) {
  const bool is_wide = ptx::bytes_of(type) == 8;
  Instr out = begin(in);
  out.kind = InstrKind::special;
  out.guard = {};
  out.special = reg;
  out[ScalarOperand::result] = frame.temporary(is_wide ? Bank::wide : Bank::word);
  push(out);
  const Ref value = out[ScalarOperand::result];
  const bool is_in_shared = reg == ptx::SpecialRegister::reserved_smem_offset_1;
  return is_in_shared ? with_rank(in, value, is_wide) : value;
}

// If a word is expected, only the low bits of a wide row are used.
Ref Emission::low_word(const ptx::Instruction& in, const Ref& row) {
  Instr narrow = begin(in);
  narrow.kind = InstrKind::compute;
  narrow.opcode = Opcode::cvt_;
  narrow.modifiers = {};
  narrow.modifiers.type = Type::u32;
  narrow.modifiers.source_type = Type::u64;
  narrow.guard = {};
  narrow[ComputeOperand::d] = frame.temporary(Bank::word);
  narrow[ComputeOperand::a] = row;
  push(narrow);
  return narrow[ComputeOperand::d];
}

Ref Emission::negated(const ptx::Instruction& in, const Ref& row) {
  Instr negate = begin(in);
  negate.kind = InstrKind::compute;
  negate.opcode = Opcode::not_;
  negate.modifiers = {};
  negate.modifiers.type = Type::pred;
  negate.guard = {};
  negate[ComputeOperand::d] = frame.temporary(Bank::predicate);
  negate[ComputeOperand::a] = row;
  push(negate);
  return negate[ComputeOperand::d];
}

Ref Emission::destination(const ptx::Instruction& in, const ptx::Operand& operand) const {
  if (operand.kind == Kind::sink) return {};
  if (operand.kind != Kind::reg) refuse(in, "a destination that is no register");
  if (ptx::bytes_of(function.registers[operand.index].type) == 16) refuse(in, "a 128-bit register");
  return frame.row_of(operand.index);
}

Ref Emission::quad(const ptx::Instruction& in, const ptx::Operand& operand) const {
  if (operand.kind == Kind::sink) return {};
  const bool is_quad = operand.kind == Kind::reg && !operand.negated &&
                       function.registers[operand.index].type == Type::b128;
  if (!is_quad) refuse(in, "an operand that is no 128-bit register");
  return frame.row_of(operand.index);
}

}  // namespace warpcheck::vgpu
