// How undefined bits pass through instructions.
#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <cstring>
#include <optional>
#include <utility>

#include "vgpu/machine/memory/known_bits.hpp"
#include "vgpu/machine/memory/undefined.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"
#include "vgpu/program/matrix.hpp"
#include "vgpu/program/unpacking.hpp"
#include "vgpu/ptx/opcode.hpp"
#include "vgpu/ptx/opcode_row.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Opcode;
using ptx::Type;

// Returns the operands whose bits the instruction moves, if it only moves bits as its other
// operands say.  It then acts on undefined bits as it acts on values.  None: it does more than
// that.
OperandSet moved_operands(const Instr& instr, ptx::UndefinedRule rule) {
  using enum ComputeOperand;
  const ptx::Modifiers& m = instr.modifiers;
  const bool converts = instr.opcode == Opcode::cvt_;
  if (m.type == Type::pred) return {};
  if (converts && (!ptx::is_integer(m.type) || !ptx::is_integer(m.source_type) || m.sat || m.pack))
    return {};
  switch (rule) {
    case ptx::UndefinedRule::moves: return unpacks(instr) ? OperandSet{a} : OperandSet{a, b, c, f};
    case ptx::UndefinedRule::moves_a: return {a};
    case ptx::UndefinedRule::moves_ab: return {a, b};
    default: return {};
  }
}

// Returns the truth table, in lop3's form, of and, or, xor and lop3; none: the operands are
// predicates, or the result has another type.
std::optional<std::uint32_t> truth_table(const Instr& instr) {
  constexpr std::uint32_t kA = 0xf0, kB = 0xcc;
  if (instr.modifiers.type == Type::pred || instr.modifiers.bool_op != ptx::BoolOp::none) {
    return std::nullopt;
  }
  switch (instr.opcode) {
    case Opcode::and_: return kA & kB;
    case Opcode::or_: return kA | kB;
    case Opcode::xor_: return kA ^ kB;
    case Opcode::not_: return ~kA & 0xff;
    default: return static_cast<std::uint32_t>(instr.truth_table) & 0xff;
  }
}

// Returns whether the instruction is an integer sum or product, or a sum with the carry flag.
bool is_arithmetic(const Instr& instr, ptx::UndefinedRule rule) {
  const ptx::Modifiers& m = instr.modifiers;
  if (!ptx::is_integer(m.type) || m.sat) return false;
  if (rule == ptx::UndefinedRule::sum) return true;
  return rule == ptx::UndefinedRule::product && !m.carry_out && m.part != ptx::MulPart::hi;
}
bool carries(const Instr& instr) {
  return instr.modifiers.carry_out || instr[CarryOperand::carry_in].bank != Bank::none;
}

// Returns whether each half of the result depends only on the same halves of the sources.  That
// holds for all instructions on pairs except comparisons and conversions.
bool is_by_halves(const Instr& instr, ptx::UndefinedRule rule) {
  return ptx::half_bytes_of(instr.modifiers.type) != 0 && instr.opcode != Opcode::cvt_ &&
         rule != ptx::UndefinedRule::comparison;
}

template <typename Visit>  // visit(register number, its row)
void for_each_register(const MatrixProduct& product, MatrixOperand which, const Instr& instr,
                       Visit&& visit) {
  for (std::uint32_t reg = 0; reg < registers_of(product, which); ++reg) {
    visit(reg, row_after(instr[which], reg));
  }
}
template <typename Visit>  // visit(lane, the register's bits, its position)
void for_each_element(const MatrixProduct& product, MatrixOperand which, std::uint32_t reg,
                      Visit&& visit) {
  const std::uint32_t width = element_bits(product, which);
  const std::uint64_t lowest = ~std::uint64_t{0} >> (64 - width);
  const ElementPlaces places(product, which);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    for (std::uint32_t part = 0; part < places.parts(); ++part) {
      visit(lane, lowest << part * width, places.at(lane, reg, part));
    }
  }
}

std::uint64_t extended(std::uint64_t value, std::uint32_t bytes) {
  const unsigned unused = 64 - 8 * bytes;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
}

