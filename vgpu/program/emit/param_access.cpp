// ld.param and st.param of variables: the parameters of a kernel, of a device function, and of
// calls.
//
// Parameters of device functions are word rows in a frame, so bit fields are moved.
#include <algorithm>
#include <optional>

#include "vgpu/program/emit/families.hpp"
#include "vgpu/program/emit/steps.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

using Kind = ptx::Operand::Kind;
using ptx::Opcode;
using ptx::Type;

namespace {

// Returns row `i` after `row`, which may be marked as one of a callee.
Ref word_row(std::uint32_t row, std::uint32_t i) {
  const std::uint32_t mark = (row & kOutgoingRow) != 0 ? kOutgoing : 0;
  return Ref{Bank::word, mark | (((row & ~kOutgoingRow) + i) * kWordRowBytes)};
}

void load_param_word(Emission& e, const Instr& base, Ref word, std::uint32_t row,
                     std::uint32_t byte, Type type) {
  const std::uint32_t bits = ptx::bytes_of(type) * 8, begin = byte * 8;
  const Type field = ptx::is_signed(type) ? Type::s32 : Type::u32;
  const auto extract = [&](Type as, Ref to, Ref from, std::uint32_t at, std::uint32_t length) {
    push_compute(e, base, Opcode::bfe_, as, Type::none,
                 {.d = to, .a = from, .b = e.constants.word(at), .c = e.constants.word(length)});
  };
  if (bits == 32 && begin == 0) {
    return push_compute(e, base, Opcode::mov_, Type::b32, Type::none,
                        {.d = word, .a = word_row(row, 0)});
  }
  if (begin + bits <= 32) return extract(field, word, word_row(row, 0), begin, bits);
  const std::uint32_t low_bits = 32 - begin;
  const Ref joined = e.frame.temporary(Bank::word);
  extract(Type::u32, joined, word_row(row, 0), begin, low_bits);
  push_compute(e, base, Opcode::bfi_, Type::b32, Type::none,
               {.d = joined,
                .a = word_row(row, 1),
                .b = joined,
                .c = e.constants.word(low_bits),
                .f = e.constants.word(bits - low_bits)});
  extract(field, word, joined, 0, bits);
}

void store_param_word(Emission& e, const Instr& base, Ref word, std::uint32_t row,
                      std::uint32_t byte, std::uint32_t bytes) {
  const std::uint32_t bits = bytes * 8, begin = byte * 8;
  const auto insert = [&](Ref to, Ref from, std::uint32_t at, std::uint32_t length) {
    push_compute(
        e, base, Opcode::bfi_, Type::b32, Type::none,
        {.d = to, .a = from, .b = to, .c = e.constants.word(at), .f = e.constants.word(length)});
  };
  if (bits == 32 && begin == 0) {
    return push_compute(e, base, Opcode::mov_, Type::b32, Type::none,
                        {.d = word_row(row, 0), .a = word});
  }
  const std::uint32_t low_bits = std::min(bits, 32 - begin);
  insert(word_row(row, 0), word, begin, low_bits);
  if (low_bits == bits) return;
  const Ref rest = e.frame.temporary(Bank::word);
  push_compute(e, base, Opcode::bfe_, Type::u32, Type::none,
               {.d = rest,
                .a = word,
                .b = e.constants.word(low_bits),
                .c = e.constants.word(bits - low_bits)});
  insert(word_row(row, 1), rest, 0, bits - low_bits);
}

// Emits the access to one element of a device function's parameter by bit-field moves, because
// parameters are word rows in a frame.  Packed structures have elements that span words.
void emit_param_element(Emission& e, Type type, const Instr& base, Ref value, std::uint32_t row,
                        std::uint32_t byte, bool is_load) {
  const std::uint32_t bytes = ptx::bytes_of(type);
  if (bytes == 8) {
    Ref low = word_row(row, 0), high = word_row(row, 1);
    if (byte != 0) low = e.frame.temporary(Bank::word), high = e.frame.temporary(Bank::word);
    if (is_load) {
      if (byte != 0) load_param_word(e, base, low, row, byte, Type::b32);
      if (byte != 0) load_param_word(e, base, high, row + 1, byte, Type::b32);
      return push_compute(e, base, Opcode::mov_, Type::b64, Type::none,
                          {.d = value, .a = low, .b = high}, 2);
    }
    push_compute(e, base, Opcode::mov_, Type::b64, Type::none, {.d = low, .a = value, .e = high},
                 2);
    if (byte != 0) store_param_word(e, base, low, row, byte, 4);
    if (byte != 0) store_param_word(e, base, high, row + 1, byte, 4);
    return;
  }
  const bool is_wide = value.bank == Bank::wide;
  const Ref word = is_wide ? e.frame.temporary(Bank::word) : value;
  if (is_load) {
    load_param_word(e, base, word, row, byte, type);
    if (is_wide) {
      const bool is_signed = ptx::is_signed(type);
      push_compute(e, base, Opcode::cvt_, is_signed ? Type::s64 : Type::u64,
                   is_signed ? Type::s32 : Type::u32, {.d = value, .a = word});
    }
    return;
  }
  if (is_wide) push_compute(e, base, Opcode::cvt_, Type::u32, Type::u64, {.d = word, .a = value});
  store_param_word(e, base, word, row, byte, bytes);
}

// Moves parameters between their word rows, from `row` on, and their `count` registers.
void move_registers(Emission& e, const Instr& base, std::uint32_t first, std::size_t count,
                    std::uint32_t row, bool is_load) {
  std::uint32_t byte = 0;
  for (std::uint32_t reg = first; reg < first + count; ++reg) {
    const Type type = e.function.registers[reg].type;
    const bool is_quad = type == Type::b128;
    for (std::uint32_t half = 0; half < (is_quad ? 2 : 1); ++half) {
      const Type part = is_quad ? Type::b64 : type;
      emit_param_element(e, part, base, row_after(e.frame.row_of(reg), half), row + byte / 4,
                         byte % 4, is_load);
      byte += ptx::bytes_of(part);
    }
  }
}

std::size_t registers_of(const ptx::Variable& parameter) {
  return parameter.bytes / ptx::bytes_of(parameter.element);
}

}  // namespace

