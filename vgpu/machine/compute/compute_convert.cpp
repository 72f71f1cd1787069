// cvt between integers, f32, f64 and f16, and between f32 and bf16: PTX ISA 9.0, 9.7.9.21.
//
// The forms that compilers emit frequently, to nearest; all other roundings, saturations and types
// are in compute_exact.cpp.  Rules: integers wrap, floats to integers clamp; a signed result
// narrower than its register is sign-extended to the register.  NaN becomes the integer 0, or, from
// f64 or to 64 bits, the integer whose top bit alone is set.  Between f32 and f64 a NaN keeps sign
// and payload, unless .ftz made it canonical; a plain move between equal types changes nothing.
#include "vgpu/machine/compute/compute_families.hpp"
#include "vgpu/machine/compute/lane_half.hpp"
#include "vgpu/machine/compute/lanes.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu::WARPCHECK_SIMD {
namespace {

using ptx::Opcode;
using ptx::Rounding;
using ptx::Type;

// Stores signed results extended to the cell.
template <class T>
Bits<T> extended(T value) {
  if constexpr (std::is_signed_v<T>) {
    return static_cast<Bits<T>>(static_cast<std::make_signed_t<Bits<T>>>(value));
  } else {
    return value;
  }
}

template <class D>
struct Wrap {
  template <class S>
  Bits<D> operator()(S value) const {
    return extended(static_cast<D>(value));
  }
};

template <class F>
struct ToFloat {
  template <class S>
  F operator()(S value) const {
    return static_cast<F>(value);
  }
};

// Returns the nearest integral value in the direction of the mode.  Adding 2^23 (2^52 for double)
// rounds to nearest even; the result is then corrected by one step.
template <Rounding kMode, class F>
F integral(F x) {
  constexpr F kNoFraction = sizeof(F) == 4 ? F{0x1p23} : F{0x1p52};
  const F magnitude = absolute(x);
  F rounded = (magnitude + kNoFraction) - kNoFraction;
  if constexpr (kMode == Rounding::rzi) {
    rounded = rounded > magnitude ? rounded - F{1} : rounded;
  } else if constexpr (kMode != Rounding::rni) {
    // Rounding toward the sign of x is rounding away from zero.
    const bool away = (kMode == Rounding::rpi) == (x > F{0});
    const F outward = rounded < magnitude ? rounded + F{1} : rounded;
    const F inward = rounded > magnitude ? rounded - F{1} : rounded;
    rounded = away ? outward : inward;
  }
  return magnitude < kNoFraction ? with_sign(rounded, x) : x;
}

// Converts integral floats to integers of 32 or 64 bits, clamped; the caller handles NaN.
template <class D, class F>
D clamped(F x) {
  using S = std::make_signed_t<D>;
  constexpr F kHalf = sizeof(D) == 4 ? F{0x1p31} : F{0x1p63};
  constexpr D kMax = std::is_signed_v<D> ? static_cast<D>(~Bits<D>{0} >> 1) : static_cast<D>(-1);
  constexpr D kMin = std::is_signed_v<D> ? static_cast<D>(kMax + Bits<D>{1}) : D{0};
  constexpr F kFirstBelow = std::is_signed_v<D> ? -kHalf : F{0};
  constexpr F kFirstAbove = std::is_signed_v<D> ? kHalf : 2 * kHalf;
  const bool high_half = !std::is_signed_v<D> && x >= kHalf;
  const F shifted = high_half ? x - kHalf : x;
  const bool in_range = shifted >= kFirstBelow && shifted < kHalf;
  const auto low = static_cast<Bits<D>>(static_cast<S>(in_range ? shifted : F{0}));
  const auto value = static_cast<D>(high_half ? low + (Bits<D>{1} << (8 * sizeof(D) - 1)) : low);
  if (x < kFirstBelow) return kMin;
  return x >= kFirstAbove ? kMax : value;
}

// Types narrower than 32 bits are clamped as s32 to their own bounds.
template <class D, Rounding kMode, bool kFlush>
struct ToInteger {
  explicit ToInteger(const Instr& instr) {
    const unsigned bits = 8 * ptx::bytes_of(instr.modifiers.type);
    const bool is_signed = ptx::is_signed(instr.modifiers.type);
    if (bits == 64 || instr.modifiers.source_type == Type::f64) {
      of_nan = static_cast<D>(Bits<D>{1} << (bits - 1));
      if (is_signed && bits < 32) of_nan = static_cast<D>(0 - of_nan);
    }
    if (bits >= 32) return;
    lowest = is_signed ? -(std::int32_t{1} << (bits - 1)) : 0;
    highest = (std::int32_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  }
  template <class F>
  D operator()(F x) const {
    const D number = clamped<D>(integral<kMode>(flush<kFlush>(x)));
    return is_nan(x) ? of_nan : bounded(number);
  }

 private:
  [[nodiscard]] D bounded(D value) const {
    if constexpr (std::is_same_v<D, std::int32_t>) {
      const D not_high = value > highest ? highest : value;
      return not_high < lowest ? lowest : not_high;
    } else {
      return value;
    }
  }
  std::int32_t lowest = INT32_MIN;
  std::int32_t highest = INT32_MAX;
  D of_nan = 0;
};

template <Rounding kMode, bool kFlush, bool kSaturate>
struct ToIntegral {
  template <class F>
  F operator()(F x) const {
    const F flushed = flush<kFlush>(x);
    if constexpr (kMode == Rounding::none && !kFlush && !kSaturate) {
      return x;
    } else if constexpr (kMode == Rounding::none) {
      return settled(saturate<kSaturate>(flushed), x);
    } else {
      return settled(saturate<kSaturate>(integral<kMode>(flushed)), x);
    }
  }
};

// f32 -> f64 is exact, f64 -> f32 rounds to nearest.  The host's conversions keep the payload of a
// NaN too.
template <bool kFlush, bool kSaturate>
struct Resize {
  double operator()(float x) const {
    const float operand = kFlush ? canonical(flush<kFlush>(x)) : x;
    return saturate<kSaturate>(static_cast<double>(operand));
  }
  float operator()(double x) const {
    const auto result = static_cast<float>(x);
    const auto scaled = static_cast<float>(x * 0x1p32);
    return saturate<kSaturate>(flush_result<kFlush>(result, scaled));
  }
};

struct FromHalf {
  float operator()(std::uint16_t half) const { return from_half(half); }
};

#if defined(__F16C__)
void widen_halves(const LaneBanks& banks, const Instr& instr, std::uint32_t mask) {
  const std::uint32_t* from = row<std::uint16_t>(banks, instr[ComputeOperand::a]);
  std::uint32_t* const to = row<float>(banks, instr[ComputeOperand::d]);
  alignas(64) std::uint32_t values[kWarpLanes];
  std::uint32_t* const out = mask == kAllLanes ? to : values;
  const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(FloatLayout<float>::kNan));
  for (unsigned lane = 0; lane < kWarpLanes; lane += 8) {
    const __m256i cells =
        _mm256_and_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + lane)),
                         _mm256_set1_epi32(0xffff));
    const __m128i halves =
        _mm_packus_epi32(_mm256_castsi256_si128(cells), _mm256_extracti128_si256(cells, 1));
    const __m256 floats = _mm256_cvtph_ps(halves);
    const __m256 is_nan = _mm256_cmp_ps(floats, floats, _CMP_UNORD_Q);
    _mm256_storeu_ps(reinterpret_cast<float*>(out + lane), _mm256_blendv_ps(floats, nan, is_nan));
  }
  if (mask != kAllLanes) blend(to, values, mask);
}
#else
constexpr ComputeFn widen_halves = lanewise<FromHalf, float, std::uint16_t>;
#endif

