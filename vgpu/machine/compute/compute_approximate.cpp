// Approximate functions: .approx and .full of div, rcp, sqrt, rsqrt, ex2, lg2, sin, cos, tanh.
//
// PTX ISA 9.0, 9.7.3, gives an error bound for each function and leaves the bits open.  Here each
// function has one implementation, in double, with correctly rounded operations only.  So every
// host gives the same bits, with an error far below the bound.  The ISA's special cases hold: see
// each function.
#include "vgpu/machine/compute/compute_families.hpp"
#include "vgpu/machine/compute/lane_float.hpp"
#include "vgpu/machine/compute/lane_math.hpp"
#include "vgpu/machine/compute/lanes.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu::WARPCHECK_SIMD {
namespace {

using ptx::Opcode;
using ptx::Type;

struct Ex2 {
  float operator()(float x) const {
    // Outside this range every float result is 0 or infinite.
    const double low = x > -160.0f ? x : -160.0f;
    const double inside = low < 160.0 ? low : 160.0;
    const auto value = static_cast<float>(exp2_of(inside));
    return is_nan(x) ? x : value;
  }
};

// log2(x) for normal positive double x, from x = 2^k m with m in [0.7, 1.42):
// ln m = 2 artanh(s) with s = (m - 1) / (m + 1).
double log2_of(double x) {
  const std::uint64_t bits = bits_of(x);
  const std::uint64_t shifted = bits - 0x3fe6a09e667f3bcdu;  // of sqrt(1/2)
  const auto exponent = static_cast<std::int64_t>(shifted) >> 52;
  const double m = float_of<double>(bits - (static_cast<std::uint64_t>(exponent) << 52));
  const double s = (m - 1.0) / (m + 1.0);
  const double t = s * s;  // <= 0.0295
  double sum = 1.0 / 15;
  sum = sum * t + 1.0 / 13;
  sum = sum * t + 1.0 / 11;
  sum = sum * t + 1.0 / 9;
  sum = sum * t + 1.0 / 7;
  sum = sum * t + 1.0 / 5;
  sum = sum * t + 1.0 / 3;
  sum = sum * t + 1.0;
  return static_cast<double>(static_cast<std::int32_t>(exponent)) + 2.0 * kLog2E * s * sum;
}

struct Lg2 {
  float operator()(float x) const {
    const double infinity = __builtin_inf();
    const bool inside = x > 0.0f && x < infinity;
    double value = log2_of(inside ? static_cast<double>(x) : 1.0);
    value = x == 0.0f ? -infinity : value;
    value = x < 0.0f ? __builtin_nan("") : value;
    value = x == infinity ? infinity : value;
    return is_nan(x) ? x : static_cast<float>(value);
  }
};

// sin(2 pi r), |r| <= 1/8, and cos(2 pi r): their series.
double sin_turns(double r) {
  const double x = 2.0 * kPi * r;
  const double t = x * x;
  double sum = 1.0 / 6227020800.0;
  sum = sum * t - 1.0 / 39916800;
  sum = sum * t + 1.0 / 362880;
  sum = sum * t - 1.0 / 5040;
  sum = sum * t + 1.0 / 120;
  sum = sum * t - 1.0 / 6;
  sum = sum * t + 1.0;
  return sum * x;
}

double cos_turns(double r) {
  const double x = 2.0 * kPi * r;
  const double t = x * x;
  double sum = 1.0 / 479001600;
  sum = sum * t - 1.0 / 3628800;
  sum = sum * t + 1.0 / 40320;
  sum = sum * t - 1.0 / 720;
  sum = sum * t + 1.0 / 24;
  sum = sum * t - 0.5;
  return sum * t + 1.0;
}

// sin; cos is sin a quarter turn later.  The argument is reduced in double.  The ISA gives no bound
// for large arguments; here they lose precision gradually.
template <bool kCosine>
struct Wave {
  float operator()(float x) const {
    const bool finite = absolute(x) < __builtin_inff();
    const double turns = static_cast<double>(finite ? x : 0.0f) * (0.5 / kPi);
    // From about this value on, a double has no fraction bits left.
    const double small = absolute(turns) < 0x1p48 ? turns : 0.0;
    const double quarters = nearest(4.0 * small);
    const double r = small - 0.25 * quarters;
    const double mod4 = quarters - 4.0 * nearest(0.25 * quarters);  // -2 .. 2
    const auto quadrant = (static_cast<std::int32_t>(mod4) + (kCosine ? 1 : 0)) & 3;
    const double sine = sin_turns(r);
    const double cosine = cos_turns(r);
    const double base = (quadrant & 1) != 0 ? cosine : sine;
    const auto value = static_cast<float>((quadrant & 2) != 0 ? -base : base);
    const float kept = !kCosine && x == 0.0f ? x : value;  // sin(-0) is -0
    return finite ? kept : __builtin_nanf("");
  }
};

struct Tanh {
  float operator()(float x) const { return static_cast<float>(tanh_of(static_cast<double>(x))); }
};

// div.approx: a * (1/b).  For |b| from 2^126 on the reciprocal is flushed: 0, or NaN for an
// infinite a.
struct DivApprox {
  float operator()(float a, float b) const {
    const float magnitude = absolute(b);
    const bool flushed = magnitude > 0x1p126f && magnitude < __builtin_inff();
    const float reciprocal = flushed ? with_sign(0.0f, b) : b;
    return flushed ? a * reciprocal : a / b;
  }
};

struct DivFull {
  float operator()(float a, float b) const { return a / b; }
};

struct Rcp {
  float operator()(float a) const { return 1.0f / a; }
};

struct Sqrt {
  float operator()(float a) const { return __builtin_sqrtf(a); }
};

struct Rsqrt {
  float operator()(float a) const {
    const double root = __builtin_sqrt(static_cast<double>(a));
    return static_cast<float>(1.0 / root);
  }
  double operator()(double a) const {
    // Inverting the root of a zero gives infinity with the zero's sign.
    return 1.0 / __builtin_sqrt(a);
  }
};

template <class Op, bool kFlush>
struct Approximation {
  template <class... F>
  float operator()(F... x) const {
    return canonical(flush<kFlush>(Op{}(flush<kFlush>(x)...)));
  }
};

// rcp.approx.ftz.f64, rsqrt.approx.ftz.f64: they use only the upper words of argument and result.
template <class Op>
struct UpperWord {
  static double upper(double x) { return float_of<double>(bits_of(x) & ~0xffffffffull); }
  double operator()(double x) const {
    const double value = flush<true>(Op{}(flush<true>(upper(x))));
    return is_nan(value) ? float_of<double>(0x7fffffff00000000u) : upper(value);
  }
};

struct RcpWide {
  double operator()(double a) const { return 1.0 / a; }
};

struct RsqrtWide {
  double operator()(double a) const { return settled(Rsqrt{}(a), a); }
};

template <class Op, class... S>
ComputeFn find_f32(const ptx::Modifiers& m) {
  if (m.type != Type::f32) return nullptr;
  return m.ftz ? lanewise<Approximation<Op, true>, float, S...>
               : lanewise<Approximation<Op, false>, float, S...>;
}

ComputeFn find_f64(const Instr& instr) {
  const bool ftz = instr.modifiers.ftz;
  if (instr.opcode == Opcode::rcp_) {
    return ftz ? lanewise<UpperWord<RcpWide>, double, double> : nullptr;
  }
  if (instr.opcode != Opcode::rsqrt_) return nullptr;
  return ftz ? lanewise<UpperWord<RsqrtWide>, double, double> : lanewise<RsqrtWide, double, double>;
}

}  // namespace

ComputeFn find_approximate(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  if (!m.approx && !m.full) return nullptr;
  if (m.type == Type::f64) return find_f64(instr);
  switch (instr.opcode) {
    case Opcode::div_:
      return m.full ? find_f32<DivFull, float, float>(m) : find_f32<DivApprox, float, float>(m);
    case Opcode::rcp_: return find_f32<Rcp, float>(m);
    case Opcode::sqrt_: return find_f32<Sqrt, float>(m);
    case Opcode::rsqrt_: return find_f32<Rsqrt, float>(m);
    case Opcode::ex2_: return find_f32<Ex2, float>(m);
    case Opcode::lg2_: return find_f32<Lg2, float>(m);
    case Opcode::sin_: return find_f32<Wave<false>, float>(m);
    case Opcode::cos_: return find_f32<Wave<true>, float>(m);
    case Opcode::tanh_: return find_f32<Tanh, float>(m);
    default: return nullptr;
  }
}

}  // namespace warpcheck::vgpu::WARPCHECK_SIMD
