// Moves, memory, atomics and compute instructions of one function; see emitter.hpp.
#include <algorithm>

#include <fmt/format.h>

#include "vgpu/program/emitter.hpp"

namespace warpcheck::vgpu {

using ptx::Opcode;
using ptx::Space;
using ptx::Type;

namespace {

// The type of source operand `position` (0: a) of a compute or warp instruction.
Type source_type(const ptx::Instruction& in, std::size_t position) {
  const ptx::Modifiers& m = in.modifiers;
  const auto wider = [](Type type) {
    switch (type) {
      case Type::u16: return Type::u32;
      case Type::s16: return Type::s32;
      case Type::u32: return Type::u64;
      case Type::s32: return Type::s64;
      default: return type;
    }
  };
  switch (in.opcode) {
    case Opcode::cvt_: return position == 2 ? Type::b32 : m.source_type;
    case Opcode::set_: return position == 2 ? Type::pred : m.source_type;
    case Opcode::setp_: return position == 2 ? Type::pred : m.type;
    case Opcode::selp_: return position == 2 ? Type::pred : m.type;
    case Opcode::slct_: return position == 2 ? m.source_type : m.type;
    case Opcode::shl_:
    case Opcode::shr_: return position == 1 ? Type::u32 : m.type;
    case Opcode::shf_: return position == 2 ? Type::u32 : m.type;
    case Opcode::mad_:
      return position == 2 && m.part == ptx::MulPart::wide ? wider(m.type) : m.type;
    case Opcode::bfe_: return position >= 1 ? Type::u32 : m.type;
    case Opcode::bfi_: return position >= 2 ? Type::u32 : m.type;
    case Opcode::lop3_: return position == 3 ? Type::u32 : m.type;
    case Opcode::vote_: return position == 0 ? Type::pred : Type::b32;
    case Opcode::shfl_:
    case Opcode::prmt_:
    case Opcode::elect_:
    case Opcode::fns_: return Type::b32;
    case Opcode::isspacep_: return Type::u64;
    case Opcode::match_:
    case Opcode::redux_: return position == 0 ? m.type : Type::b32;
    default: return m.type;
  }
}

}  // namespace

void Emitter::emit_compute(const ptx::Instruction& in, Instr& out) {
  if (in.operands.empty()) refuse(in, "no operands");
  const ptx::Operand& first = in.operands[0];
  if (first.kind == Kind::vector) {  // d|p, p|q
    if (first.parts.size() != 2) refuse(in, "a vector destination");
    out[ComputeOperand::d] = destination(in, first.parts[0]);
    out[ComputeOperand::e] = destination(in, first.parts[1]);
  } else {
    out[ComputeOperand::d] = destination(in, first);
  }
  const std::size_t sources = in.operands.size() - 1;
  if (sources > 4 && in.opcode != Opcode::lop3_) refuse(in, "more than four sources");
  for (std::size_t i = 1; i <= std::min<std::size_t>(sources, 4); ++i) {
    out[kComputeSources[i - 1]] = source(in, in.operands[i], source_type(in, i - 1));
  }
  if (in.opcode == Opcode::lop3_ && in.operands.size() >= 5) {  // d, a, b, c, table[, q]
    if (in.operands[4].kind != Kind::immediate) refuse(in, "a table that is no constant");
    out.offset = static_cast<std::int64_t>(in.operands[4].bits);
    out[ComputeOperand::f] =
        in.operands.size() > 5 ? source(in, in.operands[5], Type::pred) : Ref{};
  }
  const bool membermask_is_second =
      in.opcode == Opcode::vote_ || in.opcode == Opcode::match_ || in.opcode == Opcode::redux_;
  if (membermask_is_second) std::swap(out[ComputeOperand::b], out[ComputeOperand::f]);
  if (in.opcode == Opcode::elect_) std::swap(out[ComputeOperand::a], out[ComputeOperand::f]);
  const bool carries_in =
      in.opcode == Opcode::addc_ || in.opcode == Opcode::subc_ || in.opcode == Opcode::madc_;
  if (out.modifiers.carry_out || carries_in) {
    if (carry_.bank == Bank::none) carry_ = temporary(Bank::predicate);
    if (out.modifiers.carry_out) out[ComputeOperand::e] = carry_;
    if (carries_in) out[ComputeOperand::f] = carry_;
  }
  push(out);
}

void Emitter::emit_mov(const ptx::Instruction& in, Instr& out) {
  if (in.operands.size() != 2) refuse(in, "a move without two operands");
  const ptx::Operand& to = in.operands[0];
  const ptx::Operand& from = in.operands[1];
  if (in.modifiers.type == Type::b128) return emit_quad_mov(in);
  const bool unpack = to.kind == Kind::vector;
  const bool pack = from.kind == Kind::vector;
  out.kind = InstrKind::compute;
  if (from.kind == Kind::function) {
    const ptx::Function* const function = layout_.module->find_function(from.name);
    if (function == nullptr || function->is_entry) {
      refuse(in, fmt::format("the address of kernel '{}'", from.name));
    }
    out[ComputeOperand::d] = destination(in, to);
    if (out[ComputeOperand::d].bank != Bank::wide)
      refuse(in, "the address of a function in 32 bits");
    out[ComputeOperand::a] = constants_.wide(function_address(from.name));
    push(out);
    return;
  }
  if (from.kind == Kind::special) {
    out.kind = InstrKind::special;
    out.special = from.special;
    out[ComputeOperand::d] = destination(in, to);
    push(out);
    return;
  }
  if (pack || unpack) {
    const std::vector<ptx::Operand>& parts = pack ? from.parts : to.parts;
    if (pack && unpack) refuse(in, "a move between vectors");
    if (parts.size() != 2 && parts.size() != 4) refuse(in, "a vector of this length");
    const std::uint32_t part_bytes =
        ptx::bytes_of(in.modifiers.type) / static_cast<std::uint32_t>(parts.size());
    const Type part = part_bytes == 4 ? Type::b32 : part_bytes == 2 ? Type::b16 : Type::b8;
    out.modifiers.vector = static_cast<std::uint8_t>(parts.size());
    out[pack ? ComputeOperand::d : ComputeOperand::a] =
        pack ? destination(in, to) : source(in, from, in.modifiers.type);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      out[pack ? kComputeSources[i] : kUnpackedParts[i]] =
          pack ? source(in, parts[i], part) : destination(in, parts[i]);
    }
    push(out);
    return;
  }
  out[ComputeOperand::d] = destination(in, to);
  out[ComputeOperand::a] = source(in, from, in.modifiers.type);
  push(out);
}

