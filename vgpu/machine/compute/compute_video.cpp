// Video instructions: PTX ISA 9.0, 9.7.18 (scalar), 9.7.19 (on two halves or four bytes).
//
// Instr::packed encodes what the operands select (video.hpp).  Compiled once, because these
// instructions are rare; today's GPUs also implement them in software.
#define WARPCHECK_SIMD portable

#include <algorithm>
#include <cstdint>

#include "vgpu/machine/compute/compute_families.hpp"
#include "vgpu/machine/compute/lanes.hpp"
#include "vgpu/program/video.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu::portable {
namespace {

using ptx::AtomOp;
using ptx::Compare;
using ptx::Opcode;
using ptx::Type;
using Word = std::uint32_t;
using Int = __int128;  // so that nothing overflows

enum class Operation : std::uint8_t {
  none,
  add,
  sub,
  average,
  difference,
  min,
  max,
  set,
  shift_left,
  shift_right,
};

Operation operation_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::vadd_:
    case Opcode::vadd2_:
    case Opcode::vadd4_: return Operation::add;
    case Opcode::vsub_:
    case Opcode::vsub2_:
    case Opcode::vsub4_: return Operation::sub;
    case Opcode::vavrg2_:
    case Opcode::vavrg4_: return Operation::average;
    case Opcode::vabsdiff_:
    case Opcode::vabsdiff2_:
    case Opcode::vabsdiff4_: return Operation::difference;
    case Opcode::vmin_:
    case Opcode::vmin2_:
    case Opcode::vmin4_: return Operation::min;
    case Opcode::vmax_:
    case Opcode::vmax2_:
    case Opcode::vmax4_: return Operation::max;
    case Opcode::vset_:
    case Opcode::vset2_:
    case Opcode::vset4_: return Operation::set;
    case Opcode::vshl_: return Operation::shift_left;
    case Opcode::vshr_: return Operation::shift_right;
    default: return Operation::none;
  }
}

bool holds(Compare compare, Int a, Int b) {
  switch (compare) {
    case Compare::eq: return a == b;
    case Compare::ne: return a != b;
    case Compare::lt: return a < b;
    case Compare::le: return a <= b;
    case Compare::gt: return a > b;
    default: return a >= b;
  }
}

// Returns bits [begin, begin + bits) of a register, extended.
Int part_of(Word x, unsigned begin, unsigned bits, bool is_signed) {
  const Word top = x << (32 - bits - begin);
  if (is_signed) return static_cast<std::int32_t>(top) >> (32 - bits);
  return top >> (32 - bits);
}

Int clamped_to(Int x, unsigned bits, bool is_signed) {
  const Int lowest = is_signed ? -(Int{1} << (bits - 1)) : 0;
  const Int highest = (Int{1} << (is_signed ? bits - 1 : bits)) - 1;
  return std::clamp(x, lowest, highest);
}

// The common part of all instructions except vmad.
struct Video {
  explicit Video(const Instr& instr)
      : operation(operation_of(instr.opcode)),
        operands(video_operands(instr.packed)),
        saturates(instr.modifiers.sat),
        wraps(instr.modifiers.wrap),
        second(instr.modifiers.atom_op),
        compare(instr.modifiers.compare) {
    const ptx::Modifiers& m = instr.modifiers;
    const bool set = operation == Operation::set;  // vset4.atype.btype: u32 result
    signed_result = !set && ptx::is_signed(m.type);
    signed_a = ptx::is_signed(set ? m.type : m.source_type);
    signed_b = ptx::is_signed(set ? m.source_type : m.third_type);
  }

  [[nodiscard]] Int calculated(Int a, Int b) const {
    switch (operation) {
      case Operation::add: return a + b;
      case Operation::sub: return a - b;
      // Halves are rounded away from zero.
      case Operation::average: return (a + b >= 0 ? a + b + 1 : a + b) >> 1;
      case Operation::difference: return a < b ? b - a : a - b;
      case Operation::min: return std::min(a, b);
      case Operation::max: return std::max(a, b);
      case Operation::shift_left: return a * (Int{1} << amount(b));
      case Operation::shift_right: return a >> amount(b);
      default: return holds(compare, a, b) ? 1 : 0;
    }
  }
  // Returns the shift amount.
  [[nodiscard]] unsigned amount(Int b) const {
    return static_cast<unsigned>(wraps ? b & 31 : std::min(b, Int{32}));
  }

  Operation operation;
  VideoOperands operands;
  bool saturates, wraps;
  AtomOp second;
  Compare compare;
  bool signed_result, signed_a, signed_b;
};

struct ScalarVideo : Video {
  using Video::Video;

  // An unsigned result in a whole register is clamped only if it is negative; a value that is too
  // large wraps, although the ISA says otherwise (seen on sm_90).
  [[nodiscard]] Int clamped(Int x) const {
    if (operands.d.bits == 32 && !signed_result) return std::max(x, Int{0});
    return clamped_to(x, operands.d.bits, signed_result);
  }

