// Loads, stores and atomic operations of one thread.
#include <fmt/format.h>

#include <algorithm>

#include "vgpu/ptx/opcode.hpp"
#include "vgpu/symbolic/instructions.hpp"

namespace warpcheck::vgpu::symbolic {

using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

Value Instructions::load_parameter(Step& step, const Operand& address) {
  const ptx::Modifiers& modifiers = step.instruction.modifiers;
  if (address.variable.scope != ptx::VariableRef::Scope::parameter || address.index != ptx::kNone) {
    return unknown_value(step, modifiers.type);
  }
  Value value = launch_.parameter(address.variable.index, address.offset, modifiers.type);
  // A register with more bits than the parameter gets its sign or zeros.
  if (value.is_integer()) {
    value.term = in_range(*value.term, bits_of(modifiers.type), ptx::is_signed(modifiers.type),
                          step.state.path);
  }
  return value;
}

// A number of a table that nothing changes: which one is a fact about the place.
std::optional<Value> Instructions::constant_at(Step& step, const Value& base, std::int64_t offset) {
  constexpr std::size_t kTableMax = 64;  // elements
  const Type type = step.instruction.modifiers.type;
  const std::vector<std::uint8_t>& table = launch_.objects()[base.object].constant;
  if (table.empty() || base.otherwise || !holds_integers(type)) return std::nullopt;
  const std::size_t bytes = ptx::bytes_of(type), count = table.size() / bytes;
  if (count == 0 || count > kTableMax) return std::nullopt;
  const z3::expr place = (*base.term + symbols_.number(offset)).simplify();
  const unsigned bits = bits_of(type);
  std::vector<Integer> values;
  for (std::size_t i = 0; i < count; ++i) {
    Integer value = 0;
    for (std::size_t byte = bytes; byte-- > 0;) value = value * 256 + table[i * bytes + byte];
    const bool is_negative = ptx::is_signed(type) && value >= power_of_two(bits - 1);
    values.push_back(is_negative ? value - power_of_two(bits) : value);
  }
  const auto [low, high] = std::ranges::minmax(values);
  const std::string name = fmt::format("{}table {}", step.prefix, step.number);
  const z3::expr loaded = symbols_.symbol(name, symbols_.level_of(place), low, high);
  Symbol& made = symbols_.of(loaded);
  made.level = symbols_.level_of(place);
  made.facts.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const z3::expr is_there = place == symbols_.number(static_cast<Integer>(i * bytes));
    made.facts.push_back(z3::implies(is_there, loaded == symbols_.number(values[i])));
  }
  return Value::integer(loaded);
}

// What a load gives, of which nothing is known but the range of the array's values.
Value Instructions::loaded_value(Step& step, const Value& base, std::int64_t offset) {
  const Type type = step.instruction.modifiers.type;
  const Object& object = launch_.objects()[base.object];
  const bool is_in_range = object.values && !base.otherwise && holds_integers(type) &&
                           object.value_bytes == ptx::bytes_of(type);
  if (!is_in_range) return unknown_value(step, type);
  const std::string name =
      fmt::format("{}data {}.{} in range", step.prefix, step.number, step.unknowns++);
  const auto [low, high] = *object.values;
  const z3::expr loaded = symbols_.data(name, step.instruction.location, low, high);
  if (!object.are_distinct) return Value::integer(loaded);
  const z3::expr place = (*base.term + symbols_.number(offset)).simplify();
  const z3::expr bytes = symbols_.number(object.value_bytes);
  // A load that is not executed gives anything.
  const z3::expr is_inside = place >= 0 && place + bytes <= object.bytes;
  Symbol& made = symbols_.of(loaded);
  if (object.are_below_count) {
    made.facts.push_back(z3::implies(is_inside, (loaded + 1) * bytes <= object.bytes));
  }
  made.element = Symbol::Element{.object = base.object, .place = place, .is_inside = is_inside};
  for (std::size_t i = 0; i < symbols_.count(); ++i) {
    const Symbol other = symbols_.at(i);
    if (z3::eq(other.term, loaded)) continue;
    if (const auto fact = differs_from(symbols_.of(loaded), other)) {
      symbols_.of(loaded).facts.push_back(*fact);
    }
  }
  return Value::integer(loaded);
}