struct FromBfloat {
  float operator()(std::uint16_t half) const { return from_bfloat(half); }
};

// To one or two halves.  An integer becomes a float first, which rounds only integers that no f16
// reaches.
template <bool kBfloat>
struct ToHalves {
  explicit ToHalves(const Instr& instr) : relu(instr.modifiers.relu) {}

  template <class S>
  std::uint32_t operator()(S value) const {
    const auto x = static_cast<float>(value);
    const std::uint32_t half = kBfloat ? to_bfloat(x) : to_half(x);
    return relu && half >= kHalfSign ? 0 : half;
  }
  // cvt.f16x2.f32 d, a, b: a becomes the upper half.
  std::uint32_t operator()(float upper, float lower) const {
    return (*this)(upper) << 16 | (*this)(lower);
  }

  bool relu;
};

// An operation on the value of an f16.
template <class Op>
struct OfHalf {
  explicit OfHalf(const Instr& instr) : op(make_operation<Op>(instr)) {}
  auto operator()(std::uint16_t half) const { return op(from_half(half)); }
  Op op;
};

template <class S>
struct FromInteger {
  template <class D>
  struct Wrapped {
    static constexpr ComputeFn fn = lanewise<Wrap<D>, Bits<D>, S>;
  };
};

template <class S>
ComputeFn from_integer(const ptx::Modifiers& m) {
  using F = FromInteger<S>;
  if (m.sat || m.ftz) return nullptr;
  if (m.rounding == Rounding::none || m.rounding == Rounding::rn) {
    if (m.type == Type::f32) return lanewise<ToFloat<float>, float, S>;
    if (m.type == Type::f64) return lanewise<ToFloat<double>, double, S>;
    if (m.type == Type::f16) return lanewise<ToHalves<false>, std::uint32_t, S>;
  }
  if (m.rounding != Rounding::none) return nullptr;
  return for_type<F::template Wrapped, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t,
                  std::int8_t, std::int16_t, std::int32_t, std::int64_t>(m.type);
}