// Returns the value of every lane, with as many bits as the row has.
LaneBits values_of(const LaneBanks& banks, const Ref& ref, std::uint32_t bytes) {
  LaneBits values;
  const auto take = [&](auto word, std::uint32_t stride) {
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      std::memcpy(&word, row_of(banks, ref) + lane * stride, sizeof word);
      values[lane] = word;
    }
  };
  switch (bytes) {
    case 1: take(std::uint8_t{}, 4); break;
    case 2: take(std::uint16_t{}, 4); break;
    case 8: take(std::uint64_t{}, 8); break;
    default: take(std::uint32_t{}, 4); break;
  }
  return values;
}

}  // namespace

// An instruction, with the undefined bits of its operands.
struct UndefinedRegisters::Flow {
  UndefinedRegisters& registers;
  const FrameRows& frame;
  const LaneBanks& banks;
  const Instr& instr;
  std::uint32_t mask;
  const Program& program;
  ByOperand<UndefinedLanes> operand{};
  UndefinedLanes any{};  // lanes with an undefined bit in some source
  // lanes whose result is completely undefined: by the guard or a control operand
  UndefinedLanes all{};
  ValueLanes of_result{0, ~0u};

  void add(UndefinedLanes& to, const UndefinedLanes& from, std::uint32_t lanes) const {
    if ((from.mask & lanes) == 0) return;
    to.mask |= from.mask & lanes;
    to.origin = from.origin;
  }
  template <OperandName Name>
  [[nodiscard]] LaneBits bits(Name source) const {
    return registers.bits_of(frame, instr[source]);
  }
  template <OperandName Name>
  void set(Name destination, UndefinedLanes value) const {
    value.values = of_result;
    registers.set(frame, instr[destination], value, mask, program);
  }
  void set_bits(ComputeOperand destination, LaneBits value) const {
    const Ref& ref = instr[destination];
    if (ref.bank == Bank::none) return;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      if ((all.mask >> lane & 1u) != 0) value[lane] = ~std::uint64_t{0};
    }
    registers.set_bits(frame, ref, value, origin_of(value), mask, program,
                       {of_result.whole, of_result.calculated | all.mask});
  }

  void read_operands();
  [[nodiscard]] std::uint32_t origin_of(const LaneBits& result) const;
  [[nodiscard]] std::ptrdiff_t moved_sources(OperandSet moved) const;
  void set_whole(const UndefinedLanes& value) const;
  void take_values(OperandSet moved);
  [[nodiscard]] std::uint32_t lanes_multiplied() const;
  [[nodiscard]] bool is_copy() const;
  void copy() const;
  void move(OperandSet moved);
  void decide(std::uint32_t table);
  void calculate() const;
  void carry_on() const;
  void by_halves() const;
  void compute_whole();
  [[nodiscard]] UndefinedLanes compared() const;
  [[nodiscard]] bool is_result_of_swap(const Known& left, const Known& right, unsigned lane) const;
  [[nodiscard]] std::uint32_t decided_lanes() const;
  void multiply_matrices() const;
  bool add_words() const;
};

void UndefinedRegisters::Flow::read_operands() {
  for (const ComputeOperand source : kComputeSources) {
    // The other operands are destinations.
    if (source != ComputeOperand::a && unpacks(instr)) continue;
    operand[source] = registers.get(frame, instr[source]);
    operand[source].mask &= mask;
    add(any, operand[source], mask);
  }
  const UndefinedLanes guard = registers.get(frame, instr.guard);
  add(all, guard, mask);
  add(any, guard, mask);
}

// Returns the origin of the first lane with an undefined result.
std::uint32_t UndefinedRegisters::Flow::origin_of(const LaneBits& result) const {
  unsigned lane = 0;
  while (lane < kWarpLanes && ((mask >> lane & 1u) == 0 || result[lane] == 0)) ++lane;
  if (lane == kWarpLanes) return ptx::kNone;
  if ((all.mask >> lane & 1u) != 0) return all.origin;
  const bool selects = instr.opcode == Opcode::selp_;
  const ComputeOperand taken =
      selects && (read_predicate(banks, instr[ComputeOperand::c]) >> lane & 1u) == 0
          ? ComputeOperand::b
          : ComputeOperand::a;
  for (const ComputeOperand source : kComputeSources) {
    if (selects && source != taken) continue;
    if ((operand[source].mask >> lane & 1u) != 0) return operand[source].origin;
  }
  return any.origin;
}