// One for each array that the address may be of.
void Instructions::add_accesses(Step& step, const Value& base, std::int64_t offset,
                                const Value& stored, const std::optional<z3::expr>& given) {
  const ptx::Instruction& text = step.instruction;
  const ptx::Modifiers& modifiers = text.modifiers;
  const bool is_load = text.opcode == Opcode::ld_ || text.opcode == Opcode::ldu_;
  const std::uint32_t bytes = ptx::bytes_of(modifiers.type) * modifiers.vector;
  const bool is_volatile = modifiers.order == ptx::Order::volatile_;
  const bool is_weak =
      modifiers.order == ptx::Order::weak || (is_volatile && launch_.contract().has_weak_volatile);
  Path path = step.state.path;
  for (const Value* one = &base; one != nullptr;) {
    const Value::Otherwise* const otherwise = one->otherwise.get();
    Path own = path;
    if (otherwise != nullptr) own.push_back(otherwise->condition);
    Access access{
        .instruction = step.number,
        .space = launch_.objects()[one->object].space,
        .object = one->object,
        .offset = in_range(*one->term + symbols_.number(offset), 64, true, own).simplify(),
        .bytes = bytes,
        .alignment = bytes,
        .writes = !is_load,
        .is_atomic = !is_load && text.opcode != Opcode::st_,
        .is_strong = !is_weak,
        .is_of_block = modifiers.scope == ptx::Scope::cta,
        .is_volatile = is_volatile,
        .path = std::move(own)};
    if (stored.is_integer() || stored.made_by != 0) access.stored = stored.term;
    access.stored_made_by = stored.made_by;
    if (access.is_atomic) access.step = step_of(step);
    (access.is_atomic ? access.before : access.loaded) = given;
    if (access.is_strong || is_volatile || base.otherwise) access.loaded.reset();
    access.place = step.prefix;
    step.events->accesses.push_back(std::move(access));
    if (otherwise != nullptr) path.push_back(opposite(otherwise->condition));
    one = otherwise == nullptr ? nullptr : &otherwise->value;
  }
}

// What an atomic operation adds to its counter, if that is a positive number.
std::optional<Integer> Instructions::step_of(Step& step) {
  const ptx::Instruction& text = step.instruction;
  const std::size_t operand = text.opcode == Opcode::atom_ ? 2 : 1;
  if (!holds_integers(text.modifiers.type) || text.operands.size() != operand + 1) {
    return std::nullopt;
  }
  const Value added = read(step, operand);
  const auto number = added.is_integer() ? number_in(*added.term) : std::nullopt;
  if (!number) return std::nullopt;
  const Integer most = power_of_two(bits_of(text.modifiers.type)) - 1;
  if (text.modifiers.atom_op == ptx::AtomOp::inc) {  // modulo the number and 1
    return (*number & most) == most ? std::optional<Integer>(1) : std::nullopt;
  }
  const bool counts = text.modifiers.atom_op == ptx::AtomOp::add && *number > 0;
  return counts ? number : std::nullopt;
}

void Instructions::memory(Step& step) {
  const ptx::Instruction& text = step.instruction;
  const ptx::Modifiers& modifiers = text.modifiers;
  const bool is_load = text.opcode == Opcode::ld_ || text.opcode == Opcode::ldu_;
  const bool is_store = text.opcode == Opcode::st_, has_result = text.opcode == Opcode::atom_;
  const Operand& address = text.operands.at(is_load || has_result ? 1 : 0);
  if (modifiers.space == ptx::Space::param) {
    if (!is_load) throw NotFollowed(text.location, "a call is not followed");
    const Operand& target = text.operands.at(0);
    if (target.kind != Operand::Kind::vector) {
      return write(step, target, load_parameter(step, address));
    }
    Operand part = address;
    for (const Operand& each : target.parts) {
      write(step, each, load_parameter(step, part));
      part.offset += ptx::bytes_of(modifiers.type);
    }
    return;
  }
  if (is_load || has_result) {
    const Operand& target = text.operands.at(0);
    if (target.kind == Operand::Kind::vector) {
      for (const Operand& part : target.parts) {
        write(step, part, unknown_value(step, modifiers.type));
      }
    }
  }
  const Value stored = is_store && modifiers.vector == 1 ? read(step, 1) : Value{};
  Value base;
  if (address.variable.scope != ptx::VariableRef::Scope::none) {
    base = launch_.variable(address.variable);
  } else if (address.index != ptx::kNone) {
    base = step.state.registers[address.index];
  }
  if (!base.is_address()) {
    throw NotFollowed(text.location, "the address is not that of a known array");
  }
  std::optional<z3::expr> given;
  if ((is_load || has_result) && text.operands[0].kind != Operand::Kind::vector) {
    const std::optional<Value> constant =
        is_load ? constant_at(step, base, address.offset) : std::nullopt;
    const Value result = constant  ? *constant
                         : is_load ? loaded_value(step, base, address.offset)
                                   : unknown_value(step, modifiers.type);
    if (result.is_integer() && !constant) given = result.term;
    write(step, text.operands[0], result);
  }
  if (step.events != nullptr) add_accesses(step, base, address.offset, stored, given);
}

}  // namespace warpcheck::vgpu::symbolic
