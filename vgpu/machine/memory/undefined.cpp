#include "vgpu/machine/memory/undefined.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {
namespace {

bool holds_no_register(const Ref& ref) {
  return ref.bank == Bank::constant || ref.bank == Bank::none;
}

}  // namespace

UndefinedRegisters UndefinedRegisters::take() {
  UndefinedRegisters taken = std::move(*this);
  *this = {};
  reserved_ = taken.reserved_;
  return taken;
}

UndefinedRegisters UndefinedRegisters::copy() const {
  UndefinedRegisters copy;
  copy.any_ = any_;
  copy.reserved_ = reserved_;
  copy.wides_at_ = wides_at_;
  copy.predicates_at_ = predicates_at_;
  copy.rows_ = rows_;
  copy.touched_ = touched_;
  copy.bits_rows_ = bits_rows_;
  copy.guesses_ = guesses_;
  copy.swap_ = swap_;
  if (bits_ != nullptr) {
    copy.bits_ = std::make_unique_for_overwrite<LaneBits[]>(bits_rows_);
    std::copy_n(&bits_[0], bits_rows_, &copy.bits_[0]);
  }
  return copy;
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
  const std::size_t bits_rows = std::size_t{rows.word} + rows.wide;
  auto larger_bits = std::make_unique_for_overwrite<LaneBits[]>(bits_rows);
  std::copy(&bits_[0], &bits_[wides_at_], &larger_bits[0]);
  std::copy(&bits_[wides_at_], &bits_[predicates_at_], &larger_bits[rows.word]);
  wides_at_ = rows.word;
  predicates_at_ = wides_at_ + rows.wide;
  rows_ = std::move(larger);
  bits_ = std::move(larger_bits);
  bits_rows_ = bits_rows;
  touched_.assign(rows_.size() / 64 + 1, 0);
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const UndefinedLanes& old = rows_[row];
    const bool is_new = old.mask == 0 && old.origin == ptx::kNone && old.values.any() == 0;
    touched_[row / 64] |= std::uint64_t{!is_new} << (row % 64);
  }
}

std::size_t UndefinedRegisters::index_of(const FrameRows& frame, const Ref& ref) const {
  switch (ref.bank) {
    case Bank::word: return frame.word + ref.offset / kWordRowBytes;
    case Bank::wide: return wides_at_ + frame.wide + ref.offset / kWideRowBytes;
    default: return predicates_at_ + frame.predicate + ref.offset / 4;
  }
}

bool UndefinedRegisters::begin(const Ref& ref, std::uint32_t lanes, const Program& program) {
  if (holds_no_register(ref)) return false;
  if (any_) return true;
  if (lanes == 0) return false;
  any_ = true;
  const std::uint32_t wides_at = std::max(program.words_max, reserved_.word);
  const std::uint32_t predicates_at = wides_at + std::max(program.wides_max, reserved_.wide);
  const std::size_t rows = predicates_at + std::max(program.predicates_max, reserved_.predicate);
  if (rows_.size() != rows || touched_.empty()) {
    rows_.assign(rows, {});
    touched_.assign(rows / 64 + 1, 0);
  }
  wides_at_ = wides_at;
  predicates_at_ = predicates_at;
  if (predicates_at_ > bits_rows_) {
    bits_ = std::make_unique_for_overwrite<LaneBits[]>(predicates_at_);
    bits_rows_ = predicates_at_;
  }
  return true;
}

// Leaves all rows as begin() makes them.
void UndefinedRegisters::become_defined() {
  any_ = false;
  for_each_touched([&](std::uint32_t row) { rows_[row] = {}; });
  std::ranges::fill(touched_, 0);
}

UndefinedLanes UndefinedRegisters::get(const FrameRows& frame, const Ref& ref) const {
  if (!any_ || holds_no_register(ref)) return {};
  return rows_[index_of(frame, ref)];
}

LaneBits UndefinedRegisters::bits_of(const FrameRows& frame, const Ref& ref) const {
  LaneBits bits{};
  if (!any_ || holds_no_register(ref)) return bits;
  const std::size_t index = index_of(frame, ref);
  for (std::uint32_t rest = rows_[index].mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    bits[lane] = bits_[index][lane];
  }
  return bits;
}