std::ptrdiff_t UndefinedRegisters::Flow::moved_sources(OperandSet moved) const {
  return std::ranges::count_if(kComputeSources, [&](ComputeOperand source) {
    return moved.has(source) && instr[source].bank != Bank::none;
  });
}

void UndefinedRegisters::Flow::set_whole(const UndefinedLanes& value) const {
  set(ComputeOperand::d, value);
  set(ComputeOperand::e, value);
  if (!unpacks(instr)) return;
  set(kUnpackedParts[2], value);
  set(kUnpackedParts[3], value);
}

// The result is a value as far as what is moved is one.  Bits of several registers, and some bits
// of one, are no longer what was loaded as a whole.
void UndefinedRegisters::Flow::take_values(OperandSet moved) {
  const bool packs = instr.opcode == Opcode::mov_ && (unpacks(instr) || moved_sources(moved) > 1);
  const bool passes_on =
      instr.opcode == Opcode::mov_ || instr.opcode == Opcode::cvt_ || instr.opcode == Opcode::selp_;
  of_result = {passes_on && !packs ? ~0u : 0, ~0u};
  for (const ComputeOperand source : kComputeSources) {
    if (!moved.has(source)) continue;
    const UndefinedLanes& from = operand[source];
    of_result.whole &= ~from.mask | from.values.whole;
    of_result.calculated &= ~from.mask | from.values.calculated;
  }
  of_result.calculated |= lanes_multiplied();
}

// Returns the lanes in which a power of two multiplies all that was loaded.  Shifts by whole bytes
// may pack, and a shifted part of a word may be a bit-field.
std::uint32_t UndefinedRegisters::Flow::lanes_multiplied() const {
  const std::uint32_t whole =
      operand[ComputeOperand::a].mask & operand[ComputeOperand::a].values.whole;
  if (instr.opcode != Opcode::shl_ || (whole & mask) == 0) return 0;
  const LaneBits counts = values_of(banks, instr[ComputeOperand::b], 4);
  std::uint32_t lanes = 0;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    lanes |= std::uint32_t{counts[lane] % 8 != 0} << lane;
  }
  return lanes & whole;
}

// Returns whether the instruction only copies a word.
bool UndefinedRegisters::Flow::is_copy() const {
  using enum ComputeOperand;
  return instr.opcode == Opcode::mov_ && instr[a].bank == Bank::word &&
         instr[d].bank == Bank::word && instr[b].bank == Bank::none &&
         instr[e].bank == Bank::none && ptx::bytes_of(instr.modifiers.type) == 4 && all.mask == 0;
}

void UndefinedRegisters::Flow::copy() const {
  const std::size_t at = registers.index_of(frame, instr[ComputeOperand::d]);
  const LaneBits& bits = registers.bits_[registers.index_of(frame, instr[ComputeOperand::a])];
  const UndefinedLanes& from = operand[ComputeOperand::a];
  UndefinedLanes& row = registers.rows_[at];
  row.mask = (row.mask & ~mask) | from.mask;
  row.values.whole = (row.values.whole & ~mask) | (of_result.whole & mask);
  row.values.calculated = (row.values.calculated & ~mask) | (of_result.calculated & mask);
  registers.touch(at);
  if (from.mask == 0) return;
  row.origin = from.origin;
  if (from.mask == ~0u) {
    registers.bits_[at] = bits;
    return;
  }
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    if ((from.mask >> lane & 1u) != 0) registers.bits_[at][lane] = bits[lane];
  }
}

