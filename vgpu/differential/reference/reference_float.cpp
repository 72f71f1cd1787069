#include "vgpu/differential/reference/reference_float.hpp"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

using ptx::Compare;
using ptx::Opcode;
using ptx::Type;
__extension__ using Wide = __int128;

template <class F>
using BitsOf = std::conditional_t<sizeof(F) == 4, std::uint32_t, std::uint64_t>;

template <class F>
F as_float(std::uint64_t bits) {
  return std::bit_cast<F>(static_cast<BitsOf<F>>(bits));
}

template <class F>
std::uint64_t bits_of(F value) {
  return std::bit_cast<BitsOf<F>>(value);
}

// A NaN of f32 becomes 0x7fffffff; an f64 keeps the payload of the first NaN source, made quiet.
template <class F>
std::uint64_t settled(F result, std::initializer_list<F> sources) {
  if (!std::isnan(result)) return bits_of(result);
  if constexpr (sizeof(F) == 8) {
    for (const F source : sources) {
      if (std::isnan(source)) return bits_of(source) | std::uint64_t{1} << 51;
    }
    return 0xfff8000000000000;
  }
  return 0x7fffffff;
}

template <class F>
F flushed(F value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(F{0}, value) : value;
}

class RoundingMode {
 public:
  explicit RoundingMode(ptx::Rounding rounding) : before_(std::fegetround()) {
    switch (rounding) {
      case ptx::Rounding::rz: std::fesetround(FE_TOWARDZERO); break;
      case ptx::Rounding::rm: std::fesetround(FE_DOWNWARD); break;
      case ptx::Rounding::rp: std::fesetround(FE_UPWARD); break;
      default: std::fesetround(FE_TONEAREST); break;
    }
  }
  ~RoundingMode() { std::fesetround(before_); }
  RoundingMode(const RoundingMode&) = delete;
  RoundingMode& operator=(const RoundingMode&) = delete;

 private:
  int before_;
};

template <class F>
F saturated(F value) {
  if (std::isnan(value) || value <= 0) return 0;
  return std::min(value, F{1});
}

// min and max: a number takes precedence over a NaN, or with .NaN the NaN over a number; -0 is less
// than +0.
template <class F>
std::uint64_t extreme(const ptx::Instruction& in, F a, F b) {
  const bool is_negative = std::signbit(a) != std::signbit(b);
  if (in.modifiers.xorsign) a = std::fabs(a), b = std::fabs(b);
  F chosen = 0;
  if (std::isnan(a) || std::isnan(b)) {
    chosen = std::isnan(a) && !in.modifiers.nan ? b : a;
    if (in.modifiers.nan || std::isnan(chosen)) {
      return settled(std::numeric_limits<F>::quiet_NaN(), {b, a});
    }
  } else {
    const bool first_is_less = a < b || (a == b && std::signbit(a));
    chosen = first_is_less == (in.opcode == Opcode::min_) ? a : b;
  }
  if (in.modifiers.xorsign) chosen = std::copysign(chosen, is_negative ? F{-1} : F{1});
  return bits_of(chosen);
}

// The extreme of three values, or of their magnitudes.
template <class F>
std::uint64_t extreme_of_three(const ptx::Instruction& in, std::array<F, 3> x) {
  if (in.modifiers.absolute) {
    for (F& each : x) each = std::fabs(each);
  }
  return extreme(in, as_float<F>(extreme(in, x[0], x[1])), x[2]);
}

// Calculates in a rounding mode that the compiler does not know of; volatile prevents optimisation.
template <class F>
F calculated(const ptx::Instruction& in, F x, F y, F z) {
  volatile F a = x, b = y, c = z;
  const RoundingMode mode(in.modifiers.rounding);
  switch (in.opcode) {
    case Opcode::add_: return a + b;
    case Opcode::sub_: return a - b;
    case Opcode::mul_: return a * b;
    case Opcode::div_: return a / b;
    case Opcode::rcp_: return F{1} / a;
    case Opcode::mad_:
    case Opcode::fma_: return std::fma(F{a}, F{b}, F{c});
    case Opcode::sqrt_: return std::sqrt(F{a});
    default: throw std::logic_error(in.text);
  }
}

