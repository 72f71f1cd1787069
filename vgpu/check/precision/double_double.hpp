// Numbers of 106 bits: the unevaluated sum of two doubles, of which the second is at most half a
// unit in the last place of the first.
//
// Dekker, A floating-point technique for extending the available precision, Numer. Math. 18 (1971);
// the bounds of each operation: Joldes, Muller, Popescu, Tight and rigorous error bounds for basic
// building blocks of double-word arithmetic, ACM TOMS 44 (2017).
#pragma once

#include <cmath>
#include <cstdint>

namespace warpcheck::vgpu {

struct DoubleDouble {
  double hi = 0, lo = 0;
  friend bool operator==(const DoubleDouble&, const DoubleDouble&) = default;
};

// a + b exactly.
inline DoubleDouble two_sum(double a, double b) {
  const double sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}
// a + b exactly, if a is 0 or |a| >= |b|.
inline DoubleDouble fast_two_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}
// a * b exactly, unless it underflows.
inline DoubleDouble two_product(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

inline DoubleDouble operator-(const DoubleDouble& a) { return {-a.hi, -a.lo}; }
inline DoubleDouble operator+(const DoubleDouble& a, const DoubleDouble& b) {
  const DoubleDouble high = two_sum(a.hi, b.hi), low = two_sum(a.lo, b.lo);
  const DoubleDouble sum = fast_two_sum(high.hi, high.lo + low.hi);
  return fast_two_sum(sum.hi, sum.lo + low.lo);
}
inline DoubleDouble operator-(const DoubleDouble& a, const DoubleDouble& b) { return a + -b; }
inline DoubleDouble operator*(const DoubleDouble& a, const DoubleDouble& b) {
  const DoubleDouble product = two_product(a.hi, b.hi);
  const double rest = std::fma(a.hi, b.lo, a.lo * b.hi);
  return fast_two_sum(product.hi, product.lo + rest);
}
inline DoubleDouble operator/(const DoubleDouble& a, const DoubleDouble& b) {
  const double first = a.hi / b.hi;
  const DoubleDouble rest = a - b * DoubleDouble{first, 0};
  const double second = rest.hi / b.hi;
  const DoubleDouble last = rest - b * DoubleDouble{second, 0};
  return fast_two_sum(first, second) + DoubleDouble{last.hi / b.hi, 0};
}
inline DoubleDouble square_root(const DoubleDouble& a) {
  if (a.hi <= 0) return {};
  const double root = std::sqrt(a.hi);
  const DoubleDouble rest = a - two_product(root, root);
  return fast_two_sum(root, rest.hi / (2 * root));
}

inline constexpr DoubleDouble kLn2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

// 2^a: the series of e^r for the rest r of a whole exponent, divided by 64, and six squares.
inline DoubleDouble exp2(const DoubleDouble& a) {
  constexpr int kSquares = 6, kTerms = 14;
  const double whole = std::nearbyint(a.hi);
  if (!(std::abs(whole) < 1100)) return {std::exp2(a.hi), 0};
  const DoubleDouble rest = (a - DoubleDouble{whole, 0}) * kLn2;
  const DoubleDouble r{std::ldexp(rest.hi, -kSquares), std::ldexp(rest.lo, -kSquares)};
  DoubleDouble sum{1, 0};
  for (int i = kTerms; i > 0; --i) {
    sum = DoubleDouble{1, 0} + sum * r / DoubleDouble{static_cast<double>(i), 0};
  }
  for (int i = 0; i < kSquares; ++i) sum = sum * sum;
  const int exponent = static_cast<int>(whole);
  return {std::ldexp(sum.hi, exponent), std::ldexp(sum.lo, exponent)};
}
// log2 a, by a step of Newton's method from the logarithm of a double.
inline DoubleDouble log2(const DoubleDouble& a) {
  const double near = std::log2(a.hi);
  const DoubleDouble e = a * exp2({-near, 0}) - DoubleDouble{1, 0};
  const DoubleDouble log = e - e * e * DoubleDouble{0.5, 0};
  return DoubleDouble{near, 0} + log / kLn2;
}
inline DoubleDouble tanh(const DoubleDouble& a) {
  if (std::abs(a.hi) > 100) return {a.hi < 0 ? -1.0 : 1.0, 0};
  const DoubleDouble power = exp2(DoubleDouble{2 * a.hi, 2 * a.lo} / kLn2), one{1, 0};
  return (power - one) / (power + one);
}

// Sines and cosines are those of arguments up to 2^30 / pi.
inline bool has_sine(const DoubleDouble& a) { return std::abs(a.hi) < 0x1p28; }
// The sine of an angle after so many quarters of a turn: the Taylor series of what is left of it.
inline DoubleDouble sine_after(const DoubleDouble& a, int quarters) {
  constexpr DoubleDouble kQuarter{0x1.921fb54442d18p0, 0x1.1a62633145c07p-54};
  constexpr double kQuarterRest = -0x1.f1976b7ed8fbcp-110;
  constexpr int kTerms = 14;
  const double whole = std::nearbyint(a.hi / kQuarter.hi);
  const DoubleDouble rest = a - two_product(whole, kQuarter.hi) - two_product(whole, kQuarter.lo) -
                            DoubleDouble{whole * kQuarterRest, 0};
  const auto turns = static_cast<std::int64_t>(whole) + quarters;
  const bool is_cosine = (turns & 1) != 0;
  const DoubleDouble square = rest * rest;
  DoubleDouble sum{1, 0};
  for (int i = kTerms; i > 0; --i) {
    const double divisor = is_cosine ? (2 * i - 1) * (2 * i) : 2 * i * (2 * i + 1);
    sum = DoubleDouble{1, 0} - sum * square / DoubleDouble{divisor, 0};
  }
  if (!is_cosine) sum = sum * rest;
  return (turns & 2) != 0 ? -sum : sum;
}
inline DoubleDouble sine(const DoubleDouble& a) { return sine_after(a, 0); }
inline DoubleDouble cosine(const DoubleDouble& a) { return sine_after(a, 1); }

inline double to_double(const DoubleDouble& a) { return a.hi + a.lo; }
inline double magnitude(const DoubleDouble& a) { return std::abs(a.hi + a.lo); }

}  // namespace warpcheck::vgpu
