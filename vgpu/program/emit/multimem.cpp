// multimem.ld_reduce, multimem.st, multimem.red.  Its registers do not fit in an Instr: they are
// copied to consecutive rows, and back.  Source: PTX ISA 9.0, 9.7.9.14.
#include "vgpu/program/multimem.hpp"

#include "vgpu/program/emit/families.hpp"
#include "vgpu/program/emit/matrix_words.hpp"
#include "vgpu/program/emit/steps.hpp"
#include "vgpu/program/emit/tensor_instr.hpp"

namespace warpcheck::vgpu {

using Kind = ptx::Operand::Kind;
using ptx::AtomOp;
using ptx::Order;
using ptx::Type;

namespace {

struct ElementType {
  Type element;
  std::uint32_t register_bytes;
  Type accessed;  // by a reduction in memory; none: there is none
};

ElementType take_type(TensorWords& words) {
  return words.choose<ElementType>("the type", {{"u32", {Type::u32, 4, Type::u32}},
                                                {"s32", {Type::s32, 4, Type::s32}},
                                                {"b32", {Type::b32, 4, Type::b32}},
                                                {"u64", {Type::u64, 8, Type::u64}},
                                                {"s64", {Type::s64, 8, Type::s64}},
                                                {"b64", {Type::b64, 8, Type::b64}},
                                                {"f32", {Type::f32, 4, Type::f32}},
                                                {"f64", {Type::f64, 8, Type::f64}},
                                                {"f16", {Type::f16, 2, Type::f16}},
                                                {"f16x2", {Type::f16, 4, Type::f16x2}},
                                                {"bf16", {Type::bf16, 2, Type::bf16}},
                                                {"bf16x2", {Type::bf16, 4, Type::bf16x2}},
                                                {"e4m3", {Type::e4m3x2, 1, Type::none}},
                                                {"e4m3x2", {Type::e4m3x2, 2, Type::none}},
                                                {"e4m3x4", {Type::e4m3x2, 4, Type::none}},
                                                {"e5m2", {Type::e5m2x2, 1, Type::none}},
                                                {"e5m2x2", {Type::e5m2x2, 2, Type::none}},
                                                {"e5m2x4", {Type::e5m2x2, 4, Type::none}}});
}

Type bits_of(std::uint32_t bytes) {
  return bytes == 8 ? Type::b64 : bytes == 4 ? Type::b32 : bytes == 2 ? Type::b16 : Type::b8;
}

// The table of operations and base types.
bool fits(AtomOp op, Type element, bool in_memory) {
  const bool is_bits = element == Type::b32 || element == Type::b64;
  if (op == AtomOp::and_ || op == AtomOp::or_ || op == AtomOp::xor_) return is_bits;
  if (is_bits) return false;
  const bool is_integer = element <= Type::s64;
  const bool is_wide_float = element == Type::f32 || element == Type::f64;
  if (op == AtomOp::add) return element != Type::s64;
  return is_integer || (!is_wide_float && !in_memory);
}

AtomOp take_operation(TensorWords& words) {
  return words.choose<AtomOp>("the operation", {{"add", AtomOp::add},
                                                {"min", AtomOp::min},
                                                {"max", AtomOp::max},
                                                {"and", AtomOp::and_},
                                                {"or", AtomOp::or_},
                                                {"xor", AtomOp::xor_}});
}

void take_order(TensorWords& words, MultimemOp op, ptx::Modifiers& m) {
  const bool is_reduction = op == MultimemOp::reduce;
  m.order = is_reduction ? Order::relaxed : Order::weak;
  if (!is_reduction && words.take("weak")) return;
  const bool is_load = op == MultimemOp::load;
  if (words.take("relaxed")) m.order = Order::relaxed;
  if (words.take(is_load ? "acquire" : "release"))
    m.order = is_load ? Order::acquire : Order::release;
  if (words.take("cta")) m.scope = ptx::Scope::cta;
  if (words.take("cluster")) m.scope = ptx::Scope::cluster;
  if (words.take("gpu")) m.scope = ptx::Scope::gpu;
  if (words.take("sys")) m.scope = ptx::Scope::sys;
  if (m.order != Order::weak && m.scope == ptx::Scope::none) m.scope = ptx::Scope::sys;
}

// Returns the type of the element, and what else of the instruction its words say.
ElementType read(Emission& e, const ptx::Instruction& in, Multimem& multimem, ptx::Modifiers& m) {
  const std::vector<std::string_view> all = words_of(in.text);
  const std::string_view name = all.size() > 1 ? all[1] : std::string_view{};
  if (name != "ld_reduce" && name != "st" && name != "red") {
    e.refuse(in, "an operation on a multicast object of this name");
  }
  multimem.op = name == "st"    ? MultimemOp::store
                : name == "red" ? MultimemOp::reduce
                                : MultimemOp::load;
  TensorWords words{e, in, all};
  take_order(words, multimem.op, m);
  if (words.take("global")) m.space = ptx::Space::global;
  if (multimem.op != MultimemOp::store) multimem.combines = take_operation(words);
  if (words.take("acc::f32")) multimem.sum = Type::f32;
  if (words.take("acc::f16")) multimem.sum = Type::f16;
  if (words.take("v2")) m.vector = 2;
  if (words.take("v4")) m.vector = 4;
  if (words.take("v8")) m.vector = 8;
  const ElementType type = take_type(words);
  words.end();
  multimem.element = type.element;
  multimem.register_bytes = type.register_bytes;
  const std::uint32_t bytes = type.register_bytes * m.vector;
  const bool in_memory = multimem.op == MultimemOp::reduce;
  const bool has_size = bytes == 4 || bytes == 8 || bytes == 16;
  const bool may_be_vector = ptx::is_float(type.element) || is_byte_float(type.element);
  const bool is_half = type.element == Type::f16 || type.element == Type::bf16;
  const bool sums_right = multimem.sum == Type::none ||
                          (multimem.op == MultimemOp::load &&
                           (multimem.sum == Type::f32 ? is_half : is_byte_float(type.element)));
  if (!has_size || (m.vector != 1 && (!may_be_vector || type.element == Type::f64)) ||
      !sums_right || (in_memory && type.accessed == Type::none) ||
      (multimem.op != MultimemOp::store && !fits(multimem.combines, type.element, in_memory))) {
    e.refuse(in, "a combination of operation, vector and type that the ISA does not list");
  }
  m.type = in_memory ? type.accessed : bits_of(type.register_bytes);
  return type;
}

}  // namespace

void emit_multimem(Emission& e, const ptx::Instruction& in, Instr& out) {
  Multimem multimem;
  out.modifiers = {};
  read(e, in, multimem, out.modifiers);
  require_operands(e, in, 2);
  const bool is_load = multimem.op == MultimemOp::load;
  const ptx::Operand& place = in.operands[is_load ? 1 : 0];
  const ptx::Operand& value = in.operands[is_load ? 0 : 1];
  if (place.kind != Kind::address || !place.parts.empty()) e.refuse(in, "an address is missing");
  const std::vector<ptx::Operand> single{value};
  const std::vector<ptx::Operand>& parts = value.kind == Kind::vector ? value.parts : single;
  const std::uint32_t count = out.modifiers.vector;
  if (parts.size() != count) e.refuse(in, "a vector of another length");
  const bool is_wide = multimem.register_bytes == 8;
  out.kind = InstrKind::bulk_copy;
  out.packed = pack(multimem);
  out[BulkOperand::target] = address_row(e, in, place, {ptx::Space::global});
  std::vector<Ref> sources;
  for (const ptx::Operand& part : parts) {
    if (!is_load) sources.push_back(e.source(in, part, bits_of(multimem.register_bytes)));
  }
  out[BulkOperand::rows] = e.frame.rows(is_wide ? Bank::wide : Bank::word, count);
  out.address_rows = e.frame.temporary(Bank::wide).offset;
  for (std::uint32_t i = 0; i < sources.size(); ++i) {
    copy_row(e, in, row_after(out[BulkOperand::rows], i), sources[i], false);
  }
  e.push(out);
  for (std::uint32_t i = 0; is_load && i < count; ++i) {
    const Ref to = e.destination(in, parts[i]);
    if (to.bank != Bank::none) copy_row(e, in, to, row_after(out[BulkOperand::rows], i), true);
  }
}

}  // namespace warpcheck::vgpu