template <class F>
std::uint64_t result_of(const ptx::Instruction& in, const ReferenceOperands& o) {
  const ptx::Modifiers& m = in.modifiers;
  std::array<F, 3> x{};
  for (std::size_t i = 0; i < 3; ++i) {
    x[i] = as_float<F>(o.source[i]);
    if (m.ftz) x[i] = flushed(x[i]);
  }
  const auto [a, b, c] = x;
  switch (in.opcode) {
    case Opcode::abs_: return std::isnan(a) ? settled(a, {a}) : bits_of(std::fabs(a));
    case Opcode::neg_: return std::isnan(a) ? settled(a, {a}) : bits_of(-a);
    case Opcode::copysign_: return bits_of(std::copysign(b, a));
    case Opcode::min_:
    case Opcode::max_: return in.operands.size() == 4 ? extreme_of_three(in, x) : extreme(in, a, b);
    default: break;
  }
  F result = calculated(in, a, b, c);
  if (m.ftz) result = flushed(result);
  if (m.sat) return bits_of(saturated(result));
  switch (in.opcode) {
    case Opcode::add_:
    case Opcode::sub_:
    case Opcode::mul_: return settled(result, {b, a});
    case Opcode::mad_:
    case Opcode::fma_: return settled(result, {b, c, a});
    case Opcode::div_: return settled(result, {a, b});
    default: return settled(result, {a});
  }
}

template <class F>
bool compare(Compare compare, F a, F b) {
  const bool unordered = std::isnan(a) || std::isnan(b);
  switch (compare) {
    case Compare::eq: return a == b;
    case Compare::ne: return !unordered && a != b;
    case Compare::lt: return a < b;
    case Compare::le: return a <= b;
    case Compare::gt: return a > b;
    case Compare::ge: return a >= b;
    case Compare::equ: return unordered || a == b;
    case Compare::neu: return unordered || a != b;
    case Compare::ltu: return unordered || a < b;
    case Compare::leu: return unordered || a <= b;
    case Compare::gtu: return unordered || a > b;
    case Compare::geu: return unordered || a >= b;
    case Compare::num: return !unordered;
    default: return unordered;
  }
}

template <class F>
F integral(ptx::Rounding rounding, F x) {
  switch (rounding) {
    case ptx::Rounding::rzi: return std::trunc(x);
    case ptx::Rounding::rmi: return std::floor(x);
    case ptx::Rounding::rpi: return std::ceil(x);
    default: return std::nearbyint(x);
  }
}

// 9.7.9.21: NaN gives 0 or, from f64 or to 64 bits, the integer whose top bit alone is set; values
// are clamped.
template <class F>
std::uint64_t to_integer(const ptx::Instruction& in, F x) {
  const Type to = in.modifiers.type;
  const unsigned bits = ptx::bytes_of(to) * 8;
  if (std::isnan(x)) {
    if (bits < 64 && sizeof(F) == 4) return 0;
    const std::uint64_t top = std::uint64_t{1} << (bits - 1);
    return ptx::is_signed(to) ? ~(top - 1) : top;
  }
  constexpr F kFar = 0x1p100f;
  const auto value = static_cast<Wide>(std::clamp(integral(in.modifiers.rounding, x), -kFar, kFar));
  const Wide one = 1;
  const Wide low = ptx::is_signed(to) ? -(one << (bits - 1)) : 0;
  const Wide high = (one << (ptx::is_signed(to) ? bits - 1 : bits)) - 1;
  return static_cast<std::uint64_t>(std::clamp(value, low, high));
}

