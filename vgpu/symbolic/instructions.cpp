#include "vgpu/symbolic/instructions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "vgpu/ptx/opcode.hpp"
#include "vgpu/ptx/opcode_row.hpp"

namespace warpcheck::vgpu::symbolic {

using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

namespace {

// Value::made_by of a constant, whose bits are the integer.
constexpr std::uint32_t kOfBits = 1;

// Value::made_by: conversions of different ways make different floats of one integer.
std::uint32_t way_of_conversion(const ptx::Modifiers& modifiers) {
  std::uint32_t way = kOfBits + 1;
  for (const std::uint32_t part : {static_cast<std::uint32_t>(modifiers.type),
                                   static_cast<std::uint32_t>(modifiers.source_type),
                                   static_cast<std::uint32_t>(modifiers.rounding)}) {
    way = way * 64 + part;
  }
  return way * 2 + (modifiers.sat ? 1 : 0);
}

}  // namespace

bool Instructions::is_known(const z3::expr& goal, const Path& path) {
  return questions_.follows(path, goal) == Reply::holds;
}

z3::expr Instructions::in_range(const z3::expr& term, unsigned bits, bool is_signed,
                                const Path& path) {
  const Integer size = power_of_two(bits);
  const Integer low = is_signed ? -size / 2 : 0, high = low + size - 1;
  const Interval range = symbols_.interval_of(term);
  if (range.low && range.high && *range.low >= low && *range.high <= high) return term;
  const z3::expr least = symbols_.number(low), most = symbols_.number(high);
  // Nothing is known of data, so there is nothing to ask.
  const bool is_bounded = std::ranges::all_of(symbols_.in(term), [&](std::uint32_t index) {
    return !symbols_.at(index).is_data || symbols_.at(index).is_chosen;
  });
  if (is_bounded && is_known(term >= least && term <= most, path)) {
    return term;
  }
  const z3::expr whole = symbols_.number(size);
  if (range.low && range.high && *range.low >= low - size && *range.high <= high + size) {
    return choose(term < least, term + whole, choose(term > most, term - whole, term));
  }
  return z3::mod(term - least, whole) + least;
}

z3::expr Instructions::unknown(Step& step, unsigned bits, bool is_signed) {
  const std::string name = fmt::format("{}data {}.{}", step.prefix, step.number, step.unknowns++);
  const Integer size = power_of_two(bits), low = is_signed ? -size / 2 : 0;
  return symbols_.data(name, step.instruction.location, low, low + size - 1);
}

Value Instructions::unknown_value(Step& step, Type type) {
  if (type == Type::pred) return Value::predicate(unknown(step, 1) == 1);
  if (!holds_integers(type)) return {};
  return Value::integer(unknown(step, bits_of(type), ptx::is_signed(type)));
}

Value Instructions::read(Step& step, std::size_t operand) {
  return read(step, step.instruction.operands.at(operand));
}

Value Instructions::read(Step& step, const Operand& operand) {
  switch (operand.kind) {
    case Operand::Kind::reg: {
      const Value& value = step.state.registers[operand.index];
      if (operand.negated && value.kind == Value::Kind::predicate) {
        return Value::predicate(opposite(*value.term));
      }
      return value;
    }
    case Operand::Kind::immediate:
      if (operand.is_float) {
        return Value::number(kOfBits, symbols_.number(static_cast<std::int64_t>(operand.bits)));
      }
      return Value::integer(symbols_.number(static_cast<std::int64_t>(operand.bits)));
    case Operand::Kind::special:
      if (const auto known = launch_.special(operand.special)) return Value::integer(*known);
      return {};
    case Operand::Kind::variable:
      if (operand.variable.scope == ptx::VariableRef::Scope::module ||
          operand.variable.scope == ptx::VariableRef::Scope::local) {
        Value address = launch_.variable(operand.variable);
        address.term = (*address.term + symbols_.number(operand.offset)).simplify();
        return address;
      }
      return {};
    default: return {};
  }
}

// Any integer that is congruent to the operand.
z3::expr Instructions::integer(Step& step, std::size_t operand, Type type) {
  const Value value = read(step, operand);
  return value.is_integer() ? *value.term : unknown(step, bits_of(type));
}

z3::expr Instructions::integer_in_range(Step& step, std::size_t operand, Type type) {
  return in_range(integer(step, operand, type), bits_of(type), ptx::is_signed(type),
                  step.state.path);
}

z3::expr Instructions::condition(Step& step, const Operand& operand) {
  const Value value = read(step, operand);
  if (value.kind == Value::Kind::predicate) return *value.term;
  if (value.is_integer()) return *value.term != 0;
  return unknown(step, 1) == 1;
}

void Instructions::write(Step& step, const Operand& operand, const Value& value) {
  if (operand.kind != Operand::Kind::reg) return;
  Value& target = step.state.registers[operand.index];
  target = value;
  if (target.term) target.term = target.term->simplify();
}

void Instructions::execute(std::uint32_t instruction, ThreadState& state, const std::string& prefix,
                           Events* events) {
  const ptx::Instruction& text = kernel_.body[instruction];
  Step step{text, instruction, state, prefix, events};
  questions_.set_place(text.location);
  if (!text.unsupported.empty()) throw NotFollowed(text.location, text.unsupported);
  if (text.guard == ptx::kNone) return execute_unguarded(step);
  Operand guard;
  guard.kind = Operand::Kind::reg;
  guard.index = text.guard;
  guard.negated = text.guard_negated;
  const z3::expr is_executed = condition(step, guard);
  const std::vector<Value> before = state.registers;
  state.path.push_back(is_executed);
  execute_unguarded(step);
  state.path.pop_back();
  for_each_register(text, [&](std::uint32_t reg, bool is_written) {
    if (is_written) state.registers[reg] = merged(is_executed, state.registers[reg], before[reg]);
  });
}

void Instructions::execute_unguarded(Step& step) {
  const ptx::Instruction& text = step.instruction;
  switch (ptx::row_of(text.opcode).family) {
    case ptx::Family::compute:
    case ptx::Family::move:
      if (text.opcode == Opcode::setp_) return compare(step);
      return write(step, text.operands.at(0), compute(step));
    case ptx::Family::memory:
    case ptx::Family::atomic: return memory(step);
    case ptx::Family::warp:
    case ptx::Family::barrier: return warp_operation(step);
    case ptx::Family::fence:
    case ptx::Family::nothing:
    case ptx::Family::sleep: return;
    default: throw NotFollowed(text.location, fmt::format("{} is not followed", text.text));
  }
}

Value Instructions::compute(Step& step) {
  const ptx::Instruction& text = step.instruction;
  const Type type = text.modifiers.type;
  switch (text.opcode) {
    case Opcode::cvta_: return read(step, 1);
    case Opcode::cvt_: return converted(step);
    case Opcode::mov_: {
      if (text.operands.at(0).kind == Operand::Kind::vector) {
        for (const Operand& part : text.operands[0].parts) {
          const Type each = bits_of(type) == 64 ? Type::b32 : Type::b16;
          write(step, part, unknown_value(step, each));
        }
        return {};
      }
      const Value value = read(step, 1);
      if (value.kind == Value::Kind::other && !ptx::is_float(type))
        return unknown_value(step, type);
      return value;
    }
    case Opcode::selp_: {
      const z3::expr chosen = condition(step, text.operands.at(3));
      const Value result = merged(chosen, read(step, 1), read(step, 2));
      return result.kind == Value::Kind::other ? unknown_value(step, type) : result;
    }
    case Opcode::set_: return unknown_value(step, type);
    default: break;
  }
  if (type == Type::pred) return logic(step, type);
  if (!holds_integers(type) || text.modifiers.carry_out || text.modifiers.sat) {
    return unknown_value(step, type);
  }
  return integer_operation(step, type);
}

Value Instructions::sum_of(Step& step, const Value& a, const Value& b, bool subtracts) {
  if (a.is_integer() && b.is_integer()) {
    return Value::integer(subtracts ? *a.term - *b.term : *a.term + *b.term);
  }
  const auto same = [](const z3::expr& condition) { return condition; };
  if (a.is_address() && b.is_integer()) {
    return a.mapped(
        [&](const z3::expr& offset) { return subtracts ? offset - *b.term : offset + *b.term; },
        same);
  }
  if (b.is_address() && a.is_integer() && !subtracts) {
    return b.mapped([&](const z3::expr& offset) { return offset + *a.term; }, same);
  }
  const bool is_one_array =
      a.is_address() && b.is_address() && a.object == b.object && !a.otherwise && !b.otherwise;
  if (is_one_array && subtracts) {
    return Value::integer(*a.term - *b.term);
  }
  return unknown_value(step, step.instruction.modifiers.type);
}

Value Instructions::integer_operation(Step& step, Type type) {
  const ptx::Instruction& text = step.instruction;
  const unsigned bits = bits_of(type);
  switch (text.opcode) {
    case Opcode::add_: return sum_of(step, read(step, 1), read(step, 2), false);
    case Opcode::sub_: return sum_of(step, read(step, 1), read(step, 2), true);
    case Opcode::mul_:
    case Opcode::mul24_: return multiplied(step, type);
    case Opcode::mad_:
    case Opcode::mad24_: return sum_of(step, multiplied(step, type), read(step, 3), false);
    case Opcode::div_:
    case Opcode::rem_: return divided(step, type);
    case Opcode::neg_: return Value::integer(-integer(step, 1, type));
    case Opcode::not_: return Value::integer(-integer(step, 1, type) - 1);
    case Opcode::abs_: {
      const z3::expr a = integer_in_range(step, 1, type);
      return Value::integer(choose(a < 0, -a, a));
    }
    case Opcode::min_:
    case Opcode::max_: {
      const z3::expr a = integer_in_range(step, 1, type), b = integer_in_range(step, 2, type);
      return Value::integer(choose(text.opcode == Opcode::min_ ? a < b : a > b, a, b));
    }
    case Opcode::and_:
    case Opcode::or_:
    case Opcode::xor_: return logic(step, type);
    case Opcode::shl_:
    case Opcode::shr_: return shifted(step, type);
    case Opcode::bfe_: return field(step, type);
    case Opcode::popc_:
    case Opcode::clz_: {
      // No more bits are set than the number has; a mask of lower lanes has fewer than 32.
      const unsigned source_bits = bits_of(type);
      Integer most = source_bits;
      const Value counted = read(step, 1);
      if (text.opcode == Opcode::popc_ && counted.is_integer()) {
        const Interval range = symbols_.interval_of(*counted.term);
        for (unsigned n = source_bits; n-- > 0;) {
          if (range.low && *range.low >= 0 && range.high && *range.high < power_of_two(n)) most = n;
        }
      }
      return Value::integer(symbols_.data(fmt::format("{}count {}", step.prefix, step.number),
                                          text.location, 0, most));
    }
    default: return Value::integer(unknown(step, bits));
  }
}

Value Instructions::multiplied(Step& step, Type type) {
  const unsigned bits = bits_of(type);
  const ptx::MulPart part = step.instruction.modifiers.part;
  if (part == ptx::MulPart::lo) {
    if (step.instruction.opcode == Opcode::mul24_ || step.instruction.opcode == Opcode::mad24_) {
      const z3::expr low = symbols_.number(power_of_two(24));
      const z3::expr a = integer_in_range(step, 1, type), b = integer_in_range(step, 2, type);
      if (!is_known(a >= 0 && a < low / 2 && b >= 0 && b < low / 2, step.state.path)) {
        return Value::integer(unknown(step, bits));
      }
    }
    return Value::integer(integer(step, 1, type) * integer(step, 2, type));
  }
  const z3::expr product = integer_in_range(step, 1, type) * integer_in_range(step, 2, type);
  if (part == ptx::MulPart::wide) return Value::integer(product);
  return Value::integer(product / symbols_.number(power_of_two(bits)));
}

// Division rounds to zero in PTX, and down in Z3 if the divisor is positive.
Value Instructions::divided(Step& step, Type type) {
  const z3::expr a = integer_in_range(step, 1, type), b = integer_in_range(step, 2, type);
  const bool is_division = step.instruction.opcode == Opcode::div_;
  const Path& path = step.state.path;
  const auto divisor = number_in(b);
  if ((divisor && *divisor <= 0) || (!divisor && !is_known(b > 0, path))) {
    return Value::integer(unknown(step, bits_of(type)));
  }
  const auto of = [&](const z3::expr& dividend) {
    return is_division ? z3::expr(dividend / b) : z3::mod(dividend, b);
  };
  const Interval range = symbols_.interval_of(a);
  if ((range.low && *range.low >= 0) || is_known(a >= 0, path)) return Value::integer(of(a));
  return Value::integer(choose(a >= 0, of(a), -of(-a)));
}

Value Instructions::logic(Step& step, Type type) {
  const ptx::Instruction& text = step.instruction;
  if (type == Type::pred) {
    const z3::expr a = condition(step, text.operands.at(1));
    if (text.opcode == Opcode::not_) return Value::predicate(opposite(a));
    if (text.operands.size() < 3) return unknown_value(step, type);
    const z3::expr b = condition(step, text.operands.at(2));
    switch (text.opcode) {
      case Opcode::and_: return Value::predicate(both(a, b));
      case Opcode::or_: return Value::predicate(either(a, b));
      case Opcode::xor_: return Value::predicate(a != b);
      default: return unknown_value(step, type);
    }
  }
  const unsigned bits = bits_of(type);
  const BitOp op = text.opcode == Opcode::and_  ? BitOp::and_
                   : text.opcode == Opcode::or_ ? BitOp::or_
                                                : BitOp::xor_;
  const Value left = read(step, 1), right = read(step, 2);
  if (!left.is_integer() || !right.is_integer()) return Value::integer(unknown(step, bits));
  const auto operand = [&](const Value& value) {
    if (const auto constant = number_in(*value.term)) {
      return symbols_.number(*constant & (power_of_two(bits) - 1));
    }
    return *value.term;
  };
  z3::expr a = operand(left), b = operand(right);
  const bool has_mask = a.is_numeral() || b.is_numeral();
  // `x | 1` of an even x is a sum.  Masks need no representative in range, sums of them do.
  if (!has_mask || op != BitOp::and_) {
    a = in_range(a, bits, false, step.state.path);
    b = in_range(b, bits, false, step.state.path);
  }
  return Value::integer(symbols_.bitwise(op, a, b, bits));
}

Value Instructions::shifted(Step& step, Type type) {
  const bool is_left = step.instruction.opcode == Opcode::shl_;
  const unsigned bits = bits_of(type);
  const z3::expr value = is_left ? integer(step, 1, type) : integer_in_range(step, 1, type);
  const auto by = [&](unsigned count) {
    if (count >= bits) {
      return is_left || !ptx::is_signed(type)
                 ? symbols_.number(0)
                 : choose(value < 0, symbols_.number(-1), symbols_.number(0));
    }
    const z3::expr power = symbols_.number(power_of_two(count));
    return is_left ? z3::expr(value * power) : z3::expr(value / power);
  };
  const z3::expr count = in_range(integer(step, 2, Type::u32), 32, false, step.state.path);
  if (const auto constant = number_in(count)) {
    return Value::integer(by(*constant > bits ? bits : static_cast<unsigned>(*constant)));
  }
  z3::expr result = by(bits);
  for (unsigned i = bits; i-- > 0;) result = choose(count == static_cast<int>(i), by(i), result);
  return Value::integer(result);
}

Value Instructions::field(Step& step, Type type) {
  const auto position = number_in(integer(step, 2, Type::u32));
  const auto length = number_in(integer(step, 3, Type::u32));
  const unsigned bits = bits_of(type);
  if (!position || !length || ptx::is_signed(type) || *position + *length > bits) {
    return Value::integer(unknown(step, bits));
  }
  const z3::expr value = integer_in_range(step, 1, type);
  return Value::integer(
      z3::mod(value / symbols_.number(power_of_two(static_cast<unsigned>(*position))),
              symbols_.number(power_of_two(static_cast<unsigned>(*length)))));
}

Value Instructions::converted(Step& step) {
  const ptx::Modifiers& modifiers = step.instruction.modifiers;
  const Type to = modifiers.type, from = modifiers.source_type;
  const Value value = read(step, 1);
  if (ptx::is_float(to) && holds_integers(from) && value.is_integer() && !modifiers.pack) {
    return Value::number(way_of_conversion(modifiers), *value.term);
  }
  if (!holds_integers(to) || !holds_integers(from) || modifiers.sat || modifiers.pack) {
    return unknown_value(step, to);
  }
  // Addresses in shared memory have 32 bits or 64.
  if (value.is_address()) return value;
  if (!value.is_integer()) return unknown_value(step, to);
  const unsigned bits = bits_of(to), from_bits = bits_of(from);
  if (bits > from_bits) {
    return Value::integer(in_range(*value.term, from_bits, ptx::is_signed(from), step.state.path));
  }
  if (bits >= 32) return value;
  return Value::integer(in_range(*value.term, bits, ptx::is_signed(to), step.state.path));
}

z3::expr Instructions::compared(Step& step, const Value& a, const Value& b) {
  const Type type = step.instruction.modifiers.type;
  using ptx::Compare;
  const Compare how = step.instruction.modifiers.compare;
  const bool is_equality = how == Compare::eq || how == Compare::ne;
  if (!holds_integers(type)) return unknown(step, 1) == 1;
  const auto nothing = [&](const Value& value) {
    return value.is_integer() && number_in(*value.term) == Integer{0};
  };
  // No array is at address 0.
  if (is_equality && ((a.is_address() && nothing(b)) || (b.is_address() && nothing(a)))) {
    return symbols_.context().bool_val(how == Compare::ne);
  }
  const bool are_offsets =
      a.is_address() && b.is_address() && a.object == b.object && !a.otherwise && !b.otherwise;
  if (!are_offsets && (!a.is_integer() || !b.is_integer())) return unknown(step, 1) == 1;
  const bool is_signed = are_offsets || ptx::is_signed(type);
  const Path& path = step.state.path;
  const z3::expr x = in_range(*a.term, bits_of(type), is_signed, path);
  const z3::expr y = in_range(*b.term, bits_of(type), is_signed, path);
  switch (how) {
    case Compare::eq: return x == y;
    case Compare::ne: return x != y;
    case Compare::lt:
    case Compare::lo: return x < y;
    case Compare::le:
    case Compare::ls: return x <= y;
    case Compare::gt:
    case Compare::hi: return x > y;
    case Compare::ge:
    case Compare::hs: return x >= y;
    default: return unknown(step, 1) == 1;
  }
}

void Instructions::compare(Step& step) {
  const ptx::Instruction& text = step.instruction;
  z3::expr result = compared(step, read(step, 1), read(step, 2)).simplify();
  z3::expr other = opposite(result);
  if (text.operands.size() > 3) {
    const z3::expr third = condition(step, text.operands[3]);
    const auto combined = [&](const z3::expr& p) {
      switch (text.modifiers.bool_op) {
        case ptx::BoolOp::and_: return both(p, third);
        case ptx::BoolOp::or_: return either(p, third);
        default: return z3::expr(p != third);
      }
    };
    result = combined(result);
    other = combined(other);
  }
  const Operand& target = text.operands.at(0);
  if (target.kind != Operand::Kind::vector) return write(step, target, Value::predicate(result));
  write(step, target.parts.at(0), Value::predicate(result));
  write(step, target.parts.at(1), Value::predicate(other));
}

}  // namespace warpcheck::vgpu::symbolic