// Executes the instruction on the undefined bits of the operands that it moves.
void UndefinedRegisters::Flow::move(OperandSet moved) {
  take_values(moved);
  if (is_copy()) return copy();
  alignas(64) std::array<std::byte, 6 * kWideRowBytes> rows{};
  LaneBanks there;
  there.base.fill(rows.data());
  Instr on_bits = instr;
  std::uint32_t offset = 0;
  for (Ref& ref : on_bits.operands) ref.offset = std::exchange(offset, offset + kWideRowBytes);
  for (const ComputeOperand source : kComputeSources) {
    const Ref& ref = instr[source];
    if (ref.bank == Bank::none || (source != ComputeOperand::a && unpacks(instr))) continue;
    std::byte* const row = row_of(there, on_bits[source]);
    if (!moved.has(source)) {
      add(all, operand[source], mask);
      std::size_t bytes = ref.bank == Bank::predicate ? 4
                          : ref.bank == Bank::word    ? kWordRowBytes
                                                      : kWideRowBytes;
      if (ref.bank == Bank::constant) {
        bytes = std::min<std::size_t>(bytes, program.constants.size() - ref.offset);
      }
      std::memcpy(row, row_of(banks, ref), bytes);
    } else if (operand[source].mask != 0) {
      const LaneBits undefined = bits(source);
      const std::size_t width = ref.bank == Bank::wide ? 8 : 4;
      for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
        std::memcpy(row + lane * width, &undefined[lane], width);
      }
    }
  }
  instr.compute(there, on_bits, ~0u);
  for (const ComputeOperand destination : kUnpackedParts) {
    if (destination != ComputeOperand::d && !unpacks(instr)) break;
    const Ref& ref = on_bits[destination];
    if (ref.bank == Bank::none) continue;
    set_bits(destination, values_of(there, ref, ref.bank == Bank::wide ? 8 : 4));
  }
}

// A bit of the result is undefined if the undefined bits of the operands could make it both 0 and
// 1.
void UndefinedRegisters::Flow::decide(std::uint32_t table) {
  take_values({ComputeOperand::a, ComputeOperand::b, ComputeOperand::c});
  std::array<LaneBits, 3> unknown{}, value{};
  for (std::size_t i = 0; i < 3; ++i) {
    const Ref& ref = instr[ComputeOperand::a + i];
    if (ref.bank == Bank::none) continue;
    unknown[i] = bits(ComputeOperand::a + i);
    value[i] = values_of(banks, ref, ptx::bytes_of(instr.modifiers.type));
  }
  std::array<LaneBits, 2> could_be{};
  for (std::uint32_t row = 0; row < 8; ++row) {
    const auto inverts = [&](unsigned i) { return (row >> (2 - i) & 1u) - std::uint64_t{1}; };
    const std::uint64_t of_a = inverts(0), of_b = inverts(1), of_c = inverts(2);
    LaneBits& possible = could_be[table >> row & 1u];
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      possible[lane] |= (unknown[0][lane] | (value[0][lane] ^ of_a)) &
                        (unknown[1][lane] | (value[1][lane] ^ of_b)) &
                        (unknown[2][lane] | (value[2][lane] ^ of_c));
    }
  }
  LaneBits result;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    result[lane] = could_be[0][lane] & could_be[1][lane];
    // A mask that keeps all undefined bits: how unoptimised code widens a byte.
    const bool keeps = instr.opcode == Opcode::and_ && result[lane] != 0 &&
                       (result[lane] == unknown[0][lane] || result[lane] == unknown[1][lane]);
    const UndefinedLanes &a = operand[ComputeOperand::a], &b = operand[ComputeOperand::b];
    const std::uint32_t whole = (~a.mask | a.values.whole) & (~b.mask | b.values.whole);
    of_result.whole |= whole & std::uint32_t{keeps} << lane;
  }
  set_bits(ComputeOperand::d, result);
}

