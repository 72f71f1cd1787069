// Instructions on tensor memory: tcgen05.  Source: PTX ISA 9.0, 9.7.16.7 - 9.7.16.12.
#include <algorithm>

#include "vgpu/program/emit/families.hpp"
#include "vgpu/program/emit/matrix_words.hpp"
#include "vgpu/program/emit/tensor_instr.hpp"
#include "vgpu/program/shared_windows.hpp"

namespace warpcheck::vgpu {

using Kind = ptx::Operand::Kind;
using ptx::Space;
using ptx::Type;

namespace {

struct Form {
  Emission& e;
  const ptx::Instruction& in;
  TensorWords words;
  Instr& out;

  [[nodiscard]] const ptx::Operand& operand(std::size_t at) const { return in.operands[at]; }
  [[nodiscard]] Ref word(std::size_t at) const { return e.source(in, operand(at), Type::b32); }
  void push(TensorMemoryInstr tensor) const {
    words.end();
    push_tensor(e, out, std::move(tensor));
  }
  void require_warp() {
    words.require("sync");
    words.require("aligned");
  }
};

void emit_allocation(Form& form, TensorOp op) {
  TensorMemoryInstr tensor{.op = op};
  tensor.ctas = form.words.take_group();
  form.require_warp();
  if (op == TensorOp::relinquish) {
    require_operands(form.e, form.in, 0);
    return form.push(std::move(tensor));
  }
  form.words.require("b32");
  require_operands(form.e, form.in, 2);
  if (op == TensorOp::allocate) {
    if (form.words.take("shared::cta")) tensor.space = Space::shared;
    tensor.address = address_row(form.e, form.in, form.operand(0), {tensor.space});
  } else {
    tensor.address = form.word(0);
  }
  tensor.columns = form.word(1);
  form.push(std::move(tensor));
}

std::uint32_t repetitions_of(Form& form, TensorShape shape) {
  const auto count = form.words.choose<std::uint32_t>("the number .x1 to .x128", {{"x1", 1},
                                                                                  {"x2", 2},
                                                                                  {"x4", 4},
                                                                                  {"x8", 8},
                                                                                  {"x16", 16},
                                                                                  {"x32", 32},
                                                                                  {"x64", 64},
                                                                                  {"x128", 128}});
  constexpr std::uint32_t kRegistersMax = 128;
  if (count * registers_of(shape) > kRegistersMax) {
    form.e.refuse(form.in, fmt::format("the number .x{} with this shape", count));
  }
  return count;
}

// .red: the words of the operation instead of .b32.
TensorReduction reduction_of(Form& form) {
  TensorReduction reduction;
  reduction.type = form.words.choose<Type>(
      "the type .f32, .u32 or .s32", {{"f32", Type::f32}, {"u32", Type::u32}, {"s32", Type::s32}});
  reduction.is_max = form.words.choose<bool>(".min or .max", {{"min", false}, {"max", true}});
  if (reduction.type != Type::f32) return reduction;
  reduction.absolute = form.words.take("abs");
  reduction.propagates_nan = form.words.take("NaN");
  return reduction;
}

void require_words(const Form& form, const TensorMemoryInstr& tensor) {
  const bool is_load = tensor.op == TensorOp::load;
  const bool reduces = tensor.reduction.type != Type::none;
  const auto is_word = [&](const Ref& row) {
    return row.bank == Bank::word ||
           (is_load ? row.bank == Bank::none : row.bank == Bank::constant);
  };
  if (!std::ranges::all_of(tensor.values, is_word) || (reduces && !is_word(tensor.reduced))) {
    form.e.refuse(form.in, "its registers have 32 bits");
  }
}

void emit_move(Form& form, TensorOp op) {
  Emission& e = form.e;
  TensorMemoryInstr tensor{.op = op};
  form.require_warp();
  const bool reduces = op == TensorOp::load && form.words.take("red");
  if (reduces) {
    tensor.reduction = reduction_of(form);
  } else {
    form.words.require("b32");
  }
  tensor.shape = form.words.choose<TensorShape>("the shape", {{"32x32b", TensorShape::m32x32},
                                                              {"16x64b", TensorShape::m16x64},
                                                              {"16x128b", TensorShape::m16x128},
                                                              {"16x256b", TensorShape::m16x256},
                                                              {"16x32bx2", TensorShape::m16x32x2}});
  const std::uint32_t count = repetitions_of(form, tensor.shape) * registers_of(tensor.shape);
  const bool has_half = tensor.shape == TensorShape::m16x32x2;
  if (reduces && (count < 2 || (tensor.shape != TensorShape::m32x32 && !has_half))) {
    e.refuse(form.in, "with .red, the shape is .32x32b or .16x32bx2, and the number .x2 or more");
  }
  if (!reduces) tensor.packs = form.words.take(op == TensorOp::load ? "pack::16b" : "unpack::16b");
  require_operands(e, form.in, (has_half ? 3 : 2) + (reduces ? 1 : 0));
  const bool is_load = op == TensorOp::load;
  const ptx::Operand& registers = form.operand(is_load ? 0 : (has_half ? 2 : 1));
  const std::size_t address = is_load ? (reduces ? 2 : 1) : 0;
  tensor.address = tensor_address(e, form.in, form.operand(address), tensor.offset);
  if (has_half) tensor.half_offset = form.word(address + 1);
  if (reduces) tensor.reduced = e.destination(form.in, form.operand(1));
  const bool is_one = registers.kind != Kind::vector && count == 1;
  if (!is_one && (registers.kind != Kind::vector || registers.parts.size() != count)) {
    e.refuse(form.in, fmt::format("a vector of {} registers is missing", count));
  }
  const auto add = [&](const ptx::Operand& one) {
    tensor.values.push_back(is_load ? e.destination(form.in, one)
                                    : e.source(form.in, one, Type::b32));
  };
  if (is_one) {
    add(registers);
  } else {
    for (const ptx::Operand& one : registers.parts) add(one);
  }
  require_words(form, tensor);
  form.push(std::move(tensor));
}

void emit_wait(Form& form, TensorOp op) {
  form.require_warp();
  require_operands(form.e, form.in, 0);
  form.push({.op = op});
}

void emit_tensor_fence(Form& form, TensorOp op) {
  require_operands(form.e, form.in, 0);
  form.push({.op = op});
}

void emit_commit(Form& form) {
  TensorMemoryInstr tensor{.op = TensorOp::commit};
  tensor.ctas = form.words.take_group();
  form.words.require("mbarrier::arrive::one");
  form.words.require("b64");
  if (form.words.take("shared::cluster")) tensor.space = Space::shared;
  const bool is_multicast = form.words.take("multicast::cluster");
  require_operands(form.e, form.in, is_multicast ? 2 : 1);
  tensor.address = address_row(form.e, form.in, form.operand(0), {tensor.space, true});
  if (form.e.layout.has_ranks) tensor.shared_begin = kClusterOffset;
  if (is_multicast) tensor.blocks = form.e.source(form.in, form.operand(1), Type::b16);
  form.push(std::move(tensor));
}

void emit_tensor_copy_in(Form& form) {
  using Spread = TensorCopy::Spread;
  TensorMemoryInstr tensor{.op = TensorOp::copy};
  tensor.ctas = form.words.take_group();
  struct Shape {
    std::uint32_t lanes, bytes;
  };
  const Shape shape = form.words.choose<Shape>("the shape", {{"128x256b", {128, 32}},
                                                             {"4x256b", {4, 32}},
                                                             {"128x128b", {128, 16}},
                                                             {"64x128b", {64, 16}},
                                                             {"32x128b", {32, 16}}});
  tensor.copy.lanes = shape.lanes;
  tensor.copy.bytes = shape.bytes;
  if (shape.lanes == 64) {
    tensor.copy.spread = form.words.choose<Spread>(
        ".warpx2::02_13 or .warpx2::01_23",
        {{"warpx2::02_13", Spread::pairs_02_13}, {"warpx2::01_23", Spread::pairs_01_23}});
  } else if (shape.lanes == 32) {
    form.words.require("warpx4");
    tensor.copy.spread = Spread::all;
  }
  if (form.words.take("b8x16")) {
    tensor.copy.source = form.words.choose<TensorCopy::Source>(
        "the format of the source",
        {{"b6x16_p32", TensorCopy::Source::b6x16}, {"b4x16_p64", TensorCopy::Source::b4x16}});
  }
  require_operands(form.e, form.in, 2);
  tensor.address = tensor_address(form.e, form.in, form.operand(0), tensor.offset);
  tensor.a = form.e.source(form.in, form.operand(1), Type::b64);
  form.push(std::move(tensor));
}

void emit_shift(Form& form) {
  TensorMemoryInstr tensor{.op = TensorOp::shift};
  tensor.ctas = form.words.take_group();
  form.words.require("down");
  require_operands(form.e, form.in, 1);
  tensor.address = tensor_address(form.e, form.in, form.operand(0), tensor.offset);
  form.push(std::move(tensor));
}

}  // namespace

void emit_tensor_memory(Emission& e, const ptx::Instruction& in, Instr& out) {
  const std::vector<std::string_view> words = words_of(in.text);
  const std::string_view name = words.size() > 1 ? words[1] : std::string_view{};
  if (name.empty()) e.refuse(in, "an operation is missing");
  if (name == "mma") return emit_tensor_product(e, in, words, out);
  Form form{e, in, {e, in, words}, out};
  if (name == "alloc") return emit_allocation(form, TensorOp::allocate);
  if (name == "dealloc") return emit_allocation(form, TensorOp::deallocate);
  if (name == "relinquish_alloc_permit") return emit_allocation(form, TensorOp::relinquish);
  if (name == "ld") return emit_move(form, TensorOp::load);
  if (name == "st") return emit_move(form, TensorOp::store);
  if (name == "wait::ld") return emit_wait(form, TensorOp::wait_loads);
  if (name == "wait::st") return emit_wait(form, TensorOp::wait_stores);
  if (name == "fence::before_thread_sync") return emit_tensor_fence(form, TensorOp::fence_before);
  if (name == "fence::after_thread_sync") return emit_tensor_fence(form, TensorOp::fence_after);
  if (name == "commit") return emit_commit(form);
  if (name == "cp") return emit_tensor_copy_in(form);
  if (name == "shift") return emit_shift(form);
  e.refuse(in, "the virtual GPU has no such instruction");
}

}  // namespace warpcheck::vgpu