void Emitter::emit_memory(const ptx::Instruction& in, Instr& out) {
  const bool is_load = in.opcode != Opcode::st_;
  if (in.modifiers.async) return emit_async_store(in, out);
  if (in.operands.size() != 2) refuse(in, "a memory access without two operands");
  const ptx::Operand& place = in.operands[is_load ? 1 : 0];
  const ptx::Operand& value = in.operands[is_load ? 0 : 1];
  if (in.opcode == Opcode::ldu_) out.modifiers.space = Space::global;
  if (in.modifiers.space == Space::param && place.kind == Kind::address &&
      place.variable.scope != ptx::VariableRef::Scope::none) {
    return emit_param_access(in, out);
  }
  // Parameters of device functions whose address is taken lie in local memory.
  if (in.modifiers.space == Space::param && !function_.is_entry) {
    out.modifiers.space = Space::local;
  }
  if (in.modifiers.type == Type::b128) return emit_quad_memory(in, out);
  if (ptx::bytes_of(in.modifiers.type) == 0 || ptx::bytes_of(in.modifiers.type) > 8) {
    refuse(in, "an element of this size");
  }
  if (in.modifiers.vector > 4) refuse(in, "more than four elements");
  out.kind = is_load ? InstrKind::load : InstrKind::store;
  out[MemoryOperand::address] = address(in, place, out);
  const std::vector<ptx::Operand> single{value};
  const std::vector<ptx::Operand>& parts = value.kind == Kind::vector ? value.parts : single;
  if (parts.size() != in.modifiers.vector) refuse(in, "a vector of another length");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (is_load) {
      out[MemoryOperand::value + i] = destination(in, parts[i]);
    } else if (parts[i].kind == Kind::reg && rows_.at(parts[i].index).bank != Bank::predicate) {
      out[MemoryOperand::value + i] = rows_.at(parts[i].index);  // may be wider than what is stored
    } else {
      out[MemoryOperand::value + i] = source(in, parts[i], in.modifiers.type);
    }
  }
  push(out);
}