  // Returns whether the result is less than c (which has the type of a if the result has none), for
  // min and max.  A distance is compared in full precision; for unsigned sums and differences that
  // both have the top bit, the result counts as the greater (seen on sm_90; the ISA describes
  // neither).
  [[nodiscard]] bool is_less(Int result, Word c) const {
    const bool set = operation == Operation::set;
    const Int y = part_of(c, 0, 32, set ? signed_a : signed_result);
    if (set || operation == Operation::difference) return result < y;
    const auto low = static_cast<Word>(result);
    const bool computed = operation == Operation::add || operation == Operation::sub;
    if (computed && !signed_result && (low & c) >> 31 != 0) return false;
    return part_of(low, 0, 32, signed_result) < y;
  }

  // Returns c combined with the result, or the result merged into c.
  [[nodiscard]] Word combined(Int result, Word c) const {
    const auto low = static_cast<Word>(result);
    switch (second) {
      case AtomOp::add: return low + c;
      case AtomOp::min: return is_less(result, c) ? low : c;
      case AtomOp::max: return is_less(result, c) ? c : low;
      default: break;
    }
    const Word mask = (operands.d.bits == 32 ? ~0u : (1u << operands.d.bits) - 1)
                      << operands.d.begin;
    return (c & ~mask) | (low << operands.d.begin & mask);
  }

  [[nodiscard]] Int result_of(Word a, Word b) const {
    const Int x = part_of(a, operands.a.begin, operands.a.bits, signed_a);
    const Int y = part_of(b, operands.b.begin, operands.b.bits, signed_b);
    const Int result = calculated(x, y);
    return saturates ? clamped(result) : result;
  }
  Word operator()(Word a, Word b) const { return static_cast<Word>(result_of(a, b)); }
  Word operator()(Word a, Word b, Word c) const { return combined(result_of(a, b), c); }
};

struct PackedVideo : Video {
  explicit PackedVideo(const Instr& instr)
      : Video(instr), elements(video_elements(instr.opcode)), bits(32 / elements) {}

  // Returns element `index` of a and b together, with b above a.
  [[nodiscard]] Int element(Word a, Word b, unsigned index, bool is_signed) const {
    return part_of(index < elements ? a : b, index % elements * bits, bits, is_signed);
  }

  Word operator()(Word a, Word b, Word c) const {
    Word packed = c;
    Word sum = c;
    for (unsigned i = 0; i < elements; ++i) {
      if ((operands.mask >> i & 1) == 0) continue;
      Int x = calculated(element(a, b, operands.of_a[i], signed_a),
                         element(a, b, operands.of_b[i], signed_b));
      if (saturates) x = clamped_to(x, bits, signed_result);
      const Word mask = ((Word{1} << bits) - 1) << (bits * i);
      packed = (packed & ~mask) | (static_cast<Word>(x) << (bits * i) & mask);
      sum += static_cast<Word>(x);
    }
    return second == AtomOp::none ? packed : sum;
  }

  unsigned elements, bits;
};

// The same function for elements that are at the same position in all three registers, as in the
// toolkit's functions.  The compiler can vectorise this form.
template <Operation kOperation, unsigned kElements>
struct VideoInPlace {
  explicit VideoInPlace(const Instr& instr) {
    const PackedVideo video(instr);
    top_of_a = video.signed_a ? kTop : 0;
    top_of_b = video.signed_b ? kTop : 0;
    adds_up = video.second == AtomOp::add;
    if (!video.saturates) return;
    lowest = video.signed_result ? -kTop : 0;
    highest = video.signed_result ? kTop - 1 : static_cast<std::int32_t>(kOnes);
  }

  Word operator()(Word a, Word b, Word c) const {
    Word packed = 0, sum = c;
    for (unsigned at = 0; at < 32; at += kBits) {
      const std::int32_t x = (static_cast<std::int32_t>(a >> at & kOnes) ^ top_of_a) - top_of_a;
      const std::int32_t y = (static_cast<std::int32_t>(b >> at & kOnes) ^ top_of_b) - top_of_b;
      std::int32_t result = calculated(x, y);
      result = result < lowest ? lowest : result;
      result = result > highest ? highest : result;
      packed |= (static_cast<Word>(result) & kOnes) << at;
      sum += static_cast<Word>(result);
    }
    return adds_up ? sum : packed;
  }

 private:
  static constexpr unsigned kBits = 32 / kElements;
  static constexpr Word kOnes = (Word{1} << kBits) - 1;
  static constexpr std::int32_t kTop = 1 << (kBits - 1);

