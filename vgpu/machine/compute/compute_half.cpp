// Arithmetic on 16-bit floats and on pairs of them, rounded to nearest: PTX ISA 9.0, 9.7.4.
//
// The host calculates with more bits, and the result is rounded once more, to 16 bits.  That is
// correct: a float has at least twice the bits of a half and two more (Figueroa, SIGNUM Newsletter
// 30(3), 1995), products are exact, and sums with a product are rounded to odd first.
#include <type_traits>

#include "vgpu/machine/compute/compute_families.hpp"
#include "vgpu/machine/compute/lane_half.hpp"
#include "vgpu/machine/compute/lanes.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu::WARPCHECK_SIMD {
namespace {

using ptx::Opcode;
using ptx::Rounding;
using ptx::Type;
using Word = std::uint32_t;

bool is_f16(Type type) { return type == Type::f16 || type == Type::f16x2; }
bool is_bf16(Type type) { return type == Type::bf16 || type == Type::bf16x2; }
bool is_pair(Type type) { return type == Type::f16x2 || type == Type::bf16x2; }

// Wide is the type in which products of the format are exact.
struct F16 {
  using Wide = float;
  static constexpr Word kInfinity = 0x7c00;
  static constexpr Word kOne = 0x3c00;
  static float from(Word half) { return from_half(half); }
  template <class F>
  static Word to(F x) {
    return to_half(x);
  }
  // Whether a number is subnormal, rounded to 11 bits with unlimited exponents: for .ftz.
  static bool is_tiny(float x) { return absolute(x) < 0x1p-14f - 0x1p-26f; }
};

struct Bf16 {
  using Wide = double;
  static constexpr Word kInfinity = 0x7f80;
  static constexpr Word kOne = 0x3f80;
  static float from(Word half) { return from_bfloat(half); }
  template <class F>
  static Word to(F x) {
    return to_bfloat(x);
  }
  template <class F>
  static bool is_tiny(F) {
    return false;  // no form of bf16 arithmetic flushes
  }
};

template <class H>
struct Add {
  float operator()(float a, float b) const { return a + b; }
};

template <class H>
struct Sub {
  float operator()(float a, float b) const { return a - b; }
};

template <class H>
struct Mul {
  using F = typename H::Wide;
  F operator()(float a, float b) const { return F{a} * F{b}; }
};

template <class H>
struct Fma {
  using F = typename H::Wide;
  F operator()(float a, float b, float c) const { return sum_to_odd(F{a} * F{b}, F{c}); }
};

template <class H>
WARPCHECK_INLINE Word flushed(Word half) {
  return (half & H::kInfinity) == 0 ? half & kHalfSign : half;
}

template <class H>
WARPCHECK_INLINE bool is_half_nan(Word half) {
  return (half & 0x7fff) > H::kInfinity;
}

// An operation on one half, with the suffixes of its instruction.
template <class H, class Op>
struct Plain {
  template <class... Words>
  Word operator()(Words... x) const {
    return H::to(Op{}(H::from(x)...));
  }
};

template <class H, class Op>
struct WithSuffixes {
  explicit WithSuffixes(const Instr& instr)
      : flush(instr.modifiers.ftz),
        saturate(instr.modifiers.sat),
        relu(instr.modifiers.relu),
        out_of_bounds(instr.modifiers.out_of_bounds) {}

  template <class... Words>
  Word operator()(Word a, Word b, Words... c) const {
    const auto wide = Op{}(H::from(read(a)), H::from(read(b)), H::from(read(c))...);
    const Word rounded = H::to(wide);
    const Word value = flush && H::is_tiny(wide) ? rounded & kHalfSign : rounded;
    const bool below = (value & kHalfSign) != 0;
    const Word bounded = value > H::kOne ? H::kOne : value;
    const Word saturated = below || is_half_nan<H>(value) ? 0 : bounded;
    const Word positive = below && !is_half_nan<H>(value) ? 0 : value;
    const Word result = saturate ? saturated : relu ? positive : value;
    return out_of_bounds && (is_outside(a) || is_outside(b)) ? 0 : result;
  }

 private:
  [[nodiscard]] Word read(Word half) const { return flush ? flushed<H>(half) : half; }
  // The NaN that fma.oob treats as a value outside the bounds of a tensor: the same for both
  // formats (seen on sm_90; the ISA does not define it).
  static bool is_outside(Word half) { return (half & 0x7fff) == 0x7ff7; }

  bool flush, saturate, relu, out_of_bounds;
};

// abs and neg of a NaN is the canonical NaN.
template <class H>
struct Sign {
  explicit Sign(const Instr& instr)
      : flush(instr.modifiers.ftz),
        kept(instr.opcode == Opcode::abs_ ? ~kHalfSign : ~Word{0}),
        flipped(instr.opcode == Opcode::neg_ ? kHalfSign : 0) {}

