// Comparison and selection: PTX ISA 9.0, 9.7.6 (set, setp, selp, slct) and 9.7.3.1 (testp).
#include "vgpu/machine/compute/compute_families.hpp"
#include "vgpu/machine/compute/lane_float.hpp"
#include "vgpu/machine/compute/lanes.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu::WARPCHECK_SIMD {
namespace {

using ptx::BoolOp;
using ptx::Compare;
using ptx::Opcode;
using ptx::Type;
using Word = std::uint32_t;

struct Equal {
  template <class T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};

struct Less {
  template <class T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};

struct LessOrEqual {
  template <class T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};

struct Greater {
  template <class T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};

struct GreaterOrEqual {
  template <class T>
  bool operator()(T a, T b) const {
    return a >= b;
  }
};

// Floating-point operands are ordered if neither is NaN.
struct Ordered {
  template <class T>
  bool operator()(T a, T b) const {
    return (a == a) & (b == b);
  }
};

struct LessOrGreater {
  template <class T>
  bool operator()(T a, T b) const {
    return (a < b) | (a > b);
  }
};

// Bit l says whether the comparison of lane l of a and b is true. kNegated gives the complement,
// which implements the unordered comparisons of floats: ltu is the complement of ge.
template <class Cmp, bool kNegated, bool kFlush, class T>
WARPCHECK_INLINE Word compared(const LaneBanks& banks, const Instr& instr) {
  const Bits<T>* a = row<T>(banks, instr[CompareOperand::a]);
  const Bits<T>* b = row<T>(banks, instr[CompareOperand::b]);
  alignas(64) Word flags[kWarpLanes];
  WARPCHECK_EACH_LANE(lane) {
    T x = from_cell<T>(a[lane]);
    T y = from_cell<T>(b[lane]);
    if constexpr (kFlush) {
      x = flush<true>(x);
      y = flush<true>(y);
    }
    flags[lane] = Cmp{}(x, y) ? 0xffffffffu : 0;
  }
  return kNegated ? ~mask_of(flags) : mask_of(flags);
}

Word combine(BoolOp op, Word compared_bits, Word c) {
  switch (op) {
    case BoolOp::none: return compared_bits;
    case BoolOp::and_: return compared_bits & c;
    case BoolOp::or_: return compared_bits | c;
    case BoolOp::xor_: return compared_bits ^ c;
  }
  return compared_bits;
}

// setp p, a, b
template <class Cmp, bool kNegated, bool kFlush, class T>
void setp(const LaneBanks& banks, const Instr& instr, std::uint32_t mask) {
  Word* held = row<Word>(banks, instr[CompareOperand::p]);
  *held = (*held & ~mask) | (compared<Cmp, kNegated, kFlush, T>(banks, instr) & mask);
}

// setp.BoolOp p|q, a, b, c
template <class Cmp, bool kNegated, bool kFlush, class T>
void setp_combined(const LaneBanks& banks, const Instr& instr, std::uint32_t mask) {
  const BoolOp op = instr.modifiers.bool_op;
  const Word bits = compared<Cmp, kNegated, kFlush, T>(banks, instr);
  const Word c = op == BoolOp::none ? 0 : predicate(banks, instr[CompareOperand::c]);
  write_predicate(banks, instr[CompareOperand::p], combine(op, bits, c), mask);
  write_predicate(banks, instr[CompareOperand::q], combine(op, ~bits, c), mask);
}

// set.BoolOp d, a, b, c
template <class Cmp, bool kNegated, bool kFlush, class T>
void set(const LaneBanks& banks, const Instr& instr, std::uint32_t mask) {
  const BoolOp op = instr.modifiers.bool_op;
  const Word compared_bits = compared<Cmp, kNegated, kFlush, T>(banks, instr);
  const Word c = op == BoolOp::none ? 0 : predicate(banks, instr[CompareOperand::c]);
  const Word bits = combine(op, compared_bits, c);
  const Word yes = instr.modifiers.type == Type::f32 ? bits_of(1.0f) : 0xffffffffu;
  alignas(64) Word values[kWarpLanes];
  WARPCHECK_EACH_LANE(lane) { values[lane] = (bits & kLaneBit<Word>.bit[lane]) != 0 ? yes : 0; }
  blend<Word>(row<Word>(banks, instr[CompareOperand::d]), values, mask);
}

template <class Cmp, bool kNegated, bool kFlush, class T>
ComputeFn find_compared(const Instr& instr) {
  if (instr.opcode == Opcode::set_) {
    const Type type = instr.modifiers.type;
    const bool known = type == Type::u32 || type == Type::s32 || type == Type::f32;
    return known ? set<Cmp, kNegated, kFlush, T> : nullptr;
  }
  const bool plain = instr.modifiers.bool_op == BoolOp::none && present(instr[CompareOperand::p]) &&
                     !present(instr[CompareOperand::q]);
  return plain ? setp<Cmp, kNegated, kFlush, T> : setp_combined<Cmp, kNegated, kFlush, T>;
}

template <bool kFlush, class F>
ComputeFn find_float_compare(const Instr& instr) {
  switch (instr.modifiers.compare) {
    case Compare::eq: return find_compared<Equal, false, kFlush, F>(instr);
    case Compare::ne: return find_compared<LessOrGreater, false, kFlush, F>(instr);
    case Compare::lt: return find_compared<Less, false, kFlush, F>(instr);
    case Compare::le: return find_compared<LessOrEqual, false, kFlush, F>(instr);
    case Compare::gt: return find_compared<Greater, false, kFlush, F>(instr);
    case Compare::ge: return find_compared<GreaterOrEqual, false, kFlush, F>(instr);
    case Compare::equ: return find_compared<LessOrGreater, true, kFlush, F>(instr);
    case Compare::neu: return find_compared<Equal, true, kFlush, F>(instr);
    case Compare::ltu: return find_compared<GreaterOrEqual, true, kFlush, F>(instr);
    case Compare::leu: return find_compared<Greater, true, kFlush, F>(instr);
    case Compare::gtu: return find_compared<LessOrEqual, true, kFlush, F>(instr);
    case Compare::geu: return find_compared<Less, true, kFlush, F>(instr);
    case Compare::num: return find_compared<Ordered, false, kFlush, F>(instr);
    case Compare::nan: return find_compared<Ordered, true, kFlush, F>(instr);
    default: return nullptr;
  }
}

template <class T>
ComputeFn find_order_compare(const Instr& instr) {
  switch (instr.modifiers.compare) {
    case Compare::lt:
    case Compare::lo: return find_compared<Less, false, false, T>(instr);
    case Compare::ge:
    case Compare::hs: return find_compared<Less, true, false, T>(instr);
    case Compare::gt:
    case Compare::hi: return find_compared<Greater, false, false, T>(instr);
    case Compare::le:
    case Compare::ls: return find_compared<Greater, true, false, T>(instr);
    default: return nullptr;
  }
}

template <class Unsigned, class Signed>
ComputeFn find_integer_compare(const Instr& instr, Type type) {
  const Compare compare = instr.modifiers.compare;
  if (compare == Compare::eq) return find_compared<Equal, false, false, Unsigned>(instr);
  if (compare == Compare::ne) return find_compared<Equal, true, false, Unsigned>(instr);
  const bool unsigned_only = compare == Compare::lo || compare == Compare::ls ||
                             compare == Compare::hi || compare == Compare::hs;
  if (!ptx::is_signed(type)) {
    return holds<Unsigned>(type) ? find_order_compare<Unsigned>(instr) : nullptr;
  }
  return unsigned_only ? nullptr : find_order_compare<Signed>(instr);
}

ComputeFn find_set(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  const Type type = instr.opcode == Opcode::set_ ? m.source_type : m.type;
  switch (ptx::is_float(type) ? 0 : ptx::bytes_of(type)) {
    case 2: return find_integer_compare<std::uint16_t, std::int16_t>(instr, type);
    case 4: return find_integer_compare<std::uint32_t, std::int32_t>(instr, type);
    case 8: return find_integer_compare<std::uint64_t, std::int64_t>(instr, type);
    default: break;
  }
  if (type == Type::f64) return find_float_compare<false, double>(instr);
  if (type != Type::f32) return nullptr;
  return m.ftz ? find_float_compare<true, float>(instr) : find_float_compare<false, float>(instr);
}

// selp d, a, b, c: a where c holds.
template <class C>
void selp(const LaneBanks& banks, const Instr& instr, std::uint32_t mask) {
  const C c = predicate(banks, instr[CompareOperand::c]);
  const Bits<C>* a = row<C>(banks, instr[CompareOperand::a]);
  const Bits<C>* b = row<C>(banks, instr[CompareOperand::b]);
  Bits<C>* destination = row<C>(banks, instr[CompareOperand::d]);
  alignas(64) Bits<C> values[kWarpLanes];
  const bool whole = mask == kAllLanes;
  Bits<C>* out = whole ? destination : values;
  WARPCHECK_EACH_LANE(lane) { out[lane] = (c & kLaneBit<C>.bit[lane]) != 0 ? a[lane] : b[lane]; }
  if (!whole) blend(destination, values, mask);
}

template <bool kFlush>
struct Slct {
  template <class T>
  T operator()(T a, T b, float c) const {
    return flush<kFlush>(c) >= 0.0f ? a : b;
  }
  template <class T>
  T operator()(T a, T b, std::int32_t c) const {
    return c >= 0 ? a : b;
  }
};

template <class T>
ComputeFn find_slct(const ptx::Modifiers& m) {
  if (m.source_type == Type::s32) return lanewise<Slct<false>, T, T, T, std::int32_t>;
  if (m.source_type != Type::f32) return nullptr;
  return m.ftz ? lanewise<Slct<true>, T, T, T, float> : lanewise<Slct<false>, T, T, T, float>;
}

// Zero counts as normal.
template <class F>
void testp(const LaneBanks& banks, const Instr& instr, std::uint32_t mask) {
  using Layout = FloatLayout<F>;
  using ptx::TestProperty;
  const Bits<F>* a = row<F>(banks, instr[CompareOperand::a]);
  const TestProperty property = instr.modifiers.test;
  Word bits = 0;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    const auto magnitude = static_cast<Bits<F>>(a[lane] & ~Layout::kSign);
    const bool exponent_zero = (magnitude & Layout::kInfinity) == 0;
    bool holds_here = false;
    switch (property) {
      case TestProperty::finite: holds_here = magnitude < Layout::kInfinity; break;
      case TestProperty::infinite: holds_here = magnitude == Layout::kInfinity; break;
      case TestProperty::number: holds_here = magnitude <= Layout::kInfinity; break;
      case TestProperty::notanumber: holds_here = magnitude > Layout::kInfinity; break;
      case TestProperty::normal:
        holds_here = (!exponent_zero || magnitude == 0) && magnitude < Layout::kInfinity;
        break;
      case TestProperty::subnormal: holds_here = exponent_zero && magnitude != 0; break;
      case TestProperty::none: break;
    }
    bits |= Word{holds_here} << lane;
  }
  write_predicate(banks, instr[CompareOperand::d], bits, mask);
}

}  // namespace

ComputeFn find_compare(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  switch (instr.opcode) {
    case Opcode::set_:
    case Opcode::setp_: return find_set(instr);
    case Opcode::selp_:
      switch (ptx::bytes_of(m.type)) {
        case 2:
        case 4: return selp<std::uint32_t>;
        case 8: return selp<std::uint64_t>;
        default: return nullptr;
      }
    case Opcode::slct_:
      switch (ptx::bytes_of(m.type)) {
        case 2:
        case 4: return find_slct<std::uint32_t>(m);
        case 8: return find_slct<std::uint64_t>(m);
        default: return nullptr;
      }
    case Opcode::testp_:
      if (m.test == ptx::TestProperty::none) return nullptr;
      if (m.type == Type::f32) return testp<float>;
      return m.type == Type::f64 ? testp<double> : nullptr;
    default: return nullptr;
  }
}

}  // namespace warpcheck::vgpu::WARPCHECK_SIMD