template <class To, class From>
std::uint64_t to_float(const ptx::Instruction& in, From from) {
  const ptx::Modifiers& m = in.modifiers;
  volatile From x = from;
  To result = 0;
  {
    const RoundingMode mode(m.rounding);
    result = static_cast<To>(From{x});
  }
  if (m.ftz && sizeof(To) == 4) result = flushed(result);
  if (m.sat) return bits_of(saturated(result));
  // Between f32 and f64, a NaN keeps the part of its payload that fits, on an H200 as on the host.
  if constexpr (std::is_floating_point_v<From> && sizeof(From) != sizeof(To)) {
    return bits_of(result);
  }
  return settled(result, {result});
}

template <class To>
std::uint64_t from_integer(const ptx::Instruction& in, std::uint64_t a) {
  const Type from = in.modifiers.source_type;
  const unsigned unused = 64 - 8 * ptx::bytes_of(from);
  if (ptx::is_signed(from)) {
    return to_float<To>(in, static_cast<std::int64_t>(a << unused) >> unused);
  }
  return to_float<To>(in, a << unused >> unused);
}

template <class From>
std::uint64_t from_float(const ptx::Instruction& in, From x) {
  const ptx::Modifiers& m = in.modifiers;
  if (m.ftz && sizeof(From) == 4) {
    x = flushed(x);
    if (std::isnan(x) && m.type == Type::f64) x = as_float<From>(0x7fffffff);
  }
  if (!ptx::is_float(m.type)) return to_integer(in, x);
  if (m.rounding >= ptx::Rounding::rni) x = integral(m.rounding, x);
  return m.type == Type::f32 ? to_float<float>(in, x) : to_float<double>(in, x);
}

}  // namespace

std::uint64_t reference_float_result(const ptx::Instruction& in, const ReferenceOperands& o) {
  return in.modifiers.type == Type::f32 ? result_of<float>(in, o) : result_of<double>(in, o);
}

bool reference_float_compares(const ptx::Instruction& in, Type type, std::uint64_t a,
                              std::uint64_t b) {
  const ptx::Modifiers& m = in.modifiers;
  if (type == Type::f64) return compare(m.compare, as_float<double>(a), as_float<double>(b));
  const float x = as_float<float>(a), y = as_float<float>(b);
  return m.ftz ? compare(m.compare, flushed(x), flushed(y)) : compare(m.compare, x, y);
}

std::uint64_t reference_float_conversion(const ptx::Instruction& in, std::uint64_t a) {
  const Type to = in.modifiers.type, from = in.modifiers.source_type;
  if (from == Type::f32) return from_float(in, as_float<float>(a));
  if (from == Type::f64) return from_float(in, as_float<double>(a));
  return to == Type::f32 ? from_integer<float>(in, a) : from_integer<double>(in, a);
}

bool reference_float_test(const ptx::Instruction& in, std::uint64_t a) {
  const double x = in.modifiers.type == Type::f32 ? as_float<float>(a) : as_float<double>(a);
  const bool is_subnormal = in.modifiers.type == Type::f32
                                ? std::fpclassify(as_float<float>(a)) == FP_SUBNORMAL
                                : std::fpclassify(x) == FP_SUBNORMAL;
  switch (in.modifiers.test) {
    case ptx::TestProperty::finite: return std::isfinite(x);
    case ptx::TestProperty::infinite: return std::isinf(x);
    case ptx::TestProperty::number: return !std::isnan(x);
    case ptx::TestProperty::notanumber: return std::isnan(x);
    // "Positive and negative zero are considered normal numbers."
    case ptx::TestProperty::normal: return std::isfinite(x) && !is_subnormal;
    default: return is_subnormal;
  }
}

bool reference_is_not_negative(const ptx::Instruction& in, std::uint64_t a) {
  const float x = as_float<float>(a);
  return (in.modifiers.ftz ? flushed(x) : x) >= 0;
}

}  // namespace warpcheck::vgpu