// F: float, double, or the cell of an f16.
template <class D, class F, Rounding kMode, bool kFlush>
constexpr ComputeFn to_integer_of() {
  using OfFloat = ToInteger<D, kMode, kFlush>;
  constexpr bool kHalf = std::is_same_v<F, std::uint16_t>;
  return lanewise<std::conditional_t<kHalf, OfHalf<OfFloat>, OfFloat>, D, F>;
}

template <class F, Rounding kMode, bool kFlush>
ComputeFn to_integer(Type type) {
  if (type == Type::u32) return to_integer_of<std::uint32_t, F, kMode, kFlush>();
  if (type == Type::u64) return to_integer_of<std::uint64_t, F, kMode, kFlush>();
  if (type == Type::s64) return to_integer_of<std::int64_t, F, kMode, kFlush>();
  return to_integer_of<std::int32_t, F, kMode, kFlush>();
}

template <class F, bool kFlush>
ComputeFn to_integer(const ptx::Modifiers& m) {
  switch (m.rounding) {
    case Rounding::rni: return to_integer<F, Rounding::rni, kFlush>(m.type);
    case Rounding::none:
    case Rounding::rzi: return to_integer<F, Rounding::rzi, kFlush>(m.type);
    case Rounding::rmi: return to_integer<F, Rounding::rmi, kFlush>(m.type);
    case Rounding::rpi: return to_integer<F, Rounding::rpi, kFlush>(m.type);
    default: return nullptr;
  }
}

template <class F, bool kFlush, bool kSaturate>
ComputeFn to_integral(Rounding rounding) {
  switch (rounding) {
    case Rounding::none: return lanewise<ToIntegral<Rounding::none, kFlush, kSaturate>, F, F>;
    case Rounding::rni: return lanewise<ToIntegral<Rounding::rni, kFlush, kSaturate>, F, F>;
    case Rounding::rzi: return lanewise<ToIntegral<Rounding::rzi, kFlush, kSaturate>, F, F>;
    case Rounding::rmi: return lanewise<ToIntegral<Rounding::rmi, kFlush, kSaturate>, F, F>;
    case Rounding::rpi: return lanewise<ToIntegral<Rounding::rpi, kFlush, kSaturate>, F, F>;
    default: return nullptr;
  }
}