void Emitter::emit_param_access(const ptx::Instruction& in, Instr& out) {
  const bool is_load = in.opcode != Opcode::st_;
  const ptx::Operand& place = in.operands[is_load ? 1 : 0];
  const ptx::Operand& value = in.operands[is_load ? 0 : 1];
  const std::vector<ptx::Operand> single{value};
  const std::vector<ptx::Operand>& parts = value.kind == Kind::vector ? value.parts : single;
  const std::uint32_t bytes = ptx::bytes_of(in.modifiers.type);
  const std::uint64_t size = variable(place.variable).bytes;
  if (bytes == 0 || bytes > 8 || place.offset < 0 ||
      static_cast<std::uint64_t>(place.offset) + bytes * parts.size() > size) {
    refuse(in, "an access beyond the parameter");
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto byte =
        static_cast<std::uint32_t>(place.offset) + static_cast<std::uint32_t>(i) * bytes;
    if (function_.is_entry && place.variable.scope == ptx::VariableRef::Scope::parameter) {
      if (!is_load) refuse(in, "a store to a kernel parameter");
      Instr load = out;
      load.kind = InstrKind::param;
      load[ScalarOperand::result] = destination(in, parts[i]);
      load.offset = program_.parameters.at(place.variable.index).offset + byte;
      push(load);
      continue;
    }
    std::uint32_t row = 0;
    if (!param_place(place, row)) refuse(in, "a .param variable that no call uses");
    const Ref element = is_load                      ? destination(in, parts[i])
                        : parts[i].kind == Kind::reg ? rows_.at(parts[i].index)
                                                     : source(in, parts[i], in.modifiers.type);
    emit_param_element(in, out, element, row + byte / 4, byte % 4, is_load);
  }
}

void Emitter::push_compute(const Instr& base, Opcode opcode, Type type, Type from,
                           const ComputeRows& rows, std::uint8_t vector) {
  Instr out = base;
  out.kind = InstrKind::compute;
  out.opcode = opcode;
  out.modifiers = {};
  out.modifiers.type = type;
  out.modifiers.source_type = from;
  out.modifiers.vector = vector;
  out.operands = rows;
  push(out);
}

namespace {

// Row `i` from `row` on, which may be marked as one of a callee.
Ref word_row(std::uint32_t row, std::uint32_t i) {
  const std::uint32_t mark = (row & kOutgoingRow) != 0 ? kOutgoing : 0;
  return Ref{Bank::word, mark | (((row & ~kOutgoingRow) + i) * kWordRowBytes)};
}

}  // namespace