  Word operator()(Word a) const {
    const Word number = flush ? flushed<H>(a) : a;
    return is_half_nan<H>(a) ? kHalfNan : (number & kept) ^ flipped;
  }

  bool flush;
  Word kept, flipped;
};

// Selects by masks only, so that the compiler can calculate many lanes at once.
template <class H, bool kMaximum, bool kNanWins>
struct Extreme {
  explicit Extreme(const Instr& instr)
      : flushed_bits(instr.modifiers.ftz ? ~kHalfSign : 0),
        flipped(instr.modifiers.xorsign ? kHalfSign : 0) {}

  Word operator()(Word first, Word second) const {
    const Word x = read(first), y = read(second);
    const Word a = x & ~flipped, b = y & ~flipped;
    const Word greatest = order(a) >= order(b) ? a : b;
    const Word chosen = kMaximum ? greatest : a ^ b ^ greatest;
    const Word number_of_b = is_half_nan<H>(a) ? b : chosen;
    const Word number = is_half_nan<H>(b) ? a : number_of_b;
    const Word any_nan = is_half_nan<H>(a) ? a : b;
    const Word result = number | ((x ^ y) & flipped);
    return is_half_nan<H>(kNanWins ? any_nan : number) ? kHalfNan : result;
  }

  [[nodiscard]] Word read(Word half) const {
    return half & ~((half & H::kInfinity) == 0 ? flushed_bits : 0);
  }
  // Ascends with the value; -0 is below +0.
  static std::int32_t order(Word half) {
    return static_cast<std::int32_t>((half & 0x7fff) ^ (0 - (half >> 15)));
  }

  Word flushed_bits;  // with .ftz: those that are 0 in a subnormal number
  Word flipped;       // with .xorsign.abs: the sign
};

// An operation on the lower half or, of a pair, on both.
template <class Op, bool kPair>
struct Halves {
  explicit Halves(const Instr& instr) : op(make_operation<Op>(instr)) {}

  template <class... Words>
  Word operator()(Words... x) const {
    const Word low = op((x & 0xffff)...);
    return kPair ? op((x >> 16)...) << 16 | low : low;
  }

  Op op;
};

template <class Op, int kSources>
ComputeFn of_halves(Type type) {
  const auto function = [](auto halves) -> ComputeFn {
    using Operation = typename decltype(halves)::type;
    if constexpr (kSources == 1) return lanewise<Operation, Word, Word>;
    if constexpr (kSources == 2) return lanewise<Operation, Word, Word, Word>;
    if constexpr (kSources == 3) return lanewise<Operation, Word, Word, Word, Word>;
  };
  return is_pair(type) ? function(std::type_identity<Halves<Op, true>>{})
                       : function(std::type_identity<Halves<Op, false>>{});
}

template <class H, template <class> class Op, int kSources>
ComputeFn find_arithmetic(const ptx::Modifiers& m) {
  const bool plain = !m.ftz && !m.sat && !m.relu && !m.out_of_bounds;
  return plain ? of_halves<Plain<H, Op<H>>, kSources>(m.type)
               : of_halves<WithSuffixes<H, Op<H>>, kSources>(m.type);
}

template <class H>
ComputeFn find_of(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  switch (instr.opcode) {
    case Opcode::add_: return find_arithmetic<H, Add, 2>(m);
    case Opcode::sub_: return find_arithmetic<H, Sub, 2>(m);
    case Opcode::mul_: return find_arithmetic<H, Mul, 2>(m);
    case Opcode::fma_: return find_arithmetic<H, Fma, 3>(m);
    case Opcode::abs_:
    case Opcode::neg_: return of_halves<Sign<H>, 1>(m.type);
    case Opcode::min_:
      return m.nan ? of_halves<Extreme<H, false, true>, 2>(m.type)
                   : of_halves<Extreme<H, false, false>, 2>(m.type);
    case Opcode::max_:
      return m.nan ? of_halves<Extreme<H, true, true>, 2>(m.type)
                   : of_halves<Extreme<H, true, false>, 2>(m.type);
    default: return nullptr;
  }
}

}  // namespace

ComputeFn find_half(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  const bool nearest = m.rounding == Rounding::none || m.rounding == Rounding::rn;
  const bool third = instr.opcode != Opcode::fma_ && present(instr[ComputeOperand::c]);
  if (!nearest || third) return nullptr;
  if (is_f16(m.type)) return find_of<F16>(instr);
  return is_bf16(m.type) && !m.ftz && !m.sat ? find_of<Bf16>(instr) : nullptr;
}

}  // namespace warpcheck::vgpu::WARPCHECK_SIMD
