// Matrix instructions of one function.
//
// Multiplications become one instruction over consecutive rows (matrix.hpp).  Moves of matrices
// (wmma.load, wmma.store; matrix_rows.cpp: ldmatrix, stmatrix, movmatrix) are split into ordinary
// loads, stores and shuffles of each lane, so that every access is checked like any other.  Source:
// PTX ISA 9.0, 9.7.14.
#include <algorithm>
#include <bit>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "vgpu/program/emit/families.hpp"
#include "vgpu/program/emit/matrix_steps.hpp"
#include "vgpu/program/emit/matrix_words.hpp"
#include "vgpu/program/emit/steps.hpp"
#include "vgpu/program/matrix.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

using Kind = ptx::Operand::Kind;
using ptx::Opcode;
using ptx::Space;
using ptx::Type;
using Instruction = ptx::Instruction;

namespace {

std::string_view name_of(ptx::Rounding rounding) {
  return rounding == ptx::Rounding::rz ? "rz" : rounding == ptx::Rounding::rm ? "rm" : "rp";
}

void describe_scales(const std::vector<std::string_view>& words, MatrixProduct& product) {
  product.scale = has(words, "ue8m0") ? Type::ue8m0x2 : Type::e4m3x2;
  product.blocks = product.in_bytes ? 1 : has(words, "scale_vec::4X") ? 4 : 2;
}

// mma.sync.aligned.m8n8k4.ALAYOUT.BLAYOUT. ...
void describe_quads(const std::vector<std::string_view>& words, MatrixProduct& product) {
  product.shape = {32, 32, 4};
  product.of_quads = true;
  product.a_is_col = words.at(4) == "col";
  product.b_is_row = words.at(5) == "row";
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
  product.sparse = words.size() > 1 && words[1].starts_with("sp");
  product.in_bytes = has(words, "kind::f8f6f4") || has(words, "kind::mxf8f6f4");
  if (has(words, "block_scale")) describe_scales(words, product);
  product.a = types.size() == 4 ? types[1] : Type::f16;  // wmma.mma of f16 names only d and c
  product.b = types.size() == 4 ? types[2] : Type::f16;
  if (product.shape == MatrixShape{8, 8, 4} && product.a == Type::f16) {
    describe_quads(words, product);
  }
  if (product.a == Type::b1) {
    product.shape.k /= element_bits(Type::b1);
    product.bits = has(words, "xor") ? ptx::BoolOp::xor_ : ptx::BoolOp::and_;
  }
  for (const ptx::Rounding rounding : {ptx::Rounding::rz, ptx::Rounding::rm, ptx::Rounding::rp}) {
    if (has(words, name_of(rounding))) product.rounding = rounding;
  }
  return product;
}

// Returns the operands after the matrices: metadata and selector of a sparse matrix; the factors of
// a and b, each with the place where they begin.
Ref metadata_of(Emission& e, const Instruction& in, MatrixProduct& product) {
  std::vector<Ref> rows;
  std::size_t at = 4;
  if (in.operands.size() != at + (product.sparse ? 2 : 0) + (product.blocks != 0 ? 4 : 0)) {
    e.refuse(in, "expected four matrices, metadata of a sparse one, and factors of scaled ones");
  }
  if (product.sparse) {
    rows.push_back(e.source(in, in.operands[at], Type::b32));
    const ptx::Operand& selector = in.operands[at + 1];
    if (selector.kind != Kind::immediate || selector.bits >= selectors_of(product)) {
      e.refuse(in, fmt::format("expected a selector below {}", selectors_of(product)));
    }
    product.selector = static_cast<std::uint32_t>(selector.bits);
    at += 2;
  }
  for (; at < in.operands.size(); at += 2) {
    std::vector<ptx::Operand> single;
    rows.push_back(e.source(in, parts_of(in.operands[at], single).front(), Type::b32));
    const std::vector<ptx::Operand>& begin = in.operands[at + 1].parts;
    if (begin.size() != 2) e.refuse(in, "expected a pair of byte and thread");
    for (const ptx::Operand& part : begin) rows.push_back(e.source(in, part, Type::u16));
  }
  if (rows.empty()) return {};
  const Ref first = e.frame.rows(Bank::word, metadata_rows(product));
  for (std::uint32_t row = 0; row < rows.size(); ++row) {
    copy_row(e, in, row_after(first, row), rows[row], false);
  }
  return first;
}

void emit_product(Emission& e, const Instruction& in) {
  MatrixProduct product = product_named(in.text);
  if (in.operands.size() < 4) e.refuse(in, "expected four matrices");
  Operands first;
  constexpr MatrixOperand kOperands[] = {MatrixOperand::d, MatrixOperand::a, MatrixOperand::b,
                                         MatrixOperand::c};
  for (std::size_t which = 0; which < 4; ++which) {
    std::vector<ptx::Operand> single;
    const std::vector<ptx::Operand>& parts = parts_of(in.operands[which], single);
    const std::uint32_t count = registers_of(product, kOperands[which]);
    const bool fits = parts.size() == count || (product.in_order && parts.size() % count == 0);
    if (!fits) e.refuse(in, fmt::format("expected {} registers of matrix {}", count, which + 1));
    const bool is_wide = register_bits(product.type_of(kOperands[which])) == 64;
    std::vector<Ref> sources;
    for (std::uint32_t reg = 0; which != 0 && reg < count; ++reg) {
      sources.push_back(e.source(in, parts[reg], is_wide ? Type::f64 : Type::b32));
    }
    first[kOperands[which]] = e.frame.rows(is_wide ? Bank::wide : Bank::word, count);
    for (std::uint32_t reg = 0; reg < sources.size(); ++reg) {
      copy_row(e, in, row_after(first[kOperands[which]], reg), sources[reg], false);
    }
  }
  first[MatrixOperand::metadata] = metadata_of(e, in, product);
  Instr out = e.begin(in);
  out.kind = InstrKind::warp_sync;
  describe_product(product, out);
  out.operands = first;
  out[WarpOperand::members] = e.constants.word(kWholeWarp);
  e.push(out);
  std::vector<ptx::Operand> single;
  const std::vector<ptx::Operand>& results = parts_of(in.operands[0], single);
  for (std::uint32_t reg = 0; reg < results.size(); ++reg) {
    const Ref to = e.destination(in, results[reg]);
    if (to.bank != Bank::none) copy_row(e, in, to, row_after(first[MatrixOperand::d], reg), true);
  }
}

// wmma.load, wmma.store: the part of a matrix in memory that each lane moves.
struct Fragment {
  Space space = Space::generic;
  std::uint32_t bits = 0;                     // of an element
  bool is_wide = false;                       // registers of 64 bits
  std::uint32_t registers = 0, per_lane = 0;  // of a lane, and its elements
  std::uint32_t lanes_per_line = 1;           // a line is a row, or a column of b
  bool contiguous = true;                     // neighbours in a line are adjacent in memory
  bool is_load = true;
  Ref stride{};  // from line to line, or between neighbours, in elements
};

void access_fragment(Emission& e, const Instruction& in, const Fragment& fragment) {
  std::vector<ptx::Operand> single;
  const std::vector<ptx::Operand>& parts = parts_of(in.operands[fragment.is_load ? 0 : 1], single);
  if (parts.size() % fragment.registers != 0) {
    e.refuse(in, fmt::format("expected {} registers", fragment.registers));
  }
  Instr scratch;
  const Ref base = e.address(in, in.operands[fragment.is_load ? 1 : 0], {fragment.space}, scratch);
  const auto log2 = [](std::uint32_t x) { return static_cast<std::uint32_t>(std::countr_zero(x)); };
  ptx::Modifiers low;
  low.type = Type::u32;
  low.part = ptx::MulPart::lo;
  const Ref lane = lane_number(e, in);
  const Ref line = shifted_down(e, in, lane, log2(fragment.lanes_per_line));
  const Ref in_line = calculate(e, in, Opcode::and_, Type::b32,
                                {lane, e.constants.word(fragment.lanes_per_line - 1)});
  const Ref within = calculate(e, in, Opcode::mul_, low,
                               {in_line, e.constants.word(fragment.per_lane)}, Bank::word);
  const Ref index = calculate(
      e, in, Opcode::mad_, low,
      {fragment.contiguous ? line : within, fragment.stride, fragment.contiguous ? within : line},
      Bank::word);
  const Ref bytes = e.constants.word(std::max(fragment.bits / 8, 1u));
  const auto moved = [&](Ref from, Ref elements) {
    if (fragment.bits < 8) elements = shifted_down(e, in, elements, log2(8 / fragment.bits));
    if (from.bank == Bank::word) {
      return calculate(e, in, Opcode::mad_, low, {elements, bytes, from}, Bank::word);
    }
    ptx::Modifiers wide = low;
    wide.part = ptx::MulPart::wide;
    return calculate(e, in, Opcode::mad_, wide, {elements, bytes, from}, Bank::wide);
  };
  Ref at = moved(base, index);
  const std::uint32_t register_bytes = fragment.is_wide ? 8 : 4;
  const Type whole = fragment.is_wide ? Type::b64 : Type::b32;
  const std::uint32_t elements = 8 * register_bytes / fragment.bits;  // in a register
  const Type element = elements == 1 ? whole : fragment.bits == 16 ? Type::b16 : Type::b8;
  std::vector<Ref> registers;
  for (std::uint32_t reg = 0; reg < fragment.registers; ++reg) {
    Ref value = fragment.is_load ? Ref{} : e.source(in, parts[reg], whole);
    if (fragment.contiguous) {
      if (fragment.is_load) value = e.frame.temporary(fragment.is_wide ? Bank::wide : Bank::word);
      access_element(e, in, fragment.space, whole, at, scratch.displacement + register_bytes * reg,
                     value, fragment.is_load);
    } else {
      for (std::uint32_t part = 0; part < elements; ++part) {
        const std::uint32_t shift = part * fragment.bits;
        const Ref one = fragment.is_load
                            ? e.frame.temporary(fragment.is_wide ? Bank::wide : Bank::word)
                            : shifted_down(e, in, value, shift);
        access_element(e, in, fragment.space, element, at, scratch.displacement, one,
                       fragment.is_load);
        if (fragment.is_load) value = joined(e, in, value, one, shift);
        at = moved(at, fragment.stride);
      }
    }
    registers.push_back(value);
  }
  for (std::uint32_t reg = 0; fragment.is_load && reg < parts.size(); ++reg) {
    const Ref to = e.destination(in, parts[reg]);
    if (to.bank != Bank::none) copy_row(e, in, to, registers[reg % fragment.registers], true);
  }
}

// wmma.load and wmma.store: each lane has some neighbours of one row (of a, c, d) or column (of
// b): see ElementPlaces.
void emit_fragment(Emission& e, const Instruction& in) {
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
  if (in.operands.size() < 2) e.refuse(in, "expected an address and a matrix");
  Fragment fragment;
  fragment.space = space_of(words);
  fragment.bits = product.a == Type::b1 ? 1 : element_bits(product.a);
  fragment.is_wide = register_bits(product.a) == 64;
  if (product.a == Type::b1) product.shape.k /= element_bits(Type::b1);
  fragment.registers = registers_of(product, which);
  fragment.is_load = is_load;
  const bool columns = which == MatrixOperand::b;
  const std::uint32_t lines = columns ? product.shape.n : product.shape.m;
  const std::uint32_t per_lane = fragment.registers * register_bits(product.a) / fragment.bits;
  fragment.lanes_per_line = kWarpLanes / lines;
  fragment.per_lane = per_lane;
  fragment.contiguous = columns == has(words, "col");
  const std::uint32_t line_length = per_lane * fragment.lanes_per_line;
  fragment.stride = in.operands.size() > 2
                        ? e.source(in, in.operands[2], Type::u32)
                        : e.constants.word(fragment.contiguous ? line_length : lines);
  access_fragment(e, in, fragment);
}

}  // namespace

void emit_matrix(Emission& e, const Instruction& in, Instr&) {
  switch (in.opcode) {
    case Opcode::ldmatrix_:
    case Opcode::stmatrix_:
    case Opcode::movmatrix_: return emit_matrix_rows(e, in);
    case Opcode::mma_: return emit_product(e, in);
    default: break;
  }
  if (in.text.starts_with("wmma.mma")) return emit_product(e, in);
  emit_fragment(e, in);
}

}  // namespace warpcheck::vgpu