template <bool kFlush, bool kSaturate>
ComputeFn float_to_float(const ptx::Modifiers& m) {
  const bool nearest = m.rounding == Rounding::rn || m.rounding == Rounding::none;
  if (m.type == Type::f32 && m.source_type == Type::f64) {
    return nearest ? lanewise<Resize<kFlush, kSaturate>, float, double> : nullptr;
  }
  if (m.type == Type::f64 && m.source_type == Type::f32) {
    return nearest ? lanewise<Resize<kFlush, kSaturate>, double, float> : nullptr;
  }
  if (m.type == Type::f32) return to_integral<float, kFlush, kSaturate>(m.rounding);
  return kFlush ? nullptr : to_integral<double, false, kSaturate>(m.rounding);
}

ComputeFn from_float(const ptx::Modifiers& m) {
  const bool to_nearest = m.rounding == Rounding::rn && !m.ftz && !m.sat;
  if (m.source_type == Type::f32 && to_nearest) {
    if (m.type == Type::f16) return lanewise<ToHalves<false>, std::uint32_t, float>;
    if (m.type == Type::bf16) return lanewise<ToHalves<true>, std::uint32_t, float>;
  }
  if (m.relu) return nullptr;
  if (m.type == Type::f32 || m.type == Type::f64) {
    if (m.sat) return m.ftz ? float_to_float<true, true>(m) : float_to_float<false, true>(m);
    return m.ftz ? float_to_float<true, false>(m) : float_to_float<false, false>(m);
  }
  if (ptx::is_float(m.type) || ptx::bytes_of(m.type) == 0) return nullptr;
  if (m.source_type == Type::f64) return m.ftz ? nullptr : to_integer<double, false>(m);
  return m.ftz ? to_integer<float, true>(m) : to_integer<float, false>(m);
}

ComputeFn to_pair(const ptx::Modifiers& m) {
  using Word = std::uint32_t;
  if (m.source_type != Type::f32 || m.rounding != Rounding::rn) return nullptr;
  if (m.type == Type::f16x2) return lanewise<ToHalves<false>, Word, float, float>;
  return m.type == Type::bf16x2 ? lanewise<ToHalves<true>, Word, float, float> : nullptr;
}

ComputeFn from_half(const ptx::Modifiers& m) {
  if (m.ftz || m.sat) return nullptr;
  if (!ptx::is_float(m.type)) return to_integer<std::uint16_t, false>(m);
  const bool widens = m.type == Type::f32 && m.rounding == Rounding::none;
  return widens ? widen_halves : nullptr;
}

}  // namespace

ComputeFn find_convert(const Instr& instr) {
  const ptx::Modifiers& m = instr.modifiers;
  if (instr.opcode != Opcode::cvt_ || m.pack || m.satfinite) return nullptr;
  if (present(instr[ComputeOperand::b])) return to_pair(m);
  if (ptx::is_packed(m.type)) return nullptr;
  switch (m.source_type) {
    case Type::u8: return from_integer<std::uint8_t>(m);
    case Type::u16: return from_integer<std::uint16_t>(m);
    case Type::u32: return from_integer<std::uint32_t>(m);
    case Type::u64: return from_integer<std::uint64_t>(m);
    case Type::s8: return from_integer<std::int8_t>(m);
    case Type::s16: return from_integer<std::int16_t>(m);
    case Type::s32: return from_integer<std::int32_t>(m);
    case Type::s64: return from_integer<std::int64_t>(m);
    case Type::f32:
    case Type::f64: return from_float(m);
    case Type::f16: return from_half(m);
    case Type::bf16:
      if (m.type != Type::f32 || m.ftz || m.sat) return nullptr;
      return lanewise<FromBfloat, float, std::uint16_t>;
    default: return nullptr;
  }
}

}  // namespace warpcheck::vgpu::WARPCHECK_SIMD
