// Copies of tiles of tensors, which a tensor map describes: cp.async.bulk.tensor,
// cp.reduce.async.bulk.tensor and cp.async.bulk.prefetch; and changes of tensor maps:
// tensormap.replace, and tensormap.cp_fenceproxy, which copies a map to global memory.  PTX
// ISA 9.0, 5.5, 9.7.9.27, 9.7.9.28 and 9.7.13.15.
#include <algorithm>
#include <array>
#include <string_view>

#include "vgpu/program/emit/families.hpp"
#include "vgpu/program/emit/matrix_words.hpp"
#include "vgpu/program/emit/steps.hpp"
#include "vgpu/program/tensor_field.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

using ptx::Completion;
using Kind = ptx::Operand::Kind;
using ptx::Opcode;
using ptx::Space;
using ptx::Type;

namespace {

constexpr std::uint32_t kIm2colDimensionsMin = 3;

// Returns the offsets of im2col (5.5.4.1); null: there are none.
const ptx::Operand* offsets_of(Emission& e, const ptx::Instruction& in) {
  const ptx::Modifiers& m = in.modifiers;
  if (m.im2col && m.dimensions < kIm2colDimensionsMin) {
    e.refuse(in, "a copy in the mode im2col of a tensor with fewer than three dimensions");
  }
  if (m.four_rows && (m.dimensions != 2 || m.im2col)) {
    e.refuse(in, "a copy of four rows of a tensor that has not two dimensions");
  }
  if (!m.im2col || m.space != Space::shared) return nullptr;
  const ptx::Operand& offsets = in.operands[3];
  const bool is_one =
      offsets.kind == Kind::vector && !offsets.pair && offsets.parts.size() + 2 == m.dimensions;
  if (!is_one) e.refuse(in, "two offsets fewer than dimensions are missing");
  return &offsets;
}

// `[map, {x, y}]`; with .tile::gather4 and .tile::scatter4 `[map, {x, y0, y1, y2, y3}]`
void emit_tensor(Emission& e, const ptx::Instruction& in, const ptx::Operand& tensor, Instr& out) {
  const std::size_t dimensions = ptx::coordinates_of(in.modifiers);
  const bool is_tensor = tensor.kind == Kind::address && tensor.parts.size() == 1 &&
                         tensor.parts[0].kind == Kind::vector && !tensor.parts[0].pair;
  if (!is_tensor || tensor.parts[0].parts.size() != dimensions) {
    e.refuse(in, in.modifiers.four_rows ? "a column and four rows are missing"
                                        : "as many coordinates as dimensions are missing");
  }
  out[TensorOperand::map] = address_row(e, in, tensor, {Space::generic});
  const ptx::Operand* const offsets = offsets_of(e, in);
  const std::size_t rows = dimensions + (offsets == nullptr ? 0 : offsets->parts.size());
  const Ref first = e.frame.rows(Bank::word, static_cast<std::uint32_t>(rows));
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    const Ref from = e.source(in, tensor.parts[0].parts[i], Type::b32);
    copy_row(e, in, row_after(first, i), from, false);
  }
  for (std::uint32_t i = 0; i + dimensions < rows; ++i) {
    const Ref from = e.source(in, offsets->parts[i], Type::b16);
    copy_row(e, in, row_after(first, static_cast<std::uint32_t>(dimensions) + i), from, false);
  }
  out[TensorOperand::coordinates] = first;
}

}  // namespace

void emit_tensor_copy(Emission& e, const ptx::Instruction& in, Instr& out) {
  const ptx::Modifiers& m = in.modifiers;
  if (!m.tensor || m.dimensions == 0) e.refuse(in, "a copy of a tensor without its dimensions");
  if (m.prefetch) return emit_prefetch(e, in, out);
  const bool to_shared = m.space == Space::shared && m.source_space == Space::global &&
                         m.completion == Completion::object && !m.reduce;
  const bool to_global = m.space == Space::global && m.source_space == Space::shared &&
                         m.completion == Completion::bulk_group && !m.cluster && !m.multicast;
  const bool reduces_right = m.reduce == (m.atom_op != ptx::AtomOp::none);
  const bool is_known = (to_shared || to_global) && reduces_right && m.type == Type::none &&
                        !m.read && !m.cp_mask && (!m.multicast || m.cluster) &&
                        (m.cta_group == 0 || to_shared) && !(m.four_rows && m.reduce);
  const std::size_t blocks = m.im2col ? 4 : 3;
  const std::size_t operands = to_shared ? blocks + (m.multicast ? 1 : 0) : 2;
  if (!is_known || in.operands.size() != operands) e.refuse(in, "a copy of a tensor of this kind");
  out.kind = InstrKind::tensor_copy;
  const std::size_t shared = to_shared ? 0 : 1;
  if (in.operands[shared].kind != Kind::address || !in.operands[shared].parts.empty()) {
    e.refuse(in, "an address of shared memory is missing");
  }
  const Place there{Space::shared, m.cluster};
  out[TensorOperand::shared] = address_row(e, in, in.operands[shared], there);
  emit_tensor(e, in, in.operands[1 - shared], out);
  if (to_shared) out[TensorOperand::object] = address_row(e, in, in.operands[2], there);
  if (m.multicast) out[TensorOperand::blocks] = e.source(in, in.operands[blocks], Type::b16);
  out[TensorOperand::rows] = e.frame.rows(Bank::word, kTensorWordRows);
  out.address_rows = e.frame.rows(Bank::wide, kTensorAddressRows).offset;
  e.push(out);
}

