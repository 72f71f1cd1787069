// Matrix instructions of one function; see emitter.hpp.
//
// Multiplications become one instruction over rows side by side (matrix.hpp).  What moves matrices
// (wmma.load, wmma.store, ldmatrix, stmatrix, movmatrix) is taken apart into ordinary loads,
// stores and shuffles of each lane, so that every access is checked as any other.
// Source: PTX ISA 9.0, 9.7.14.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "vgpu/program/emitter.hpp"
#include "vgpu/program/matrix.hpp"

namespace warpcheck::vgpu {

using ptx::Opcode;
using ptx::Space;
using ptx::Type;
using Instruction = ptx::Instruction;

namespace {

constexpr std::uint32_t kAllLanes = 0xffffffffu;

std::vector<std::string_view> words_of(std::string_view mnemonic) {
  std::vector<std::string_view> words;
  while (!mnemonic.empty()) {
    const std::size_t end = std::min(mnemonic.find('.'), mnemonic.size());
    words.push_back(mnemonic.substr(0, end));
    mnemonic.remove_prefix(std::min(end + 1, mnemonic.size()));
  }
  return words;
}

bool has(const std::vector<std::string_view>& words, std::string_view wanted) {
  return std::find(words.begin(), words.end(), wanted) != words.end();
}

// "m16n8k16"
std::optional<MatrixShape> shape_of(std::string_view word) {
  MatrixShape shape;
  const char* at = word.data();
  const char* const end = at + word.size();
  for (const auto& [letter, size] : {std::pair{'m', &shape.m}, {'n', &shape.n}, {'k', &shape.k}}) {
    if (at == end || *at != letter) return std::nullopt;
    const std::from_chars_result read = std::from_chars(at + 1, end, *size);
    if (read.ec != std::errc()) return std::nullopt;
    at = read.ptr;
  }
  return shape;
}

std::vector<Type> types_of(const std::vector<std::string_view>& words) {
  std::vector<Type> types;
  for (const std::string_view word : words) {
    for (const Type type : {Type::f16, Type::bf16, Type::tf32, Type::f32, Type::f64, Type::s32,
                            Type::s8, Type::u8, Type::s4, Type::u4, Type::b1}) {
      if (ptx::name_of(type) == word) types.push_back(type);
    }
    if (word == "e4m3") types.push_back(Type::e4m3x2);
    if (word == "e5m2") types.push_back(Type::e5m2x2);
  }
  return types;
}

std::string_view name_of(ptx::Rounding rounding) {
  return rounding == ptx::Rounding::rz ? "rz" : rounding == ptx::Rounding::rm ? "rm" : "rp";
}

MatrixProduct product_named(std::string_view mnemonic) {
  const std::vector<std::string_view> words = words_of(mnemonic);
  const std::vector<Type> types = types_of(words);
  MatrixProduct product;
  for (const std::string_view word : words) {
    if (const std::optional<MatrixShape> shape = shape_of(word)) product.shape = *shape;
  }
  product.in_order = words.front() == "wmma";
  product.saturates = has(words, "satfinite");
  product.d = types.front();
  product.c = types.back();
  product.a = types.size() == 4 ? types[1] : Type::f16;  // wmma.mma of f16 names d and c alone
  product.b = types.size() == 4 ? types[2] : Type::f16;
  if (product.a == Type::b1) {
    product.shape.k /= element_bits(Type::b1);
    product.bits = has(words, "xor") ? ptx::BoolOp::xor_ : ptx::BoolOp::and_;
  }
  for (const ptx::Rounding rounding : {ptx::Rounding::rz, ptx::Rounding::rm, ptx::Rounding::rp}) {
    if (has(words, name_of(rounding))) product.rounding = rounding;
  }
  return product;
}

Space space_of(const std::vector<std::string_view>& words) {
  if (has(words, "shared") || has(words, "shared::cta")) return Space::shared;
  return has(words, "global") ? Space::global : Space::generic;
}

const std::vector<ptx::Operand>& parts_of(const ptx::Operand& operand,
                                          std::vector<ptx::Operand>& single) {
  if (operand.kind == ptx::Operand::Kind::vector) return operand.parts;
  single = {operand};
  return single;
}

}  // namespace

void Emitter::emit_matrix(const Instruction& in) {
  require_form(in);
  switch (in.opcode) {
    case Opcode::ldmatrix_:
    case Opcode::stmatrix_: return emit_matrix_rows(in);
    case Opcode::movmatrix_: return emit_transposition(in);
    case Opcode::mma_: return emit_product(in);
    default: break;
  }
  if (in.text.starts_with("wmma.mma")) return emit_product(in);
  emit_fragment(in);
}

// A compute instruction without a guard, whose result is a new row.
Ref Emitter::calculate(const Instruction& in, Opcode opcode, ptx::Modifiers modifiers,
                       std::initializer_list<Ref> sources, Bank bank) {
  Instr out = begin(in);
  out.kind = InstrKind::compute;
  out.opcode = opcode;
  out.modifiers = modifiers;
  out.guard = {};
  out[ComputeOperand::d] = temporary(bank);
  std::size_t at = 0;
  for (const Ref& source : sources) out[kComputeSources[at++]] = source;
  push(out);
  return out[ComputeOperand::d];
}

Ref Emitter::calculate(const Instruction& in, Opcode opcode, Type type,
                       std::initializer_list<Ref> sources) {
  ptx::Modifiers modifiers;
  modifiers.type = type;
  return calculate(in, opcode, modifiers, sources,
                   ptx::bytes_of(type) == 8 ? Bank::wide : Bank::word);
}

void Emitter::copy_row(const Instruction& in, Ref to, Ref from, bool guarded) {
  Instr out = begin(in);
  out.kind = InstrKind::compute;
  out.opcode = Opcode::mov_;
  out.modifiers = {};
  out.modifiers.type = to.bank == Bank::wide ? Type::b64 : Type::b32;
  if (!guarded) out.guard = {};
  out.operands = ComputeRows{.d = to, .a = from};
  push(out);
}

Ref Emitter::lane_number(const Instruction& in) {
  Instr out = begin(in);
  out.kind = InstrKind::special;
  out.special = ptx::SpecialRegister::laneid;
  out.guard = {};
  out[ScalarOperand::result] = temporary(Bank::word);
  push(out);
  return out[ScalarOperand::result];
}

// The word of another lane.
Ref Emitter::shuffled(const Instruction& in, Ref value, Ref lane) {
  Instr out = begin(in);
  out.kind = kMeetingKind;
  out.opcode = Opcode::shfl_;
  out.modifiers = {};
  out.modifiers.type = Type::b32;
  out.modifiers.shuffle = ptx::ShuffleMode::idx;
  out.modifiers.sync = true;
  out[WarpOperand::result] = temporary(Bank::word);
  out[WarpOperand::value] = value;
  out[WarpOperand::lane] = lane;
  out[WarpOperand::clamp] = constants_.word(31);
  out[WarpOperand::members] = constants_.word(kAllLanes);
  push(out);
  return out[WarpOperand::result];
}

// An address of another lane, of 32 or 64 bits.
Ref Emitter::shuffled_address(const Instruction& in, Ref address, Ref lane) {
  if (address.bank == Bank::word) return shuffled(in, address, lane);
  ptx::Modifiers halves;
  halves.type = Type::b64;
  halves.vector = 2;
  const Ref low = temporary(Bank::word);
  const Ref high = temporary(Bank::word);
  Instr unpack = begin(in);
  unpack.kind = InstrKind::compute;
  unpack.opcode = Opcode::mov_;
  unpack.modifiers = halves;
  unpack.guard = {};
  unpack.operands = ComputeRows{.d = low, .a = address, .e = high};
  push(unpack);
  const Ref low_there = shuffled(in, low, lane);
  const Ref high_there = shuffled(in, high, lane);
  return calculate(in, Opcode::mov_, halves, {low_there, high_there}, Bank::wide);
}

// One element of each lane, at address + offset.
void Emitter::access_element(const Instruction& in, Space space, Type type, Ref address,
                             std::int64_t offset, Ref value, bool is_load) {
  Instr out = begin(in);
  out.kind = is_load ? InstrKind::load : InstrKind::store;
  out.opcode = is_load ? Opcode::ld_ : Opcode::st_;
  out.modifiers = {};
  out.modifiers.type = type;
  out.modifiers.space = space;
  out.offset = offset;
  out[MemoryOperand::address] = address;
  out[MemoryOperand::value] = value;
  push(out);
}

// Part `part` of a register, from narrower elements or to them.
Ref Emitter::joined(const Instruction& in, Ref whole, Ref element, std::uint32_t shift) {
  if (shift == 0) return element;
  const Ref shifted = calculate(in, Opcode::shl_, Type::b32, {element, constants_.word(shift)});
  return calculate(in, Opcode::or_, Type::b32, {whole, shifted});
}

Ref Emitter::shifted_down(const Instruction& in, Ref whole, std::uint32_t shift) {
  if (shift == 0) return whole;
  return calculate(in, Opcode::shr_, Type::u32, {whole, constants_.word(shift)});
}

void Emitter::emit_product(const Instruction& in) {
  const MatrixProduct product = product_named(in.text);
  if (in.operands.size() != 4) refuse(in, "expected four matrices");
  Operands first;
  constexpr MatrixOperand kOperands[] = {MatrixOperand::d, MatrixOperand::a, MatrixOperand::b,
                                         MatrixOperand::c};
  for (std::size_t which = 0; which < 4; ++which) {
    std::vector<ptx::Operand> single;
    const std::vector<ptx::Operand>& parts = parts_of(in.operands[which], single);
    const std::uint32_t count = registers_of(product, kOperands[which]);
    const bool fits = parts.size() == count || (product.in_order && parts.size() % count == 0);
    if (!fits) refuse(in, fmt::format("expected {} registers of matrix {}", count, which + 1));
    const bool is_wide = register_bits(product.type_of(kOperands[which])) == 64;
    std::vector<Ref> sources;
    for (std::uint32_t reg = 0; which != 0 && reg < count; ++reg) {
      sources.push_back(source(in, parts[reg], is_wide ? Type::f64 : Type::b32));
    }
    first[kOperands[which]] = rows(is_wide ? Bank::wide : Bank::word, count);
    for (std::uint32_t reg = 0; reg < sources.size(); ++reg) {
      copy_row(in, row_after(first[kOperands[which]], reg), sources[reg], false);
    }
  }
  Instr out = begin(in);
  out.kind = kMeetingKind;
  describe_product(product, out);
  out.operands = first;
  out[WarpOperand::members] = constants_.word(kAllLanes);
  push(out);
  std::vector<ptx::Operand> single;
  const std::vector<ptx::Operand>& results = parts_of(in.operands[0], single);
  for (std::uint32_t reg = 0; reg < results.size(); ++reg) {
    const Ref to = destination(in, results[reg]);
    if (to.bank != Bank::none) copy_row(in, to, row_after(first[MatrixOperand::d], reg), true);
  }
}

// wmma.load and wmma.store: each lane has some neighbours of one row (of a, c, d) or column (of
// b): see element_at().
void Emitter::emit_fragment(const Instruction& in) {
  const std::vector<std::string_view> words = words_of(in.text);
  const bool is_load = words.at(1) == "load";
  MatrixProduct product;
  product.in_order = true;
  for (const std::string_view word : words) {
    if (const std::optional<MatrixShape> shape = shape_of(word)) product.shape = *shape;
  }
  product.a = product.b = product.c = product.d = types_of(words).at(0);
  const MatrixOperand which = words.at(2) == "a"   ? MatrixOperand::a
                              : words.at(2) == "b" ? MatrixOperand::b
                                                   : MatrixOperand::c;
  if (in.operands.size() < 2) refuse(in, "expected an address and a matrix");
  Fragment fragment;
  fragment.space = space_of(words);
  fragment.bits = product.a == Type::b1 ? 1 : element_bits(product.a);
  fragment.is_wide = register_bits(product.a) == 64;
  if (product.a == Type::b1) product.shape.k /= element_bits(Type::b1);
  fragment.registers = registers_of(product, which);
  fragment.is_load = is_load;
  const bool columns = which == MatrixOperand::b;
  const std::uint32_t lines = columns                     ? product.shape.n
                              : which == MatrixOperand::a ? product.shape.m
                                                          : product.shape.m;
  const std::uint32_t per_lane = fragment.registers * register_bits(product.a) / fragment.bits;
  fragment.lanes_per_line = kWarpLanes / lines;
  fragment.per_lane = per_lane;
  fragment.contiguous = columns == has(words, "col");
  const std::uint32_t line_length = per_lane * fragment.lanes_per_line;
  fragment.stride = in.operands.size() > 2
                        ? source(in, in.operands[2], Type::u32)
                        : constants_.word(fragment.contiguous ? line_length : lines);
  access_fragment(in, fragment);
}

void Emitter::access_fragment(const Instruction& in, const Fragment& fragment) {
  std::vector<ptx::Operand> single;
  const std::vector<ptx::Operand>& parts = parts_of(in.operands[fragment.is_load ? 0 : 1], single);
  if (parts.size() % fragment.registers != 0) {
    refuse(in, fmt::format("expected {} registers", fragment.registers));
  }
  Instr scratch;
  const Ref base = address(in, in.operands[fragment.is_load ? 1 : 0], scratch);
  const auto log2 = [](std::uint32_t x) { return static_cast<std::uint32_t>(std::countr_zero(x)); };
  ptx::Modifiers low;
  low.type = Type::u32;
  low.part = ptx::MulPart::lo;
  const Ref lane = lane_number(in);
  const Ref line = shifted_down(in, lane, log2(fragment.lanes_per_line));
  const Ref in_line =
      calculate(in, Opcode::and_, Type::b32, {lane, constants_.word(fragment.lanes_per_line - 1)});
  const Ref within =
      calculate(in, Opcode::mul_, low, {in_line, constants_.word(fragment.per_lane)}, Bank::word);
  const Ref index = calculate(
      in, Opcode::mad_, low,
      {fragment.contiguous ? line : within, fragment.stride, fragment.contiguous ? within : line},
      Bank::word);
  const Ref bytes = constants_.word(std::max(fragment.bits / 8, 1u));
  const auto moved = [&](Ref from, Ref elements) {
    if (fragment.bits < 8) elements = shifted_down(in, elements, log2(8 / fragment.bits));
    if (from.bank == Bank::word) {
      return calculate(in, Opcode::mad_, low, {elements, bytes, from}, Bank::word);
    }
    ptx::Modifiers wide = low;
    wide.part = ptx::MulPart::wide;
    return calculate(in, Opcode::mad_, wide, {elements, bytes, from}, Bank::wide);
  };
  Ref at = moved(base, index);
  const std::uint32_t register_bytes = fragment.is_wide ? 8 : 4;
  const Type whole = fragment.is_wide ? Type::b64 : Type::b32;
  const std::uint32_t elements = 8 * register_bytes / fragment.bits;  // in a register
  const Type element = elements == 1 ? whole : fragment.bits == 16 ? Type::b16 : Type::b8;
  std::vector<Ref> registers;
  for (std::uint32_t reg = 0; reg < fragment.registers; ++reg) {
    Ref value = fragment.is_load ? Ref{} : source(in, parts[reg], whole);
    if (fragment.contiguous) {
      if (fragment.is_load) value = temporary(fragment.is_wide ? Bank::wide : Bank::word);
      access_element(in, fragment.space, whole, at, scratch.offset + register_bytes * reg, value,
                     fragment.is_load);
    } else {
      for (std::uint32_t part = 0; part < elements; ++part) {
        const std::uint32_t shift = part * fragment.bits;
        const Ref one = fragment.is_load ? temporary(fragment.is_wide ? Bank::wide : Bank::word)
                                         : shifted_down(in, value, shift);
        access_element(in, fragment.space, element, at, scratch.offset, one, fragment.is_load);
        if (fragment.is_load) value = joined(in, value, one, shift);
        at = moved(at, fragment.stride);
      }
    }
    registers.push_back(value);
  }
  for (std::uint32_t reg = 0; fragment.is_load && reg < parts.size(); ++reg) {
    const Ref to = destination(in, parts[reg]);
    if (to.bank != Bank::none) copy_row(in, to, registers[reg % fragment.registers], true);
  }
}

// ldmatrix and stmatrix: lane 8 i + r has the address of row r of matrix i; each lane holds two
// neighbours of row lane / 4, or of a column if transposed.
void Emitter::emit_matrix_rows(const Instruction& in) {
  const bool is_load = in.opcode == Opcode::ldmatrix_;
  const std::vector<std::string_view> words = words_of(in.text);
  const bool transposed = has(words, "trans");
  const Space space = space_of(words);
  std::vector<ptx::Operand> single;
  if (in.operands.size() != 2) refuse(in, "expected an address and registers");
  const std::vector<ptx::Operand>& parts = parts_of(in.operands[is_load ? 0 : 1], single);
  const std::size_t count = has(words, "x4") ? 4 : has(words, "x2") ? 2 : 1;
  if (parts.size() != count) refuse(in, fmt::format("expected {} registers", count));
  Instr scratch;
  const Ref own = address(in, in.operands[is_load ? 1 : 0], scratch);
  const Ref lane = lane_number(in);
  const Ref group = shifted_down(in, lane, 2);
  const Ref in_group = calculate(in, Opcode::and_, Type::b32, {lane, constants_.word(3)});
  const Ref pair = calculate(in, Opcode::shl_, Type::b32, {in_group, constants_.word(1)});
  // Bytes into the row.
  const Ref place = transposed
                        ? calculate(in, Opcode::shl_, Type::b32, {group, constants_.word(1)})
                        : calculate(in, Opcode::shl_, Type::b32, {in_group, constants_.word(2)});
  const auto address_in_row = [&](Ref row, std::uint32_t matrix, std::uint32_t next) {
    const Ref from =
        calculate(in, Opcode::add_, Type::u32, {row, constants_.word(8 * matrix + next)});
    const Ref start = shuffled_address(in, own, from);
    if (start.bank == Bank::word) return calculate(in, Opcode::add_, Type::u32, {start, place});
    ptx::Modifiers wide;
    wide.type = Type::u32;
    wide.part = ptx::MulPart::wide;
    return calculate(in, Opcode::mad_, wide, {place, constants_.word(1), start}, Bank::wide);
  };
  for (std::uint32_t matrix = 0; matrix < count; ++matrix) {
    Ref value = is_load ? Ref{} : source(in, parts[matrix], Type::b32);
    if (!transposed) {
      if (is_load) value = temporary(Bank::word);
      access_element(in, space, Type::b32, address_in_row(group, matrix, 0), scratch.offset, value,
                     is_load);
    }
    for (std::uint32_t part = 0; transposed && part < 2; ++part) {
      const Ref one = is_load ? temporary(Bank::word) : shifted_down(in, value, 16 * part);
      access_element(in, space, Type::b16, address_in_row(pair, matrix, part), scratch.offset, one,
                     is_load);
      if (is_load) value = joined(in, value, one, 16 * part);
    }
    if (!is_load) continue;
    const Ref to = destination(in, parts[matrix]);
    if (to.bank != Bank::none) copy_row(in, to, value, true);
  }
}

// movmatrix: element (r, c) of a becomes element (c, r) of d.
void Emitter::emit_transposition(const Instruction& in) {
  if (in.operands.size() != 2) refuse(in, "expected two registers");
  const Ref a = source(in, in.operands[1], Type::b32);
  const Ref lane = lane_number(in);
  const Ref group = shifted_down(in, lane, 2);
  const Ref in_group = calculate(in, Opcode::and_, Type::b32, {lane, constants_.word(3)});
  // Row 2 * in_group stands in lanes 8 * in_group and up, column `group` in the half group & 1.
  const Ref first = calculate(in, Opcode::shl_, Type::b32, {in_group, constants_.word(3)});
  const Ref from = calculate(in, Opcode::add_, Type::u32, {first, shifted_down(in, group, 1)});
  const Ref below = calculate(in, Opcode::add_, Type::u32, {from, constants_.word(4)});
  const Ref odd = calculate(in, Opcode::and_, Type::b32, {group, constants_.word(1)});
  // Bytes 0 1 of both words, or bytes 2 3.
  ptx::Modifiers low;
  low.type = Type::u32;
  low.part = ptx::MulPart::lo;
  const Ref selector = calculate(
      in, Opcode::mad_, low, {odd, constants_.word(0x2222), constants_.word(0x5410)}, Bank::word);
  const Ref result = calculate(in, Opcode::prmt_, Type::b32,
                               {shuffled(in, a, from), shuffled(in, a, below), selector});
  const Ref to = destination(in, in.operands[0]);
  if (to.bank != Bank::none) copy_row(in, to, result, true);
}

}  // namespace warpcheck::vgpu
