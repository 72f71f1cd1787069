// Emits changes of tensor maps: tensormap.replace, and tensormap.cp_fenceproxy, which copies a map
// to global memory.  PTX ISA 9.0, 9.7.9.28 and 9.7.13.15.
#include <algorithm>
#include <array>
#include <string_view>

#include "vgpu/program/emit/families.hpp"
#include "vgpu/program/emit/matrix_words.hpp"
#include "vgpu/program/emit/steps.hpp"
#include "vgpu/program/tensor_field.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

using Kind = ptx::Operand::Kind;
using ptx::Opcode;
using ptx::Space;
using ptx::Type;

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
  const auto word_of_lane = [&](std::size_t operand, ptx::Space space) {
    return calculate(e, in, Opcode::add_, Type::u64,
                     {address_row(e, in, in.operands[operand], {space}), widened(e, in, offset)});
  };
  Instr copy = out;
  copy.kind = InstrKind::tensor_copy;
  copy.modifiers = {};
  copy.modifiers.sync = true;
  copy[TensorOperand::shared] = word_of_lane(1, ptx::Space::shared);
  copy[TensorOperand::map] = word_of_lane(0, ptx::Space::global);
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