// Computes lane by lane; a and b have the size of the type, c the size of the result.
void UndefinedRegisters::Flow::calculate() const {
  const ptx::Modifiers& m = instr.modifiers;
  const bool is_wide = m.part == ptx::MulPart::wide;
  const std::uint32_t bytes = ptx::bytes_of(m.type), result_bytes = is_wide ? 2 * bytes : bytes;
  std::array<LaneBits, 3> values{}, undefined{};
  for (std::size_t i = 0; i < 3; ++i) {
    const Ref& ref = instr[ComputeOperand::a + i];
    if (ref.bank == Bank::none) continue;
    values[i] = values_of(banks, ref, i == 2 ? result_bytes : bytes);
    undefined[i] = bits(ComputeOperand::a + i);
  }
  const auto operand_of = [&](std::size_t i, unsigned lane) {
    const Known known{values[i][lane], undefined[i][lane] & ones_of(bytes)};
    if (!is_wide || !ptx::is_signed(m.type)) return known;
    return Known{extended(known.value, bytes), extended(known.undefined, bytes)};
  };
  LaneBits result{};
  for (std::uint32_t rest = any.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const Known a = operand_of(0, lane), b = operand_of(1, lane);
    const Known product{a.value * b.value, undefined_of_product(a, b)};
    switch (instr.opcode) {
      case Opcode::neg_: result[lane] = undefined_of_difference({}, a); break;
      case Opcode::sub_: result[lane] = undefined_of_difference(a, b); break;
      case Opcode::add_: result[lane] = undefined_of_sum(a, b); break;
      case Opcode::mul_: result[lane] = product.undefined; break;
      default:
        result[lane] = undefined_of_sum(product, {values[2][lane], undefined[2][lane]});
        break;
    }
    result[lane] &= ones_of(result_bytes);
  }
  set_bits(ComputeOperand::d, result);
}

// Handles a + b + carry, and a - b as a + ~b + carry: see compute_carry.cpp.
void UndefinedRegisters::Flow::carry_on() const {
  const std::uint32_t bytes = ptx::bytes_of(instr.modifiers.type);
  const std::uint64_t ones = ones_of(bytes);
  const bool subtracts = instr.opcode == Opcode::sub_ || instr.opcode == Opcode::subc_;
  const bool reads_carry = instr[CarryOperand::carry_in].bank != Bank::none;
  const std::uint32_t carry_in = reads_carry ? read_predicate(banks, instr[CarryOperand::carry_in])
                                 : subtracts ? ~0u
                                             : 0;
  const LaneBits a = values_of(banks, instr[CarryOperand::a], bytes),
                 a_bits = bits(ComputeOperand::a);
  const LaneBits b = values_of(banks, instr[CarryOperand::b], bytes),
                 b_bits = bits(ComputeOperand::b);
  LaneBits result{};
  UndefinedLanes carry{all.mask, any.origin};
  for (std::uint32_t rest = any.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const Known first{a[lane], a_bits[lane] & ones};
    const Known second{(subtracts ? ~b[lane] : b[lane]) & ones, b_bits[lane] & ones};
    const Known third{carry_in >> lane & 1u, operand[CarryOperand::carry_in].mask >> lane & 1u};
    const CarriedSum sum = carried_sum(first, second, third, 8 * bytes);
    result[lane] = sum.bits;
    carry.mask |= std::uint32_t{sum.carry} << lane;
  }
  set_bits(ComputeOperand::d, result);
  set(CarryOperand::carry_out, carry);
}

void UndefinedRegisters::Flow::by_halves() const {
  const std::uint32_t half_bits = 8 * ptx::half_bytes_of(instr.modifiers.type);
  const std::uint64_t lower = ones_of(half_bits / 8);
  LaneBits result{};
  for (const ComputeOperand source : kComputeSources) {
    if (operand[source].mask == 0) continue;
    const LaneBits undefined = bits(source);
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      if ((undefined[lane] & lower) != 0) result[lane] |= lower;
      if ((undefined[lane] & ~lower) != 0) result[lane] |= lower << half_bits;
    }
  }
  set_bits(ComputeOperand::d, result);
}

// Returns whether the two values are what the lane's latest compare-and-swap has found, and the
// guess that it expected.
bool UndefinedRegisters::Flow::is_result_of_swap(const Known& left, const Known& right,
                                                 unsigned lane) const {
  const Swap* const swap = registers.latest_swap();
  if (swap == nullptr || (swap->lanes >> lane & 1u) == 0) return false;
  const std::uint64_t ones = ones_of(swap->bytes);
  const auto is = [&](const Known& known, CompareOperand which, const LaneBits& value,
                      bool is_guess) {
    const bool fits = ((known.value ^ value[lane]) & ones) == 0;
    if (!is_guess) return fits;
    return fits && known.undefined != 0 && operand[which].origin == swap->expected_origin;
  };
  using enum CompareOperand;
  return (is(left, a, swap->expected, true) && is(right, b, swap->found, false)) ||
         (is(right, b, swap->expected, true) && is(left, a, swap->found, false));
}

