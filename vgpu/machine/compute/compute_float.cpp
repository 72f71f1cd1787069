// Floating-point arithmetic on f32 and f64: PTX ISA 9.0, 9.7.3.
//
// + - * / fma and sqrt are correctly rounded on every host, in the direction that the host is set
// to, so the host's own operations are used; NaN, .ftz and .sat follow PTX.  .approx is in
// compute_approximate.cpp.
#include "vgpu/machine/compute/compute_families.hpp"
#include "vgpu/machine/compute/lane_float.hpp"
#include "vgpu/machine/compute/lanes.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu::WARPCHECK_SIMD {
namespace {

using ptx::Opcode;
using ptx::Rounding;
using ptx::Type;

// Operations return the rounded result. scaled() returns 2^32 times the result, for .ftz: see
// flush_result(); sums and roots need none, since a subnormal one is exact or does not exist.
struct Add {
  static constexpr bool kPrefersFirst = false;
  template <class F>
  F operator()(F a, F b) const {
    return a + b;
  }
};

struct Sub {
  static constexpr bool kPrefersFirst = false;
  template <class F>
  F operator()(F a, F b) const {
    return a - b;
  }
};

struct Mul {
  static constexpr bool kPrefersFirst = false;
  template <class F>
  F operator()(F a, F b) const {
    return a * b;
  }
  static float scaled(float a, float b) { return a * 0x1p32f * b; }
};

struct Div {
  static constexpr bool kPrefersFirst = true;
  template <class F>
  F operator()(F a, F b) const {
    return a / b;
  }
  static float scaled(float a, float b) { return a * 0x1p32f / b; }
};

struct Fma {
  template <class F>
  F operator()(F a, F b, F c) const {
    return fused(a, b, c);
  }
  static float scaled(float a, float b, float c) { return fused(a * 0x1p32f, b, c * 0x1p32f); }
};

// fma in any direction.  Without such an instruction, the product of two floats is exact in double,
// and the second rounding of the sum goes where the first went.
struct DirectedFma {
  float operator()(float a, float b, float c) const {
#if defined(__FMA__)
    return fused(a, b, c);
#else
    return static_cast<float>(static_cast<double>(a) * b + c);
#endif
  }
  double operator()(double a, double b, double c) const { return fused(a, b, c); }
  static float scaled(float a, float b, float c) {
    return DirectedFma{}(a * 0x1p32f, b, c * 0x1p32f);
  }
};

struct Rcp {
  template <class F>
  F operator()(F a) const {
    return F{1} / a;
  }
  static float scaled(float a) { return 0x1p32f / a; }
};

struct Sqrt {
  float operator()(float a) const { return __builtin_sqrtf(a); }
  double operator()(double a) const { return __builtin_sqrt(a); }
};

// The steps of every arithmetic instruction: flush operands, calculate, flush the result, saturate,
// choose the NaN.
template <class Op, bool kFlush, bool kSaturate>
struct Arithmetic {
  template <class F>
  F operator()(F a) const {
    return settled(calculated(flush<kFlush>(a)), a);
  }
  template <class F>
  F operator()(F a, F b) const {
    const F result = calculated(flush<kFlush>(a), flush<kFlush>(b));
    return Op::kPrefersFirst ? settled(result, a, b) : settled(result, b, a);
  }
  template <class F>
  F operator()(F a, F b, F c) const {
    return settled(calculated(flush<kFlush>(a), flush<kFlush>(b), flush<kFlush>(c)), b, c, a);
  }

