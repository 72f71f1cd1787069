// Products of a warpgroup: wgmma.mma_async, fence, commit_group, wait_group.
//
// Each of the four warps computes its own 16 rows of the result.  It loads the elements of a and b
// that it needs, through the asynchronous proxy, to the places where mma has them (group_load), and
// multiplies them like mma, but with all columns at once.  The results count as undefined until the
// warp has waited for them.  Source: PTX ISA 9.0, 9.7.15.
#include <algorithm>

#include <fmt/format.h>

#include "vgpu/program/emit/families.hpp"
#include "vgpu/program/emit/matrix_words.hpp"
#include "vgpu/program/emit/steps.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

using Kind = ptx::Operand::Kind;
using ptx::CopyOp;
using ptx::Opcode;
using ptx::Type;

namespace {

constexpr std::uint32_t kRows = 64, kRowBits = 256;  // bits: of k, in all types
constexpr std::uint32_t kColumnsMax = 256;
constexpr std::uint32_t kEveryLane = 0xffffffffu;

struct GroupProduct {
  MatrixProduct of_warp;
  std::uint32_t tiles = 0;
  bool is_float = false, has_order = false;  // order: 16-bit elements may be transposed
  // The operands behind a and b: metadata and selector, scale-d, imm-scale-a, imm-scale-b, orders.
  [[nodiscard]] std::size_t scale_at() const { return of_warp.sparse ? 5 : 3; }
};

GroupProduct product_of_group(Emission& e, const ptx::Instruction& in) {
  const std::vector<std::string_view> words = words_of(in.text);
  const std::vector<Type> types = types_of(words);
  GroupProduct product;
  MatrixShape shape;
  for (const std::string_view word : words) shape = shape_of(word).value_or(shape);
  if (types.size() != 3 || !has(words, "sync") || !has(words, "aligned")) {
    e.refuse(in, "a product of this kind");
  }
  MatrixProduct& rows = product.of_warp;
  rows.d = rows.c = types[0];
  rows.a = types[1];
  rows.b = types[2];
  rows.of_group = true;
  rows.sparse = has(words, "sp");
  rows.saturates = has(words, "satfinite");
  if (has(words, "popc")) rows.bits = ptx::BoolOp::and_;
  // A sparse product is emitted as products of eight columns.
  rows.shape = {16, rows.sparse ? kTileColumns : shape.n,
                (rows.sparse ? 2 : 1) * kRowBits / element_bits(rows.a)};
  product.tiles = shape.n / kTileColumns;
  product.has_order = rows.a == Type::f16 || rows.a == Type::bf16;
  product.is_float = product.has_order || rows.a == Type::tf32 || is_byte_float(rows.a);
  const bool is_integer = rows.a == Type::s8 || rows.a == Type::u8;
  const bool fits_b = rows.a == rows.b || (is_byte_float(rows.a) && is_byte_float(rows.b)) ||
                      (is_integer && (rows.b == Type::s8 || rows.b == Type::u8));
  const bool fits_d =
      product.is_float ? rows.d == Type::f32 ||
                             (rows.d == Type::f16 && rows.a != Type::bf16 && rows.a != Type::tf32)
                       : rows.d == Type::s32;
  const std::uint32_t depth = rows.a == Type::b1 ? kRowBits : rows.shape.k;
  const bool fits_shape = shape.m == kRows && shape.k == depth && shape.n != 0 &&
                          shape.n <= kColumnsMax && shape.n % kTileColumns == 0;
  const bool is_known = product.is_float || is_integer || rows.a == Type::b1;
  const bool multiplies_bits = rows.a == Type::b1;
  if (!is_known || !fits_b || !fits_d || !fits_shape ||
      multiplies_bits != (rows.bits != ptx::BoolOp::none) || (rows.saturates && !is_integer) ||
      (rows.sparse && multiplies_bits)) {
    e.refuse(in, "a product of this kind");
  }
  return product;
}

// Returns the sign bits of all elements of a word.
std::uint32_t signs_of(Type type) {
  if (is_byte_float(type)) return 0x80808080;
  return type == Type::tf32 ? 0x80000000 : 0x80008000;
}

bool is_immediate(const ptx::Instruction& in, std::size_t at, std::uint64_t value) {
  return at < in.operands.size() && in.operands[at].kind == Kind::immediate &&
         in.operands[at].bits == value;
}

// Returns which of two values the operand has; refuses others.
bool chosen(Emission& e, const ptx::Instruction& in, std::size_t at, std::uint64_t no,
            std::uint64_t yes) {
  if (!is_immediate(in, at, no) && !is_immediate(in, at, yes)) {
    e.refuse(in, fmt::format("operand {} must be {} or {}", at + 1, static_cast<std::int64_t>(no),
                             static_cast<std::int64_t>(yes)));
  }
  return is_immediate(in, at, yes);
}

Ref loaded(Emission& e, const ptx::Instruction& in, const GroupLoad& load,
           const ptx::Operand& descriptor) {
  Instr out = e.begin(in);
  out.kind = InstrKind::group_load;
  out.modifiers = {};
  out.packed = pack(load);
  out[GroupOperand::descriptor] = e.source(in, descriptor, Type::b64);
  out[GroupOperand::rows] = e.frame.rows(Bank::word, load.registers());
  out[GroupOperand::part] = e.frame.temporary(Bank::word);
  out.address_rows = e.frame.temporary(Bank::wide).offset;
  e.push(out);
  return out[GroupOperand::rows];
}

Ref copied(Emission& e, const ptx::Instruction& in, const ptx::Operand& registers) {
  constexpr std::uint32_t kCount = 4;
  if (registers.parts.size() != kCount) e.refuse(in, "expected 4 registers of matrix 2");
  const Ref rows = e.frame.rows(Bank::word, kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) {
    copy_row(e, in, row_after(rows, i), e.source(in, registers.parts[i], Type::b32), false);
  }
  return rows;
}

void negate(Emission& e, const ptx::Instruction& in, Ref rows, std::uint32_t count, Type type) {
  Instr out = e.begin(in);
  out.guard = {};
  for (std::uint32_t i = 0; i < count; ++i) {
    const Ref row = row_after(rows, i);
    push_compute(e, out, Opcode::xor_, Type::b32, Type::none,
                 {.d = row, .a = row, .b = e.constants.word(signs_of(type))});
  }
}

// Returns rows of the addend, which become the result: the registers of d, or zeros.
Ref addend_of(Emission& e, const ptx::Instruction& in, std::size_t scale_at, std::uint32_t count) {
  const Ref rows = e.frame.rows(Bank::word, count);
  const Ref adds = e.source(in, in.operands[scale_at], Type::pred);
  Instr out = e.begin(in);
  out.guard = {};
  for (std::uint32_t i = 0; i < count; ++i) {
    push_compute(e, out, Opcode::selp_, Type::b32, Type::none,
                 {.d = row_after(rows, i),
                  .a = e.source(in, in.operands[0].parts[i], Type::b32),
                  .b = e.constants.word(0),
                  .c = adds});
  }
  return rows;
}

// Returns the row of a sparse matrix's metadata, whose lanes each warp has for its own 16 rows, as
// those of mma.sp (9.7.15.6).
Ref metadata_of_group(Emission& e, const ptx::Instruction& in, MatrixProduct& tile) {
  if (!tile.sparse) return {};
  const ptx::Operand& selector = in.operands[4];
  if (selector.kind != Kind::immediate || selector.bits >= selectors_of(tile)) {
    e.refuse(in, fmt::format("expected a selector below {}", selectors_of(tile)));
  }
  tile.selector = static_cast<std::uint32_t>(selector.bits);
  const Ref row = e.frame.rows(Bank::word, 1);
  copy_row(e, in, row, e.source(in, in.operands[3], Type::b32), false);
  return row;
}

void emit_group_product(Emission& e, const ptx::Instruction& in) {
  GroupProduct product = product_of_group(e, in);
  MatrixProduct& of_warp = product.of_warp;
  const std::size_t scale_at = product.scale_at();
  const std::uint32_t parts = of_warp.sparse ? product.tiles : 1;
  const std::uint32_t in_part = registers_of(of_warp, MatrixOperand::d);
  const std::uint32_t count = parts * in_part;
  const bool a_is_here = in.operands.size() > 1 && in.operands[1].kind == Kind::vector;
  const std::size_t orders = product.has_order ? (a_is_here ? 1 : 2) : 0;
  if (in.operands.size() != scale_at + 1 + (product.is_float ? 2 : 0) + orders) {
    e.refuse(in, "another number of operands");
  }
  if (in.operands[0].parts.size() != count) {
    e.refuse(in, fmt::format("expected {} registers of matrix 1", count));
  }
  constexpr auto kMinusOne = ~std::uint64_t{0};
  const bool negates_a = product.is_float && chosen(e, in, scale_at + 1, 1, kMinusOne);
  const bool negates_b = product.is_float && chosen(e, in, scale_at + 2, 1, kMinusOne);
  const bool a_in_columns = orders == 2 && chosen(e, in, scale_at + 3, 0, 1);
  const bool b_in_rows = orders != 0 && chosen(e, in, scale_at + 2 + orders, 0, 1);
  const std::uint32_t words = e.frame.words();
  const Ref metadata = metadata_of_group(e, in, of_warp);
  const Ref d = addend_of(e, in, scale_at, count);
  const Ref a = a_is_here ? copied(e, in, in.operands[1])
                          : loaded(e, in, {false, a_in_columns, 1}, in.operands[1]);
  const GroupLoad load_b{true, b_in_rows, product.tiles, of_warp.sparse};
  const Ref b = loaded(e, in, load_b, in.operands[2]);
  if (negates_a) negate(e, in, a, 4, of_warp.a);
  if (negates_b) negate(e, in, b, load_b.registers(), of_warp.b);
  for (std::uint32_t i = 0; i < parts; ++i) {
    Instr out = e.begin(in);
    out.kind = InstrKind::warp_sync;
    out.opcode = Opcode::mma_;
    describe_product(of_warp, out);
    out[MatrixOperand::d] = out[MatrixOperand::c] = row_after(d, i * in_part);
    out[MatrixOperand::a] = a;
    out[MatrixOperand::b] = row_after(b, load_b.chunks() * i);
    out[MatrixOperand::metadata] = metadata;
    out[WarpOperand::members] = e.constants.word(kEveryLane);
    e.push(out);
  }
  // Unoptimised code stores results to local memory before it waits for them.
  if (!e.layout.module->debug) {
    Instr pending = e.begin(in);
    pending.kind = InstrKind::group_pending;
    pending.modifiers = {};
    pending[GroupOperand::rows] = d;
    pending.pending_rows = count;
    e.push(pending);
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const Ref to = e.destination(in, in.operands[0].parts[i]);
    if (to.bank != Bank::none) copy_row(e, in, to, row_after(d, i), true);
  }
  e.frame.give_back_to(words);
}

}  // namespace

void emit_warpgroup(Emission& e, const ptx::Instruction& in, Instr& out) {
  const std::vector<std::string_view> words = words_of(in.text);
  if (words.size() >= 2 && words[1] == "mma_async") return emit_group_product(e, in);
  const bool is_collective = words.size() == 4 && words[2] == "sync" && words[3] == "aligned";
  const bool waits = is_collective && words[1] == "wait_group";
  const bool commits = is_collective && words[1] == "commit_group";
  const bool fences = is_collective && words[1] == "fence";
  if ((!waits && !commits && !fences) || in.operands.size() != (waits ? 1 : 0)) {
    e.refuse(in, "the virtual GPU has no such instruction");
  }
  out.modifiers = {};
  out.kind = InstrKind::group_pending;
  if (waits) out[GroupOperand::groups_left] = e.source(in, in.operands[0], Type::u32);
  out.modifiers.copy_op = waits     ? CopyOp::wait_group
                          : commits ? CopyOp::commit_group
                                    : CopyOp::fence;
  e.push(out);
}

}  // namespace warpcheck::vgpu
