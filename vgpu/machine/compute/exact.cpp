#include "vgpu/machine/compute/exact.hpp"

#include <algorithm>
#include <utility>

namespace warpcheck::vgpu::exact {
namespace {

using Kind = Number::Kind;
using ptx::Rounding;

// Position of the highest set bit; -1 for 0.
int top_bit(Significand x) {
  const auto high = static_cast<std::uint64_t>(x >> 64);
  const auto low = static_cast<std::uint64_t>(x);
  if (high != 0) return 127 - __builtin_clzll(high);
  return low != 0 ? 63 - __builtin_clzll(low) : -1;
}

Number nan() { return {.kind = Kind::nan}; }
Number infinity(bool negative) { return {.kind = Kind::infinite, .negative = negative}; }
Number zero(bool negative) { return {.negative = negative}; }

// Shifts the highest set bit to `position`; no higher bit may be set.
Number normalized(Number x, int position) {
  const int shift = position - top_bit(x.significand);
  x.significand <<= shift;
  x.exponent -= shift;
  return x;
}

// Drops the `count` lowest bits into the sticky bit.
Number lowered(Number x, int count) {
  if (count <= 0) return x;
  const bool all = count > 127;
  const Significand rest = all ? x.significand : x.significand & ((Significand{1} << count) - 1);
  x.sticky = x.sticky || rest != 0;
  x.significand = all ? 0 : x.significand >> count;
  x.exponent += count;
  return x;
}

// Returns whether dropping the bits below the last kept bit rounds away from zero.  `below`
// compares the dropped part with half a unit of the last place: -1 (zero), 0 (less), 1 (equal), 2
// (more).
bool rounds_away(Rounding rounding, bool negative, bool odd, int below) {
  switch (rounding) {
    case Rounding::rm:
    case Rounding::rmi: return negative && below >= 0;
    case Rounding::rp:
    case Rounding::rpi: return !negative && below >= 0;
    case Rounding::rz:
    case Rounding::rzi: return false;
    case Rounding::rna: return below >= 1;
    default: return below == 2 || (below == 1 && odd);
  }
}

struct Rounded {
  Significand kept;
  bool away;
};

// Drops `count` bits of a finite number, and returns which way to round.
Rounded round_off(const Number& x, int count, Rounding rounding) {
  const Number before = lowered(x, count - 1);
  const bool half = count > 0 && (before.significand & 1) != 0;
  const bool sticky = before.sticky;
  const Significand kept = count > 0 ? before.significand >> 1 : before.significand;
  const int below = half ? (sticky ? 2 : 1) : (sticky ? 0 : -1);
  return {kept, rounds_away(rounding, x.negative, (kept & 1) != 0, below)};
}

}  // namespace

const Format& format_of(ptx::Type type) {
  switch (type) {
    case ptx::Type::f16:
    case ptx::Type::f16x2: return kF16;
    case ptx::Type::bf16:
    case ptx::Type::bf16x2: return kBf16;
    case ptx::Type::f64: return kF64;
    default: return kF32;
  }
}

std::uint64_t ulps_between(const Format& format, std::uint64_t x, std::uint64_t y) {
  const std::uint64_t a = x & (format.sign() - 1), b = y & (format.sign() - 1);
  const bool have_one_sign = ((x ^ y) & format.sign()) == 0;
  return have_one_sign ? std::max(a, b) - std::min(a, b) : a + b;
}

Number unpack(const Format& format, std::uint64_t bits) {
  const bool negative = (bits & format.sign()) != 0;
  const std::uint64_t magnitude = bits & (format.sign() - 1);
  if (magnitude > format.infinity()) return nan();
  if (magnitude == format.infinity()) return infinity(negative);
  const auto biased = static_cast<int>(magnitude >> format.fraction_bits);
  const std::uint64_t fraction = magnitude & (format.hidden() - 1);
  Number x{.negative = negative};
  x.significand = biased == 0 ? fraction : fraction | format.hidden();
  x.exponent = format.exponent_min() + (biased == 0 ? 0 : biased - 1);
  return x;
}

Number from_integer(std::uint64_t value) { return {.significand = value}; }

Number from_integer(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return {.negative = value < 0, .significand = value < 0 ? std::uint64_t{0} - bits : bits};
}

std::uint64_t pack(const Format& format, const Number& x, Rounding rounding) {
  const std::uint64_t sign = x.negative ? format.sign() : 0;
  if (x.kind == Kind::nan) return format.nan;
  if (x.kind == Kind::infinite) return sign | format.infinity();
  if (x.is_zero()) return sign;
  // The last place of the result: of its binade, or of the subnormals.
  const int last = x.exponent + top_bit(x.significand) - format.fraction_bits;
  const int place = last > format.exponent_min() ? last : format.exponent_min();
  // A significand that is too short gets zeros below; a sticky number always has enough bits,
  // unless it is far below the smallest place.
  const int drop = place - x.exponent;
  const Number widened = drop < 0 ? normalized(x, top_bit(x.significand) - drop) : x;
  const Rounded rounded = round_off(widened, drop < 0 ? 0 : drop, rounding);
  // A set hidden bit, or a carry into or past it, increments the exponent field by itself.
  const auto significand = static_cast<std::uint64_t>(rounded.kept) + (rounded.away ? 1 : 0);
  const auto field = static_cast<std::uint64_t>(place - format.exponent_min());
  if (field >= (format.infinity() >> format.fraction_bits)) {
    return sign |
           (rounds_away(rounding, x.negative, true, 2) ? format.infinity() : format.infinity() - 1);
  }
  const std::uint64_t magnitude = (field << format.fraction_bits) + significand;
  if (magnitude < format.infinity()) return sign | magnitude;
  return sign |
         (rounds_away(rounding, x.negative, true, 2) ? format.infinity() : format.infinity() - 1);
}

Number to_integral(const Number& x, Rounding rounding) {
  if (x.kind != Kind::finite || x.exponent >= 0) return x;
  const Rounded rounded = round_off(x, -x.exponent, rounding);
  return {.negative = x.negative, .significand = rounded.kept + (rounded.away ? 1 : 0)};
}

__int128 to_integer(const Number& x, __int128 lowest, __int128 highest) {
  if (x.kind == Kind::nan) return 0;
  const bool huge =
      x.kind == Kind::infinite || (x.significand != 0 && top_bit(x.significand) + x.exponent > 100);
  if (huge) return x.negative ? lowest : highest;
  const Significand magnitude =
      x.exponent >= 0 ? x.significand << x.exponent : lowered(x, -x.exponent).significand;
  const auto value =
      x.negative ? -static_cast<__int128>(magnitude) : static_cast<__int128>(magnitude);
  if (value < lowest) return lowest;
  return value > highest ? highest : value;
}

Number add(const Number& a, const Number& b, Rounding rounding) {
  if (a.kind == Kind::nan || b.kind == Kind::nan) return nan();
  if (a.kind == Kind::infinite && b.kind == Kind::infinite) {
    return a.negative == b.negative ? a : nan();
  }
  if (a.kind == Kind::infinite) return a;
  if (b.kind == Kind::infinite) return b;
  if (a.is_zero() && b.is_zero()) {
    return a.negative == b.negative ? a : zero(rounding == Rounding::rm);
  }
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  // The number with the higher top bit gets it at bit 125: one bit above for the carry, and 72 bits
  // below a 53-bit significand or 19 below a product of two.  So bits of the other number are lost
  // only where no cancellation can make them significant.
  Number big = normalized(a, 125);
  Number small = normalized(b, 125);
  const bool swap = small.exponent > big.exponent ||
                    (small.exponent == big.exponent && small.significand > big.significand);
  if (swap) std::swap(big, small);
  small = lowered(small, big.exponent - small.exponent);
  Number sum = big;
  sum.sticky = small.sticky;
  if (big.negative == small.negative) {
    sum.significand = big.significand + small.significand;
  } else {
    // The subtrahend is slightly larger than its bits: subtract one more, and set the sticky bit.
    sum.significand = big.significand - small.significand - (small.sticky ? 1 : 0);
    if (sum.is_zero()) return zero(rounding == Rounding::rm);
  }
  return sum;
}

Number multiply(const Number& a, const Number& b) {
  const bool negative = a.negative != b.negative;
  if (a.kind == Kind::nan || b.kind == Kind::nan) return nan();
  if (a.kind == Kind::infinite || b.kind == Kind::infinite) {
    return a.is_zero() || b.is_zero() ? nan() : infinity(negative);
  }
  if (a.is_zero() || b.is_zero()) return zero(negative);
  return {.negative = negative,
          .exponent = a.exponent + b.exponent,
          .significand = a.significand * b.significand};
}

}  // namespace warpcheck::vgpu::exact