 private:
  template <class... Fs>
  static auto calculated(Fs... x) {
    const auto result = Op{}(x...);
    if constexpr (kFlush && requires { Op::scaled(x...); }) {
      return saturate<kSaturate>(flush_result<true>(result, Op::scaled(x...)));
    } else {
      return saturate<kSaturate>(flush<kFlush>(result));
    }
  }
};

// A number takes precedence over a NaN, or with .NaN the NaN over a number; -0 is less than +0.
template <bool kMaximum, bool kNanWins, bool kFlush, bool kXorSign>
struct Extreme {
  template <class F>
  F operator()(F first, F second) const {
    F a = flush<kFlush>(first);
    F b = flush<kFlush>(second);
    const F sign = float_of<F>(bits_of(a) ^ bits_of(b));
    if constexpr (kXorSign) {
      a = absolute(a);
      b = absolute(b);
    }
    // Equal values differ at most in the sign of zero: bitwise or and and give the lesser and the
    // greater.
    const F lesser_zero = float_of<F>(bits_of(a) | bits_of(b));
    const F greater_zero = float_of<F>(bits_of(a) & bits_of(b));
    F chosen = kMaximum ? (a > b ? a : b) : (a < b ? a : b);
    chosen = a == b ? (kMaximum ? greater_zero : lesser_zero) : chosen;
    if constexpr (kNanWins) {
      const bool any = is_nan(a) || is_nan(b);
      chosen = any ? float_of<F>(FloatLayout<F>::kNan) : chosen;
    } else {
      chosen = is_nan(a) ? b : chosen;
      chosen = is_nan(b) ? a : chosen;
    }
    const F nan = settled(chosen, second, first);
    if constexpr (kXorSign) chosen = with_sign(chosen, sign);
    return is_nan(nan) ? nan : chosen;
  }
};

// abs and neg choose the NaN as arithmetic does, so they do not change the sign of an f64 NaN.
template <bool kFlush>
struct Abs {
  template <class F>
  F operator()(F a) const {
    return is_nan(a) ? settled(a, a) : absolute(flush<kFlush>(a));
  }
};

template <bool kFlush>
struct Neg {
  template <class F>
  F operator()(F a) const {
    const F negated = float_of<F>(bits_of(flush<kFlush>(a)) ^ FloatLayout<F>::kSign);
    return is_nan(a) ? settled(a, a) : negated;
  }
};

// copysign d, a, b: the sign of a on the value of b.
struct CopySign {
  template <class F>
  F operator()(F a, F b) const {
    return with_sign(b, a);
  }
};

// The operation on both floats of an f32x2.
template <class Op>
struct Pairs {
  template <class... Wide>
  std::uint64_t operator()(Wide... x) const {
    using Word = std::uint32_t;
    const Word low = bits_of(Op{}(float_of<float>(static_cast<Word>(x))...));
    const Word high = bits_of(Op{}(float_of<float>(static_cast<Word>(x >> 32))...));
    return std::uint64_t{high} << 32 | low;
  }
};

// The host's direction of rounding.  Memory is read and written between its changes, so the
// compiler calculates in between.
class Direction {
 public:
  explicit Direction(Rounding rounding) : before_(_mm_getcsr()) {
    unsigned mode = _MM_ROUND_TOWARD_ZERO;
    if (rounding == Rounding::rm) mode = _MM_ROUND_DOWN;
    if (rounding == Rounding::rp) mode = _MM_ROUND_UP;
    set((before_ & ~unsigned{_MM_ROUND_MASK}) | mode);
  }
  ~Direction() { set(before_); }
  Direction(const Direction&) = delete;
  Direction& operator=(const Direction&) = delete;