// One element of a device function's parameter: rows of words in a frame, so bit-field moves.
// Packed structures have elements that no word holds whole.
void Emitter::emit_param_element(const ptx::Instruction& in, const Instr& base, Ref value,
                                 std::uint32_t row, std::uint32_t byte, bool is_load) {
  const Type type = in.modifiers.type;
  const std::uint32_t bytes = ptx::bytes_of(type);
  if (bytes == 8) {
    Ref low = word_row(row, 0), high = word_row(row, 1);
    if (byte != 0) low = temporary(Bank::word), high = temporary(Bank::word);
    if (is_load) {
      if (byte != 0) load_param_word(base, low, row, byte, Type::b32);
      if (byte != 0) load_param_word(base, high, row + 1, byte, Type::b32);
      return push_compute(base, Opcode::mov_, Type::b64, Type::none,
                          {.d = value, .a = low, .b = high}, 2);
    }
    push_compute(base, Opcode::mov_, Type::b64, Type::none, {.d = low, .a = value, .e = high}, 2);
    if (byte != 0) store_param_word(base, low, row, byte, 4);
    if (byte != 0) store_param_word(base, high, row + 1, byte, 4);
    return;
  }
  const bool is_wide = value.bank == Bank::wide;
  const Ref word = is_wide ? temporary(Bank::word) : value;
  if (is_load) {
    load_param_word(base, word, row, byte, type);
    if (is_wide) {
      const bool is_signed = ptx::is_signed(type);
      push_compute(base, Opcode::cvt_, is_signed ? Type::s64 : Type::u64,
                   is_signed ? Type::s32 : Type::u32, {.d = value, .a = word});
    }
    return;
  }
  if (is_wide) push_compute(base, Opcode::cvt_, Type::u32, Type::u64, {.d = word, .a = value});
  store_param_word(base, word, row, byte, bytes);
}

void Emitter::load_param_word(const Instr& base, Ref word, std::uint32_t row, std::uint32_t byte,
                              Type type) {
  const std::uint32_t bits = ptx::bytes_of(type) * 8, begin = byte * 8;
  const Type field = ptx::is_signed(type) ? Type::s32 : Type::u32;
  const auto extract = [&](Type as, Ref to, Ref from, std::uint32_t at, std::uint32_t length) {
    push_compute(base, Opcode::bfe_, as, Type::none,
                 {.d = to, .a = from, .b = constants_.word(at), .c = constants_.word(length)});
  };
  if (bits == 32 && begin == 0) {
    return push_compute(base, Opcode::mov_, Type::b32, Type::none,
                        {.d = word, .a = word_row(row, 0)});
  }
  if (begin + bits <= 32) return extract(field, word, word_row(row, 0), begin, bits);
  const std::uint32_t low_bits = 32 - begin;
  const Ref joined = temporary(Bank::word);
  extract(Type::u32, joined, word_row(row, 0), begin, low_bits);
  push_compute(base, Opcode::bfi_, Type::b32, Type::none,
               {.d = joined,
                .a = word_row(row, 1),
                .b = joined,
                .c = constants_.word(low_bits),
                .f = constants_.word(bits - low_bits)});
  extract(field, word, joined, 0, bits);
}

void Emitter::store_param_word(const Instr& base, Ref word, std::uint32_t row, std::uint32_t byte,
                               std::uint32_t bytes) {
  const std::uint32_t bits = bytes * 8, begin = byte * 8;
  const auto insert = [&](Ref to, Ref from, std::uint32_t at, std::uint32_t length) {
    push_compute(
        base, Opcode::bfi_, Type::b32, Type::none,
        {.d = to, .a = from, .b = to, .c = constants_.word(at), .f = constants_.word(length)});
  };
  if (bits == 32 && begin == 0) {
    return push_compute(base, Opcode::mov_, Type::b32, Type::none,
                        {.d = word_row(row, 0), .a = word});
  }
  const std::uint32_t low_bits = std::min(bits, 32 - begin);
  insert(word_row(row, 0), word, begin, low_bits);
  if (low_bits == bits) return;
  const Ref rest = temporary(Bank::word);
  push_compute(base, Opcode::bfe_, Type::u32, Type::none,
               {.d = rest,
                .a = word,
                .b = constants_.word(low_bits),
                .c = constants_.word(bits - low_bits)});
  insert(word_row(row, 1), rest, 0, bits - low_bits);
}

}  // namespace warpcheck::vgpu