void emit_param_value(Emission& e, const ptx::Instruction& in, const ptx::Operand& value, Type type,
                      std::uint32_t row, bool is_load) {
  const Instr base = e.begin(in);
  if (value.kind == Kind::immediate) {
    return emit_param_element(e, type, base, e.source(in, value, type), row, 0, is_load);
  }
  const std::size_t count = value.kind == Kind::vector ? value.parts.size() : 1;
  const ptx::Operand& first = value.kind == Kind::vector ? value.parts.front() : value;
  move_registers(e, base, first.index, count, row, is_load);
}

void emit_param_copy(Emission& e, const ptx::Instruction& in, std::uint32_t to, std::uint32_t from,
                     std::uint32_t words) {
  if (to == from) return;
  const Instr base = e.begin(in);
  for (std::uint32_t word = 0; word < words; ++word) {
    push_compute(e, base, Opcode::mov_, Type::b32, Type::none,
                 {.d = word_row(to, word), .a = word_row(from, word)});
  }
}

void emit_register_parameters(Emission& e) {
  if (e.function.is_entry || e.function.body.empty()) return;
  for (std::uint32_t i = 0; i < e.function.parameters.size(); ++i) {
    const ptx::Variable& one = e.function.parameters[i];
    if (one.first_register == ptx::kNone) continue;
    Instr base = e.begin(e.function.body.front());
    base.guard = {};
    const ptx::VariableRef ref{ptx::VariableRef::Scope::parameter, i};
    move_registers(e, base, one.first_register, registers_of(one), e.params.row_of(ref).value(),
                   true);
  }
}

void emit_register_results(Emission& e, const Instr& base) {
  for (std::uint32_t i = 0; i < e.function.results.size(); ++i) {
    const ptx::Variable& one = e.function.results[i];
    if (one.first_register == ptx::kNone) continue;
    const ptx::VariableRef ref{ptx::VariableRef::Scope::result, i};
    move_registers(e, base, one.first_register, registers_of(one), e.params.row_of(ref).value(),
                   false);
  }
}

void emit_param_access(Emission& e, const ptx::Instruction& in, Instr& out) {
  const bool is_load = in.opcode != Opcode::st_;
  const ptx::Operand& place = in.operands[is_load ? 1 : 0];
  const ptx::Operand& value = in.operands[is_load ? 0 : 1];
  const std::vector<ptx::Operand> single{value};
  const std::vector<ptx::Operand>& parts = value.kind == Kind::vector ? value.parts : single;
  const std::uint32_t bytes = ptx::bytes_of(in.modifiers.type);
  const std::uint64_t size = e.context.variable(place.variable).bytes;
  if (bytes == 0 || bytes > 8 || place.offset < 0 ||
      static_cast<std::uint64_t>(place.offset) + bytes * parts.size() > size) {
    e.refuse(in, "an access beyond the parameter");
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto byte =
        static_cast<std::uint32_t>(place.offset) + static_cast<std::uint32_t>(i) * bytes;
    if (e.function.is_entry && place.variable.scope == ptx::VariableRef::Scope::parameter) {
      if (!is_load) e.refuse(in, "a store to a kernel parameter");
      Instr load = out;
      load.kind = InstrKind::param;
      load[ScalarOperand::result] = e.destination(in, parts[i]);
      load.parameter_offset = e.program.parameters.at(place.variable.index).offset + byte;
      e.push(load);
      continue;
    }
    const std::optional<std::uint32_t> row = e.params.row_of(place.variable);
    if (!row) e.refuse(in, "a .param variable that no call uses");
    const Ref element = is_load                      ? e.destination(in, parts[i])
                        : parts[i].kind == Kind::reg ? e.frame.row_of(parts[i].index)
                                                     : e.source(in, parts[i], in.modifiers.type);
    emit_param_element(e, in.modifiers.type, out, element, *row + byte / 4, byte % 4, is_load);
  }
}

}  // namespace warpcheck::vgpu