 private:
  static void set(unsigned control) { asm volatile("ldmxcsr %0" : : "m"(control) : "memory"); }
  unsigned before_;
};

template <class Op, class F, class... S>
void directed(const LaneBanks& banks, const Instr& instr, std::uint32_t mask) {
  const Direction direction(instr.modifiers.rounding);
  lanewise<Op, F, S...>(banks, instr, mask);
}

template <class Op, class F, class... S>
ComputeFn in_direction(Rounding rounding) {
  switch (rounding) {
    case Rounding::none:
    case Rounding::rn: return lanewise<Op, F, S...>;
    case Rounding::rz:
    case Rounding::rm:
    case Rounding::rp: return directed<Op, F, S...>;
    default: return nullptr;
  }
}

template <class Op, class F, int kSources>
ComputeFn arithmetic(Rounding rounding) {
  if constexpr (kSources == 1) return in_direction<Op, F, F>(rounding);
  if constexpr (kSources == 2) return in_direction<Op, F, F, F>(rounding);
  if constexpr (kSources == 3) return in_direction<Op, F, F, F, F>(rounding);
}

// f32 with or without .ftz and, where it exists, .sat; f64; f32x2 with or without .ftz.
template <class Op, int kSources, bool kMaySaturate>
ComputeFn find_arithmetic(const ptx::Modifiers& m) {
  if (m.type == Type::f64) {
    if (m.ftz || m.sat) return nullptr;
    return arithmetic<Arithmetic<Op, false, false>, double, kSources>(m.rounding);
  }
  if (m.type == Type::f32x2 && kMaySaturate && !m.sat) {
    using Flushing = Pairs<Arithmetic<Op, true, false>>;
    using Keeping = Pairs<Arithmetic<Op, false, false>>;
    return m.ftz ? arithmetic<Flushing, std::uint64_t, kSources>(m.rounding)
                 : arithmetic<Keeping, std::uint64_t, kSources>(m.rounding);
  }
  if (m.type != Type::f32) return nullptr;
  if constexpr (kMaySaturate) {
    if (m.sat) {
      return m.ftz ? arithmetic<Arithmetic<Op, true, true>, float, kSources>(m.rounding)
                   : arithmetic<Arithmetic<Op, false, true>, float, kSources>(m.rounding);
    }
  }
  if (m.sat) return nullptr;
  return m.ftz ? arithmetic<Arithmetic<Op, true, false>, float, kSources>(m.rounding)
               : arithmetic<Arithmetic<Op, false, false>, float, kSources>(m.rounding);
}

ComputeFn find_fma(const ptx::Modifiers& m) {
  const bool nearest = m.rounding == Rounding::none || m.rounding == Rounding::rn;
  if (m.relu) return nullptr;
  return nearest ? find_arithmetic<Fma, 3, true>(m) : find_arithmetic<DirectedFma, 3, true>(m);
}

template <bool kMaximum, bool kFlush>
ComputeFn find_float_extreme(const ptx::Modifiers& m) {
  using F = float;
  if (m.xorsign) {
    return m.nan ? lanewise<Extreme<kMaximum, true, kFlush, true>, F, F, F>
                 : lanewise<Extreme<kMaximum, false, kFlush, true>, F, F, F>;
  }
  return m.nan ? lanewise<Extreme<kMaximum, true, kFlush, false>, F, F, F>
               : lanewise<Extreme<kMaximum, false, kFlush, false>, F, F, F>;
}

template <bool kMaximum>
ComputeFn find_extreme(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  if (m.relu || present(instr[ComputeOperand::c])) return nullptr;
  if (m.type == Type::f64) {
    if (m.nan || m.xorsign || m.ftz) return nullptr;
    return lanewise<Extreme<kMaximum, false, false, false>, double, double, double>;
  }
  if (m.type != Type::f32) return nullptr;
  return m.ftz ? find_float_extreme<kMaximum, true>(m) : find_float_extreme<kMaximum, false>(m);
}

template <template <bool> class Op>
ComputeFn find_sign(const ptx::Modifiers& m) {
  if (m.type == Type::f64) return m.ftz ? nullptr : lanewise<Op<false>, double, double>;
  if (m.type != Type::f32) return nullptr;
  return m.ftz ? lanewise<Op<true>, float, float> : lanewise<Op<false>, float, float>;
}

}  // namespace

ComputeFn find_float(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  if (m.approx || m.full) return nullptr;
  switch (instr.opcode) {
    case Opcode::add_: return find_arithmetic<Add, 2, true>(m);
    case Opcode::sub_: return find_arithmetic<Sub, 2, true>(m);
    case Opcode::mul_: return find_arithmetic<Mul, 2, true>(m);
    case Opcode::mad_:
    case Opcode::fma_: return find_fma(m);
    case Opcode::div_: return find_arithmetic<Div, 2, false>(m);
    case Opcode::rcp_: return find_arithmetic<Rcp, 1, false>(m);
    case Opcode::sqrt_: return find_arithmetic<Sqrt, 1, false>(m);
    case Opcode::min_: return find_extreme<false>(instr);
    case Opcode::max_: return find_extreme<true>(instr);
    case Opcode::abs_: return find_sign<Abs>(m);
    case Opcode::neg_: return find_sign<Neg>(m);
    case Opcode::copysign_: return for_type<Of<CopySign>::Binary, float, double>(m.type);
    default: return nullptr;
  }
}

}  // namespace warpcheck::vgpu::WARPCHECK_SIMD
