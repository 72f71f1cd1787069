// Floating-point arithmetic in integers: exact results, rounded once in any direction.
//
// It is used for what the host has no instructions for: narrow floats, conversions of 64-bit
// integers in any direction, products of matrices.  A finite number is sign * significand *
// 2^exponent with 128 bits of significand, plus a sticky bit for anything nonzero below it.
// Operations keep at least 110 significant bits, so that rounding to any format here is correct.
// Source of the rules: IEEE 754-2008, 4.3 and 5.4; PTX ISA 9.0, 9.7.3 (NaN, .ftz, .sat).
#pragma once

#include <bit>
#include <cstdint>

#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::vgpu::exact {

using Significand = unsigned __int128;

// A binary interchange format and its canonical NaN.
struct Format {
  int width;
  int fraction_bits;
  std::uint64_t nan;

  [[nodiscard]] constexpr int exponent_bits() const { return width - 1 - fraction_bits; }
  [[nodiscard]] constexpr int bias() const { return (1 << (exponent_bits() - 1)) - 1; }
  [[nodiscard]] constexpr std::uint64_t sign() const { return std::uint64_t{1} << (width - 1); }
  [[nodiscard]] constexpr std::uint64_t infinity() const {
    return ((std::uint64_t{1} << exponent_bits()) - 1) << fraction_bits;
  }
  [[nodiscard]] constexpr std::uint64_t hidden() const { return std::uint64_t{1} << fraction_bits; }
  [[nodiscard]] constexpr bool is_nan(std::uint64_t bits) const {
    return (bits & (sign() - 1)) > infinity();
  }
  // The exponent of the last place of subnormal and of the smallest normal numbers.
  [[nodiscard]] constexpr int exponent_min() const { return 1 - bias() - fraction_bits; }
};

inline constexpr Format kF16{16, 10, 0x7fff};
inline constexpr Format kBf16{16, 7, 0x7fff};
inline constexpr Format kF32{32, 23, 0x7fffffff};
inline constexpr Format kF64{64, 52, 0xfff8000000000000};

// Returns the format of a float type; that of f32 for all other types.
const Format& format_of(ptx::Type type);

// Returns the number of values between two that are no NaNs, in units in the last place; both zeros
// are one value.
std::uint64_t ulps_between(const Format& format, std::uint64_t x, std::uint64_t y);

struct Number {
  enum class Kind : std::uint8_t { finite, infinite, nan };
  Kind kind = Kind::finite;
  bool negative = false;
  bool sticky = false;  // the value is slightly further from zero
  int exponent = 0;
  Significand significand = 0;  // 0 and not sticky: zero

  [[nodiscard]] bool is_zero() const { return kind == Kind::finite && significand == 0 && !sticky; }
};

// Returns 2^exponent, for exponents of normal doubles (-1022 to 1023).
inline double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

Number unpack(const Format& format, std::uint64_t bits);
Number from_integer(std::int64_t value);
Number from_integer(std::uint64_t value);

// Returns the bits of `x` in `format`, rounded rn, rz, rm or rp.
std::uint64_t pack(const Format& format, const Number& x, ptx::Rounding rounding);

// Returns `x` rounded to an integral value: rni, rzi, rmi or rpi.
Number to_integral(const Number& x, ptx::Rounding rounding);
// Converts an integral number, clamped to [lowest, highest]; NaN gives 0.
__int128 to_integer(const Number& x, __int128 lowest, __int128 highest);

// Exact (or sticky) results.  The sign of an exact zero sum depends on the rounding.
Number add(const Number& a, const Number& b, ptx::Rounding rounding);
Number multiply(const Number& a, const Number& b);
inline Number multiply_add(const Number& a, const Number& b, const Number& c,
                           ptx::Rounding rounding) {
  return add(multiply(a, b), c, rounding);
}

inline Number negated(Number x) {
  x.negative = !x.negative;
  return x;
}

}  // namespace warpcheck::vgpu::exact
