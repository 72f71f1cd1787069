// Numbers of 106 bits: the unevaluated sum of two doubles, of which the second is at most half a
// unit in the last place of the first.
//
// Dekker, A floating-point technique for extending the available precision, Numer. Math. 18 (1971);
// the bounds of each operation: Joldes, Muller, Popescu, Tight and rigorous error bounds for basic
// building blocks of double-word arithmetic, ACM TOMS 44 (2017).
#pragma once

#include <cmath>

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
inline double to_double(const DoubleDouble& a) { return a.hi + a.lo; }
inline double magnitude(const DoubleDouble& a) { return std::abs(a.hi + a.lo); }

}  // namespace warpcheck::vgpu