  static std::int32_t calculated(std::int32_t a, std::int32_t b) {
    switch (kOperation) {
      case Operation::add: return a + b;
      case Operation::sub: return a - b;
      case Operation::average: return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
      case Operation::difference: return a < b ? b - a : a - b;
      case Operation::min: return a < b ? a : b;
      default: return a > b ? a : b;
    }
  }

  std::int32_t top_of_a, top_of_b;
  std::int32_t lowest = INT32_MIN, highest = INT32_MAX;
  bool adds_up;
};

template <Operation kOperation, unsigned kElements>
constexpr ComputeFn kInPlace =
    lanewise<VideoInPlace<kOperation, kElements>, Word, Word, Word, Word>;

template <unsigned kElements>
ComputeFn find_in_place(Operation operation) {
  switch (operation) {
    case Operation::add: return kInPlace<Operation::add, kElements>;
    case Operation::sub: return kInPlace<Operation::sub, kElements>;
    case Operation::average: return kInPlace<Operation::average, kElements>;
    case Operation::difference: return kInPlace<Operation::difference, kElements>;
    case Operation::min: return kInPlace<Operation::min, kElements>;
    case Operation::max: return kInPlace<Operation::max, kElements>;
    default: return nullptr;
  }
}

// nullptr: its elements are at other places, or it compares.
ComputeFn find_in_place(const Instr& instr) {
  const unsigned elements = video_elements(instr.opcode);
  const VideoOperands operands = video_operands(instr.packed);
  if (operands.mask != (1u << elements) - 1) return nullptr;
  for (unsigned i = 0; i < elements; ++i) {
    if (operands.of_a[i] != i || operands.of_b[i] != elements + i) return nullptr;
  }
  const Operation operation = operation_of(instr.opcode);
  return elements == 2 ? find_in_place<2>(operation) : find_in_place<4>(operation);
}

// vmad: a * b + c; one product or c may be negated, or one may be added.
struct MultiplyAddVideo {
  explicit MultiplyAddVideo(const Instr& instr)
      : operands(video_operands(instr.packed)),
        saturates(instr.modifiers.sat),
        signed_a(ptx::is_signed(instr.modifiers.source_type)),
        signed_b(ptx::is_signed(instr.modifiers.third_type)) {
    negates_product = operands.negated_a != operands.negated_b;
    signed_result = signed_a || signed_b || negates_product || operands.negated_c;
  }

  Word operator()(Word a, Word b, Word c) const {
    const Int x = part_of(a, operands.a.begin, operands.a.bits, signed_a);
    const Int y = part_of(b, operands.b.begin, operands.b.bits, signed_b);
    Int product = x * y;
    if (negates_product) product = -product;
    Int addend = part_of(c, 0, 32, signed_result);
    if (operands.negated_c) addend = -addend;
    const Int sum = product + addend + (operands.plus_one ? 1 : 0);
    const Int result = sum >> operands.scale;
    if (!saturates) return static_cast<Word>(result);
    return static_cast<Word>(clamped_to(result, 32, signed_result));
  }

  VideoOperands operands;
  bool saturates, signed_a, signed_b;
  bool negates_product, signed_result;
};

bool is_word(Type type) { return type == Type::u32 || type == Type::s32; }

}  // namespace

ComputeFn find_video(const Instr& instr) {
  const bool has_c = present(instr[ComputeOperand::c]);
  if (instr.opcode == Opcode::vmad_) {
    return has_c ? lanewise<MultiplyAddVideo, Word, Word, Word, Word> : nullptr;
  }
  const ptx::Modifiers& m = instr.modifiers;
  const bool set = operation_of(instr.opcode) == Operation::set;
  if (!is_word(m.type) || !is_word(m.source_type) || (!set && !is_word(m.third_type))) {
    return nullptr;
  }
  if (set && (m.compare < Compare::eq || m.compare > Compare::ge)) return nullptr;
  if (video_elements(instr.opcode) != 1) {
    const bool known = m.atom_op == AtomOp::none || (m.atom_op == AtomOp::add && !m.sat);
    if (!known || !has_c) return nullptr;
    const ComputeFn in_place = find_in_place(instr);
    return in_place != nullptr ? in_place : lanewise<PackedVideo, Word, Word, Word, Word>;
  }
  const bool known = m.atom_op == AtomOp::none || m.atom_op == AtomOp::add ||
                     m.atom_op == AtomOp::min || m.atom_op == AtomOp::max;
  // c is needed for combining or merging.
  const bool merges = video_operands(instr.packed).d != VideoOperands::BitField{};
  if (!known || (merges && m.atom_op != AtomOp::none)) return nullptr;
  if (has_c != (merges || m.atom_op != AtomOp::none)) return nullptr;
  return has_c ? lanewise<ScalarVideo, Word, Word, Word, Word>
               : lanewise<ScalarVideo, Word, Word, Word>;
}

}  // namespace warpcheck::vgpu::portable