void emit_prefetch(Emission& e, const ptx::Instruction& in, Instr& out) {
  const ptx::Modifiers& m = in.modifiers;
  const bool is_known = m.space == Space::global && m.source_space == Space::generic &&
                        m.completion == Completion::none && !m.cluster && !m.multicast &&
                        !m.reduce && !m.read && !m.cp_mask && m.cta_group == 0 &&
                        m.type == Type::none;
  if (!is_known) e.refuse(in, "a prefetch of this kind");
  out.kind = InstrKind::nop;
  e.push(out);
}

namespace {

Space space_of_map(const std::vector<std::string_view>& words) {
  if (has(words, "shared::cta")) return Space::shared;
  return has(words, "global") ? Space::global : Space::generic;
}

// tensormap.replace.tile.FIELD{.SPACE}.b1024.TYPE [map], {ordinal,} value
void emit_replacement(Emission& e, const ptx::Instruction& in, Instr& out) {
  const std::vector<std::string_view> words = words_of(in.text);
  const TensorFieldRow* const row = words.size() > 3 ? find_tensor_field(words[3]) : nullptr;
  const bool is_wide = has(words, "b64");
  if (row == nullptr || !has(words, "tile") || !has(words, "b1024") || is_wide != row->is_wide) {
    e.refuse(in, "a field of this name in a tensor map");
  }
  const std::size_t operands = row->dimensions == 0 ? 2 : 3;
  if (in.operands.size() != operands) e.refuse(in, "a replacement with other operands");
  std::uint64_t ordinal = 0;
  if (row->dimensions != 0) {
    const ptx::Operand& which = in.operands[1];
    if (which.kind != Kind::immediate || which.bits >= row->dimensions) {
      e.refuse(in, "an ordinal that no dimension has");
    }
    ordinal = which.bits;
  }
  const ptx::Operand& value = in.operands.back();
  constexpr std::uint64_t kFlips = 2;  // .swizzle_atomicity: 32 bytes, and flips of 8
  const bool flips = row->field == TensorField::atomicity && value.bits == kFlips;
  if (row->values != 0 && (value.kind != Kind::immediate || value.bits >= row->values || flips)) {
    e.refuse(in, "a value that tensor maps here do not have");
  }
  out.kind = InstrKind::tensor_copy;
  out.modifiers.space = space_of_map(words);
  out.packed = pack(TensorReplacement{row->field, static_cast<std::uint32_t>(ordinal)});
  out[TensorOperand::map] = address_row(e, in, in.operands[0], {out.modifiers.space});
  out[TensorOperand::coordinates] = e.source(in, value, is_wide ? Type::b64 : Type::b32);
  out[TensorOperand::rows] = e.frame.rows(Bank::word, kTensorWordRows);
  out.address_rows = e.frame.rows(Bank::wide, kTensorAddressRows).offset;
  e.push(out);
}

// Copies one word of each lane from shared to global memory, followed by a fence.  The lanes meet
// before the copy and after it, so it is one operation of the warp (TensorCopies::copy_map).
void emit_fenced_copy(Emission& e, const ptx::Instruction& in, Instr& out) {
  const std::vector<std::string_view> words = words_of(in.text);
  constexpr std::array<std::string_view, 6> kWords = {
      "global", "shared::cta", "tensormap::generic", "release", "sync", "aligned"};
  const bool is_known =
      std::ranges::all_of(kWords, [&](std::string_view word) { return has(words, word); }) &&
      in.operands.size() == 3 && in.operands[2].kind == Kind::immediate &&
      in.operands[2].bits == 4 * kWarpLanes;
  if (!is_known) e.refuse(in, "a copy of a tensor map of this kind");
  const Ref lane = lane_number(e, in);
  const Ref offset =
      calculate(e, in, Opcode::shl_, Type::b32, {shuffled(e, in, lane, lane), e.constants.word(2)});
  const auto word_of_lane = [&](std::size_t operand, Space space) {
    return calculate(e, in, Opcode::add_, Type::u64,
                     {address_row(e, in, in.operands[operand], {space}), widened(e, in, offset)});
  };
  Instr copy = out;
  copy.kind = InstrKind::tensor_copy;
  copy.modifiers = {};
  copy.modifiers.sync = true;
  copy[TensorOperand::shared] = word_of_lane(1, Space::shared);
  copy[TensorOperand::map] = word_of_lane(0, Space::global);
  copy[TensorOperand::rows] = e.frame.rows(Bank::word, kTensorWordRows);
  copy.address_rows = e.frame.rows(Bank::wide, kTensorAddressRows).offset;
  e.push(copy);
  shuffled(e, in, lane, lane);
  copy.kind = InstrKind::copy_group;
  copy.operands = {};
  e.push(copy);
  out.kind = InstrKind::fence;
  out.opcode = Opcode::fence_;
  out.modifiers = {};
  out.modifiers.order = ptx::Order::release;
  out.modifiers.tensor_map = true;
  out.modifiers.scope = has(words, "cta")       ? ptx::Scope::cta
                        : has(words, "cluster") ? ptx::Scope::cluster
                        : has(words, "gpu")     ? ptx::Scope::gpu
                                                : ptx::Scope::sys;
  e.push(out);
}

}  // namespace

void emit_tensor_map(Emission& e, const ptx::Instruction& in, Instr& out) {
  if (in.text.starts_with("tensormap.replace.")) return emit_replacement(e, in, out);
  if (in.text.starts_with("tensormap.cp_fenceproxy.")) return emit_fenced_copy(e, in, out);
  e.refuse(in, "an instruction on tensor maps of this name");
}

}  // namespace warpcheck::vgpu
