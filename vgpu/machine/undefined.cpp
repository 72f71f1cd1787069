#include "vgpu/machine/undefined.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "vgpu/machine/core.hpp"
#include "vgpu/program/matrix.hpp"

namespace warpcheck::vgpu {
namespace {

// The lanes of a row in which all bits are 1, or all are 0.  `type` says how many there are.
std::uint32_t lanes_with(const LaneBanks& banks, const Ref& ref, ptx::Type type, bool ones) {
  if (type == ptx::Type::pred) {
    const std::uint32_t value = read_predicate(banks, ref);
    return ones ? value : ~value;
  }
  const std::size_t bytes = ptx::bytes_of(type), stride = bytes == 8 ? 8 : 4;
  const std::uint64_t all = ones ? ~std::uint64_t{0} >> (64 - 8 * bytes) : 0;
  std::uint32_t lanes = 0;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    std::uint64_t value = 0;
    std::memcpy(&value, row_of(banks, ref) + lane * stride, bytes);
    if (value == all) lanes |= 1u << lane;
  }
  return lanes;
}

}  // namespace

void UndefinedRegisters::clear() {
  any_ = false;
  reserved_ = {};
  rows_.clear();
}

void UndefinedRegisters::reserve(const FrameRows& rows) {
  if (rows.word <= reserved_.word && rows.wide <= reserved_.wide &&
      rows.predicate <= reserved_.predicate) {
    return;
  }
  reserved_ = rows;
  if (!any_) return;
  std::vector<UndefinedLanes> larger(std::size_t{rows.word} + rows.wide + rows.predicate);
  const auto words = rows_.begin(), wides = words + wides_at_, predicates = words + predicates_at_;
  std::copy(words, wides, larger.begin());
  std::copy(wides, predicates, larger.begin() + rows.word);
  std::copy(predicates, rows_.end(), larger.begin() + rows.word + rows.wide);
  wides_at_ = rows.word;
  predicates_at_ = wides_at_ + rows.wide;
  rows_ = std::move(larger);
}

std::size_t UndefinedRegisters::index_of(const FrameRows& frame, const Ref& ref) const {
  switch (ref.bank) {
    case Bank::word: return frame.word + ref.offset / kWordRowBytes;
    case Bank::wide: return wides_at_ + frame.wide + ref.offset / kWideRowBytes;
    default: return predicates_at_ + frame.predicate + ref.offset / 4;
  }
}

UndefinedLanes UndefinedRegisters::get(const FrameRows& frame, const Ref& ref) const {
  if (!any_ || ref.bank == Bank::constant || ref.bank == Bank::none) return {};
  return rows_[index_of(frame, ref)];
}

void UndefinedRegisters::set(const FrameRows& frame, const Ref& ref, UndefinedLanes value,
                             std::uint32_t mask, const Program& program) {
  if (ref.bank == Bank::constant || ref.bank == Bank::none) return;
  if (!any_) {
    if ((value.mask & mask) == 0) return;
    any_ = true;
    wides_at_ = std::max(program.words_max, reserved_.word);
    predicates_at_ = wides_at_ + std::max(program.wides_max, reserved_.wide);
    rows_.assign(predicates_at_ + std::max(program.predicates_max, reserved_.predicate), {});
  }
  UndefinedLanes& row = rows_[index_of(frame, ref)];
  row.mask = (row.mask & ~mask) | (value.mask & mask);
  if ((value.mask & mask) != 0) row.origin = value.origin;
}

std::uint32_t UndefinedRegisters::decided_lanes(const FrameRows& frame, const LaneBanks& banks,
                                                const Instr& instr) const {
  const ptx::Modifiers& modifiers = instr.modifiers;
  const bool compares = instr.opcode == ptx::Opcode::set_ || instr.opcode == ptx::Opcode::setp_;
  const ptx::Type type = compares ? ptx::Type::pred : modifiers.type;
  const auto decided_by = [&](std::size_t operand, bool by_ones) {
    const Ref& ref = instr.refs[operand];
    if (ref.bank == Bank::none) return 0u;
    return lanes_with(banks, ref, type, by_ones) & ~get(frame, ref).mask;
  };
  switch (instr.opcode) {
    case ptx::Opcode::and_: return decided_by(1, false) | decided_by(2, false);
    case ptx::Opcode::or_: return decided_by(1, true) | decided_by(2, true);
    case ptx::Opcode::set_:
    case ptx::Opcode::setp_:
      if (modifiers.bool_op == ptx::BoolOp::and_) return decided_by(3, false);
      return modifiers.bool_op == ptx::BoolOp::or_ ? decided_by(3, true) : 0;
    default: return 0;
  }
}

void UndefinedRegisters::propagate(const FrameRows& frame, const Instr& instr, std::uint32_t mask,
                                   const Program& program, std::uint32_t selector,
                                   std::uint32_t decided) {
  UndefinedLanes result;
  const auto join = [&](const UndefinedLanes& from, std::uint32_t lanes) {
    if ((from.mask & lanes) == 0) return;
    result.mask |= from.mask & lanes;
    result.origin = from.origin;
  };
  if (instr.opcode == ptx::Opcode::selp_) {
    join(get(frame, instr.refs[1]), selector);
    join(get(frame, instr.refs[2]), ~selector);
    join(get(frame, instr.refs[3]), mask);
  } else if (is_matrix_product(instr)) {
    return propagate_product(frame, instr, mask, program);
  } else {
    for (const std::size_t source : {1, 2, 3, 5}) join(get(frame, instr.refs[source]), mask);
  }
  const bool crosses_lanes = instr.kind == InstrKind::warp || instr.kind == InstrKind::warp_sync;
  if (crosses_lanes && (result.mask & mask) != 0) result.mask = mask;
  result.mask &= ~decided;
  join(get(frame, instr.guard), mask);
  set(frame, instr.refs[0], result, mask, program);
  set(frame, instr.refs[4], result, mask, program);
}

// An undefined element makes all of the product undefined.
void UndefinedRegisters::propagate_product(const FrameRows& frame, const Instr& instr,
                                           std::uint32_t mask, const Program& program) {
  const MatrixProduct product = product_of(instr);
  const auto row = [&](std::size_t operand, std::uint32_t reg) {
    return row_after(instr.refs[operand], reg);
  };
  UndefinedLanes result;
  for (const auto& [at, which] :
       {std::pair{1u, MatrixOperand::a}, {2u, MatrixOperand::b}, {3u, MatrixOperand::c}}) {
    for (std::uint32_t reg = 0; reg < registers_of(product, which); ++reg) {
      const UndefinedLanes from = get(frame, row(at, reg));
      if ((from.mask & mask) != 0) result = {mask, from.origin};
    }
  }
  for (std::uint32_t reg = 0; reg < registers_of(product, MatrixOperand::d); ++reg) {
    set(frame, row(0, reg), result, mask, program);
  }
}

}  // namespace warpcheck::vgpu
