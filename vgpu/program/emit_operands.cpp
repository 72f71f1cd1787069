// Operands of PTX instructions to rows; see emitter.hpp.
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "vgpu/program/emitter.hpp"

namespace warpcheck::vgpu {

using ptx::Opcode;
using ptx::Space;
using ptx::Type;

Ref Emitter::temporary(Bank bank) {
  switch (bank) {
    case Bank::wide: return {bank, wides_++ * kWideRowBytes};
    case Bank::predicate: return {bank, predicates_++ * 4};
    default: return {Bank::word, words_++ * kWordRowBytes};
  }
}

Ref Emitter::rows(Bank bank, std::uint32_t count) {
  const Ref first = temporary(bank);
  for (std::uint32_t more = 1; more < count; ++more) temporary(bank);
  return first;
}

const ptx::Variable& Emitter::variable(const ptx::VariableRef& ref) const {
  switch (ref.scope) {
    case ptx::VariableRef::Scope::module: return layout_.module->variables.at(ref.index);
    case ptx::VariableRef::Scope::result: return function_.results.at(ref.index);
    case ptx::VariableRef::Scope::parameter: return function_.parameters.at(ref.index);
    default: return function_.locals.at(ref.index);
  }
}

Ref Emitter::immediate(const ptx::Operand& operand, Type type) {
  if (type == Type::pred) return constants_.predicate(operand.bits != 0);
  std::uint64_t bits = operand.bits;
  const bool is_wide = ptx::bytes_of(type) == 8;
  if (operand.is_float && operand.float_is_double && !is_wide) {
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
  } else if (operand.is_float && !operand.float_is_double && type == Type::f64) {
    bits = std::bit_cast<std::uint64_t>(
        static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
  }
  return is_wide ? constants_.wide(bits) : constants_.word(static_cast<std::uint32_t>(bits));
}

Ref Emitter::variable_address(const ptx::Instruction& in, const ptx::Operand& operand,
                              bool is_wide) {
  const ptx::Variable& target = variable(operand.variable);
  const auto constant = [&](std::int64_t value) {
    return is_wide ? constants_.wide(static_cast<std::uint64_t>(value))
                   : constants_.word(static_cast<std::uint32_t>(value));
  };
  switch (target.space) {
    case Space::shared: {
      const std::int64_t at = layout_.shared_offset.at(&target) + operand.offset;
      const auto value = is_wide ? static_cast<std::uint64_t>(at) : static_cast<std::uint32_t>(at);
      return constants_.shared(layout_.shared_symbol.at(&target), value, is_wide);
    }
    case Space::global:
    case Space::constant:
      if (operand.variable.scope != ptx::VariableRef::Scope::module) {
        refuse(in, fmt::format("variable '{}' outside module scope", target.name));
      }
      return constants_.address(operand.variable.index, operand.offset, is_wide);
    case Space::local: {
      if (operand.variable.scope != ptx::VariableRef::Scope::local) {
        refuse(in, fmt::format("local variable '{}' at module scope", target.name));
      }
      return local_address(in, local_offset_.at(operand.variable.index) + operand.offset, is_wide);
    }
    case Space::param:
      if (function_.is_entry && operand.variable.scope == ptx::VariableRef::Scope::parameter) {
        return constant(program_.parameters[operand.variable.index].offset + operand.offset);
      }
      if (const auto found = parameter_offset_.find(operand.variable.index);
          operand.variable.scope == ptx::VariableRef::Scope::parameter &&
          found != parameter_offset_.end()) {
        return local_address(in, found->second + operand.offset, is_wide);
      }
      refuse(in, fmt::format("the address of parameter '{}' of a device function", target.name));
    default: refuse(in, fmt::format("the address of variable '{}'", target.name));
  }
}

Ref Emitter::local_address(const ptx::Instruction& in, std::int64_t offset, bool is_wide) {
  Instr out = begin(in);
  out.kind = InstrKind::local_address;
  out.guard = {};
  out[ScalarOperand::result] = temporary(is_wide ? Bank::wide : Bank::word);
  out.offset = offset;
  push(out);
  return out[ScalarOperand::result];
}

Ref Emitter::address(const ptx::Instruction& in, const ptx::Operand& operand, Instr& out) {
  if (operand.kind != Kind::address) refuse(in, "expected an address operand");
  out.offset = operand.offset;
  if (operand.variable.scope != ptx::VariableRef::Scope::none) {
    ptx::Operand base = operand;
    base.offset = 0;
    return variable_address(in, base, true);
  }
  if (operand.index == ptx::kNone) return constants_.wide(0);
  const Ref row = rows_.at(operand.index);
  if (row.bank != Bank::word && row.bank != Bank::wide) refuse(in, "an address that is no integer");
  return row;
}

Ref Emitter::source(const ptx::Instruction& in, const ptx::Operand& operand, Type type) {
  switch (operand.kind) {
    case Kind::immediate: return immediate(operand, type);
    case Kind::sink:
    case Kind::none: return {};
    case Kind::variable: return variable_address(in, operand, ptx::bytes_of(type) == 8);
    case Kind::special: {
      Instr out = begin(in);
      out.kind = InstrKind::special;
      out.guard = {};
      out.special = operand.special;
      out[ScalarOperand::result] = temporary(ptx::bytes_of(type) == 8 ? Bank::wide : Bank::word);
      push(out);
      return out[ScalarOperand::result];
    }
    case Kind::reg: break;
    default: refuse(in, "an operand of this kind");
  }
  if (ptx::bytes_of(function_.registers[operand.index].type) == 16)
    refuse(in, "a 128-bit register");
  const Ref row = rows_.at(operand.index);
  const Bank expected = type == Type::pred         ? Bank::predicate
                        : ptx::bytes_of(type) == 8 ? Bank::wide
                                                   : Bank::word;
  if (row.bank == Bank::wide && expected == Bank::word) {  // only the low bits are meant
    Instr narrow = begin(in);
    narrow.kind = InstrKind::compute;
    narrow.opcode = Opcode::cvt_;
    narrow.modifiers = {};
    narrow.modifiers.type = Type::u32;
    narrow.modifiers.source_type = Type::u64;
    narrow.guard = {};
    narrow[ComputeOperand::d] = temporary(Bank::word);
    narrow[ComputeOperand::a] = row;
    push(narrow);
    return narrow[ComputeOperand::d];
  }
  if (row.bank != expected) {
    refuse(in, fmt::format("register '{}' where a .{} is expected",
                           function_.registers[operand.index].name, ptx::name_of(type)));
  }
  if (!operand.negated) return row;
  Instr negate = begin(in);
  negate.kind = InstrKind::compute;
  negate.opcode = Opcode::not_;
  negate.modifiers = {};
  negate.modifiers.type = Type::pred;
  negate.guard = {};
  negate[ComputeOperand::d] = temporary(Bank::predicate);
  negate[ComputeOperand::a] = row;
  push(negate);
  return negate[ComputeOperand::d];
}

Ref Emitter::destination(const ptx::Instruction& in, const ptx::Operand& operand) {
  if (operand.kind == Kind::sink) return {};
  if (operand.kind != Kind::reg) refuse(in, "a destination that is no register");
  if (ptx::bytes_of(function_.registers[operand.index].type) == 16)
    refuse(in, "a 128-bit register");
  return rows_.at(operand.index);
}

bool Emitter::param_place(const ptx::Operand& operand, std::uint32_t& row) const {
  using Scope = ptx::VariableRef::Scope;
  const ptx::VariableRef& ref = operand.variable;
  if (ref.scope == Scope::parameter) {
    row = own_.parameter_row.at(ref.index);
  } else if (ref.scope == Scope::result) {
    row = own_.result_row.at(ref.index);
  } else if (const auto found = outgoing_row_.find(ref.index);
             ref.scope == Scope::local && found != outgoing_row_.end()) {
    row = found->second;
  } else {
    return false;
  }
  return true;
}

}  // namespace warpcheck::vgpu