void UndefinedRegisters::set(const FrameRows& frame, const Ref& ref, UndefinedLanes value,
                             std::uint32_t mask, const Program& program) {
  if (!begin(ref, value.mask & mask, program)) return;
  const std::size_t index = index_of(frame, ref);
  UndefinedLanes& row = rows_[index];
  row.mask = (row.mask & ~mask) | (value.mask & mask);
  row.values.whole = (row.values.whole & ~mask) | (value.values.whole & mask);
  row.values.calculated = (row.values.calculated & ~mask) | (value.values.calculated & mask);
  if (((value.mask | value.values.any()) & mask) == 0) return;
  touch(index);
  if ((value.mask & mask) == 0) return;
  row.origin = value.origin;
  if (ref.bank == Bank::predicate) return;
  const std::uint64_t all = ones_of(ref.bank == Bank::wide ? 8 : 4);
  if ((value.mask & mask) == ~0u) return bits_[index].fill(all);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    if ((value.mask & mask) >> lane & 1u) bits_[index][lane] = all;
  }
}

void UndefinedRegisters::forget(std::uint32_t origin, std::uint32_t lanes) {
  std::uint32_t left = 0;
  for_each_touched([&](std::uint32_t at) {
    if (rows_[at].origin == origin) rows_[at].mask &= ~lanes;
    left |= rows_[at].mask;
  });
  if (left == 0) become_defined();
}

void UndefinedRegisters::note_read(std::uint32_t origin, std::uint32_t lanes, const void* memory,
                                   const std::array<std::uint32_t, kWarpLanes>& offsets) {
  auto known = std::ranges::find(guesses_, origin, &Guess::origin);
  if (known == guesses_.end()) {
    if (guesses_.size() == kGuessesMax) guesses_.erase(guesses_.begin());
    known = guesses_.insert(guesses_.end(), Guess{});
  } else if (known->memory == memory) {
    std::rotate(known, known + 1, guesses_.end());
    known = guesses_.end() - 1;
  } else {
    *known = {};
  }
  known->origin = origin;
  known->memory = memory;
  known->lanes |= lanes;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    known->offsets[lane] = offsets[lane];
  }
}

std::uint32_t UndefinedRegisters::guessed_at(
    std::uint32_t origin, std::uint32_t lanes, const void* memory,
    const std::array<std::uint32_t, kWarpLanes>& offsets) const {
  const auto known = std::ranges::find(guesses_, origin, &Guess::origin);
  if (known == guesses_.end() || known->memory != memory) return 0;
  std::uint32_t there = 0;
  for (std::uint32_t rest = lanes & known->lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    there |= std::uint32_t{known->offsets[lane] == offsets[lane]} << lane;
  }
  return there;
}

void UndefinedRegisters::note_swap(const Swap& swap) {
  if (swap_.empty() || swap_[0].bytes != swap.bytes ||
      swap_[0].expected_origin != swap.expected_origin) {
    swap_.assign(1, swap);
    return;
  }
  swap_[0].lanes |= swap.lanes;
  for (std::uint32_t rest = swap.lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    swap_[0].expected[lane] = swap.expected[lane];
    swap_[0].found[lane] = swap.found[lane];
  }
}

void UndefinedRegisters::set_bits(const FrameRows& frame, const Ref& ref, const LaneBits& bits,
                                  std::uint32_t origin, std::uint32_t mask, const Program& program,
                                  const ValueLanes& values) {
  const std::uint64_t row_bits = ones_of(ref.bank == Bank::wide ? 8 : 4);
  std::uint32_t lanes = 0;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    lanes |= std::uint32_t{(bits[lane] & row_bits) != 0} << lane;
  }
  lanes &= mask;
  set(frame, ref, {lanes, origin, values}, mask, program);
  if (lanes == 0 || holds_no_register(ref) || ref.bank == Bank::predicate) return;
  LaneBits& row = bits_[index_of(frame, ref)];
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    if (lanes >> lane & 1u) row[lane] = bits[lane] & row_bits;
  }
}

}  // namespace warpcheck::vgpu