// Returns the lanes in which the compared bytes of a or b have an undefined bit.
UndefinedLanes UndefinedRegisters::Flow::compared() const {
  const ptx::Modifiers& m = instr.modifiers;
  const Type type = instr.opcode == Opcode::setp_ ? m.type : m.source_type;
  UndefinedLanes found;
  add(found, operand[CompareOperand::a], mask);
  add(found, operand[CompareOperand::b], mask);
  if (!ptx::is_integer(type) || found.mask == 0) return found;
  const std::uint32_t bytes = ptx::bytes_of(type);
  const LaneBits a_bits = bits(ComputeOperand::a), b_bits = bits(ComputeOperand::b);
  const LaneBits a = values_of(banks, instr[CompareOperand::a], bytes);
  const LaneBits b = values_of(banks, instr[CompareOperand::b], bytes);
  // Signed numbers compare like unsigned ones if their sign bits are inverted.
  const std::uint64_t sign = ptx::is_signed(type) ? std::uint64_t{1} << (8 * bytes - 1) : 0;
  const std::uint64_t ones = ones_of(bytes);
  const bool may_be_of_swap = is_equality(m.compare) && registers.latest_swap() != nullptr;
  for (std::uint32_t rest = found.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const Known left{a[lane], a_bits[lane] & ones}, right{b[lane], b_bits[lane] & ones};
    const bool is_decided = decides(m.compare, {left.value ^ sign, left.undefined},
                                    {right.value ^ sign, right.undefined});
    if (is_decided || (may_be_of_swap && is_result_of_swap(left, right, lane))) {
      found.mask &= ~(1u << lane);
    }
  }
  return found;
}

// Returns the lanes in which a defined predicate decides the result of an and or an or.
std::uint32_t UndefinedRegisters::Flow::decided_lanes() const {
  const ptx::Modifiers& m = instr.modifiers;
  const auto decided_by = [&](CompareOperand source, bool by_ones) {
    if (instr[source].bank == Bank::none) return 0u;
    const std::uint32_t value = read_predicate(banks, instr[source]);
    return (by_ones ? value : ~value) & ~operand[source].mask;
  };
  switch (instr.opcode) {
    case Opcode::and_:
      return decided_by(CompareOperand::a, false) | decided_by(CompareOperand::b, false);
    case Opcode::or_:
      return decided_by(CompareOperand::a, true) | decided_by(CompareOperand::b, true);
    case Opcode::set_:
    case Opcode::setp_:
      if (m.bool_op == ptx::BoolOp::and_) return decided_by(CompareOperand::c, false);
      return m.bool_op == ptx::BoolOp::or_ ? decided_by(CompareOperand::c, true) : 0;
    default: return 0;
  }
}

void UndefinedRegisters::Flow::compute_whole() {
  UndefinedLanes result = any;
  if (ptx::row_of(instr.opcode).undefined == ptx::UndefinedRule::comparison) {
    result = compared();
    add(result, operand[ComputeOperand::c], mask);
    add(result, operand[ComputeOperand::f], mask);
  }
  const bool crosses_lanes = instr.kind == InstrKind::warp || instr.kind == InstrKind::warp_sync;
  if (crosses_lanes && result.mask != 0) result.mask = mask;
  const bool is_logic = instr.opcode == Opcode::and_ || instr.opcode == Opcode::or_;
  if (!is_logic || instr.modifiers.type == Type::pred) result.mask &= ~decided_lanes();
  add(result, all, mask);
  set_whole(result);
}

