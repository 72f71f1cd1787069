// Copies of tiles of tensors, which a tensor map describes: cp.async.bulk.tensor,
// cp.reduce.async.bulk.tensor and cp.async.bulk.prefetch.  PTX ISA 9.0, 5.5 and 9.7.9.27.
#include "vgpu/program/emit/families.hpp"
#include "vgpu/program/emit/steps.hpp"

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

}  // namespace warpcheck::vgpu
