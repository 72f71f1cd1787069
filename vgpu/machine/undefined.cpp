#include "vgpu/machine/undefined.hpp"

#include <algorithm>
#include <utility>

#include "vgpu/program/matrix.hpp"

namespace warpcheck::vgpu {

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

void UndefinedRegisters::propagate(const FrameRows& frame, const Instr& instr, std::uint32_t mask,
                                   const Program& program, std::uint32_t selector) {
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