// Handles a product of which only the addend has undefined elements, where these are words in the
// places of the results.  False: it is another one.
bool UndefinedRegisters::Flow::add_words() const {
  const MatrixProduct product = product_of(instr);
  const auto is_defined = [&](MatrixOperand which, std::uint32_t count) {
    for (std::uint32_t reg = 0; reg < count; ++reg) {
      if ((registers.get(frame, row_after(instr[which], reg)).mask & mask) != 0) return false;
    }
    return true;
  };
  if (element_bits(product.c) != 32 || element_bits(product.d) != 32) return false;
  for (const MatrixOperand which : {MatrixOperand::a, MatrixOperand::b}) {
    if (!is_defined(which, registers_of(product, which))) return false;
  }
  if (!is_defined(MatrixOperand::metadata, metadata_rows(product))) return false;
  std::uint32_t origin = ptx::kNone;
  const std::uint32_t count = registers_of(product, MatrixOperand::c);
  for (std::uint32_t reg = 0; reg < count; ++reg) {
    const UndefinedLanes from = registers.get(frame, row_after(instr[MatrixOperand::c], reg));
    if ((from.mask & mask) != 0) origin = from.origin;
  }
  for (std::uint32_t reg = 0; reg < count; ++reg) {
    const UndefinedLanes from = registers.get(frame, row_after(instr[MatrixOperand::c], reg));
    registers.set(frame, row_after(instr[MatrixOperand::d], reg),
                  {from.mask & mask, origin, of_result}, mask, program);
  }
  return true;
}

// An element of the product is undefined if its row of a, its column of b or its own element of c
// has an undefined element.  Metadata count as a whole.
void UndefinedRegisters::Flow::multiply_matrices() const {
  if (add_words()) return;
  const MatrixProduct product = product_of(instr);
  using Columns = std::bitset<256>;
  std::array<Columns, 32> columns_of_row;  // those that are undefined
  std::uint32_t origin = ptx::kNone;
  for (const MatrixOperand which : {MatrixOperand::a, MatrixOperand::b, MatrixOperand::c}) {
    for_each_register(product, which, instr, [&](std::uint32_t reg, const Ref& ref) {
      const UndefinedLanes from = registers.get(frame, ref);
      if ((from.mask & mask) == 0) return;
      origin = from.origin;
      const LaneBits undefined = registers.bits_of(frame, ref);
      for_each_element(product, which, reg, [&](unsigned lane, std::uint64_t bits, MatrixPlace at) {
        if ((from.mask >> lane & 1u) == 0 || (undefined[lane] & bits) == 0) return;
        if (which == MatrixOperand::a) columns_of_row[at.row].set();
        if (which == MatrixOperand::c) columns_of_row[at.row].set(at.column);
        if (which != MatrixOperand::b) return;
        for (Columns& columns : columns_of_row) columns.set(at.column);
      });
    });
  }
  for (std::uint32_t row = 0; row < metadata_rows(product); ++row) {
    const UndefinedLanes from =
        registers.get(frame, row_after(instr[MatrixOperand::metadata], row));
    if ((from.mask & mask) == 0) continue;
    origin = from.origin;
    columns_of_row.fill(Columns{}.set());
  }
  for_each_register(product, MatrixOperand::d, instr, [&](std::uint32_t reg, const Ref& ref) {
    LaneBits result{};
    for_each_element(product, MatrixOperand::d, reg,
                     [&](unsigned lane, std::uint64_t bits, MatrixPlace at) {
                       if (columns_of_row[at.row].test(at.column)) result[lane] |= bits;
                     });
    registers.set_bits(frame, ref, result, origin, mask, program, of_result);
  });
}

void UndefinedRegisters::propagate(const FrameRows& frame, const LaneBanks& banks,
                                   const Instr& instr, std::uint32_t mask, const Program& program) {
  Flow flow{*this, frame, banks, instr, mask, program};
  if (is_matrix_product(instr)) return flow.multiply_matrices();
  flow.read_operands();
  if (flow.any.mask == 0) return flow.set_whole({});
  const ptx::UndefinedRule rule = ptx::row_of(instr.opcode).undefined;
  if (const OperandSet moved = moved_operands(instr, rule); !moved.empty()) return flow.move(moved);
  if (rule == ptx::UndefinedRule::logic) {
    if (const auto table = truth_table(instr)) return flow.decide(*table);
  }
  if (is_arithmetic(instr, rule)) return carries(instr) ? flow.carry_on() : flow.calculate();
  if (is_by_halves(instr, rule)) return flow.by_halves();
  flow.compute_whole();
}

}  // namespace warpcheck::vgpu
