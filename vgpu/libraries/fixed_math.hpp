// Elementary functions that give the same bits on every x86-64 host.
//
// The host's libm does not: glibc selects a variant of sin, log and exp by the processor, and the
// variants differ in the last bit.  So the replacement libraries compute series of their own, in
// the order in which they are written here (no target of ours contracts products and sums).  T is
// double for results in single precision, and long double (64 bits of mantissa) for results in
// double precision; the error is then below one unit in the last place of the result.
#pragma once

#include <cmath>
#include <limits>

namespace warpcheck::fixed_math {

template <class T>
constexpr T kPi = static_cast<T>(3.14159265358979323846264338327950288L);

template <class T>
struct SinCos {
  T sin, cos;
};

// Taylor series.  |x| <= pi/4
template <class T>
SinCos<T> sin_cos_near_zero(T x) {
  constexpr int kTerms = std::numeric_limits<T>::digits > 53 ? 11 : 9;
  const T square = x * x;
  T sin = 1;
  T cos = 1;
  for (int k = kTerms; k >= 1; --k) {
    sin = 1 - sin * square / static_cast<T>((2 * k) * (2 * k + 1));
    cos = 1 - cos * square / static_cast<T>((2 * k - 1) * (2 * k));
  }
  return {.sin = x * sin, .cos = cos};
}

// Returns sin and cos of an angle that is `quarters` times pi/2 plus a rest.
template <class T>
SinCos<T> turned(SinCos<T> of_rest, unsigned quarters) {
  switch (quarters % 4) {
    case 0: return of_rest;
    case 1: return {.sin = of_rest.cos, .cos = -of_rest.sin};
    case 2: return {.sin = -of_rest.sin, .cos = -of_rest.cos};
    default: return {.sin = -of_rest.cos, .cos = of_rest.sin};
  }
}

// sin and cos of pi * x.  0 <= x <= 2^20
template <class T>
SinCos<T> sin_cos_pi(T x) {
  const auto quarters = static_cast<unsigned>(2 * x + T(0.5));
  return turned(sin_cos_near_zero(kPi<T> * (x - T(0.5) * static_cast<T>(quarters))), quarters);
}

// sin and cos of x in radians.  0 <= x <= 7
template <class T>
SinCos<T> sin_cos(T x) {
  const auto quarters = static_cast<unsigned>(x * (2 / kPi<T>)+T(0.5));
  // pi/2 in two parts, so that the product with the first is exact.
  constexpr T kHigh = 1.5707963267341256141662597656250L;
  constexpr T kLow = 6.0771005065061922463183243e-11L;
  const T count = static_cast<T>(quarters);
  return turned(sin_cos_near_zero((x - count * kHigh) - count * kLow), quarters);
}

// The natural logarithm of a positive, finite number.
template <class T>
T log(T x) {
  int exponent = 0;
  T mantissa = std::frexp(x, &exponent);
  if (mantissa < T(0.70710678118654752440L)) {
    mantissa *= 2;
    --exponent;
  }
  // log(m) = 2 artanh((m - 1) / (m + 1))
  constexpr int kTerms = std::numeric_limits<T>::digits > 53 ? 13 : 11;
  const T ratio = (mantissa - 1) / (mantissa + 1);
  const T square = ratio * ratio;
  T sum = 0;
  for (int k = kTerms; k >= 1; --k) sum = (sum + T(1) / static_cast<T>(2 * k + 1)) * square;
  constexpr T kHigh = 0.693147180369123816490173339843750L;  // log(2) in two parts
  constexpr T kLow = 1.90821492927058770002e-10L;
  const T whole = static_cast<T>(exponent);
  return whole * kHigh + (2 * ratio + (2 * ratio * sum + whole * kLow));
}

// Returns 0 and infinity beyond the range of double.
template <class T>
T exp(T x) {
  if (x != x) return x;
  if (x > 710) return std::numeric_limits<T>::infinity();
  if (x < -746) return 0;
  const T whole = std::floor(x * T(1.44269504088896340736L) + T(0.5));
  constexpr T kHigh = 0.693147180369123816490173339843750L;
  constexpr T kLow = 1.90821492927058770002e-10L;
  const T rest = (x - whole * kHigh) - whole * kLow;
  constexpr int kTerms = std::numeric_limits<T>::digits > 53 ? 18 : 14;
  T sum = 1;
  for (int k = kTerms; k >= 1; --k) sum = 1 + sum * rest / static_cast<T>(k);
  return std::ldexp(sum, static_cast<int>(whole));
}

namespace detail {

template <class T, std::size_t N>
T polynomial(const T (&coefficients)[N], T x) {
  T value = 0;
  for (const T coefficient : coefficients) value = value * x + coefficient;
  return value;
}

}  // namespace detail

// The quantile of the standard normal distribution, as a rational function of three pieces
// (Wichura, Algorithm AS 241, Applied Statistics 37, 1988; relative error 1e-16).  0 < p < 1
template <class T>
T normal_quantile(T p) {
  using detail::polynomial;
  constexpr T kCentral[] = {2509.0809287301226727L, 33430.575583588128105L, 67265.770927008700853L,
                            45921.953931549871457L, 13731.693765509461125L, 1971.5909503065514427L,
                            133.14166789178437745L, 3.387132872796366608L};
  constexpr T kCentralUnder[] = {5226.495278852545925L,  28729.085735721942674L,
                                 39307.89580009271061L,  21213.794301586595867L,
                                 5394.1960214247511077L, 687.1870074920579083L,
                                 42.313330701600911252L, 1.0L};
  constexpr T kMiddle[] = {7.7454501427834140764e-4L, .0227238449892691845833L,
                           .24178072517745061177L,    1.27045825245236838258L,
                           3.64784832476320460504L,   5.7694972214606914055L,
                           4.6303378461565452959L,    1.42343711074968357734L};
  constexpr T kMiddleUnder[] = {1.05075007164441684324e-9L, 5.475938084995344946e-4L,
                                .0151986665636164571966L,   .14810397642748007459L,
                                .68976733498510000455L,     1.6763848301838038494L,
                                2.05319162663775882187L,    1.0L};
  constexpr T kTail[] = {2.01033439929228813265e-7L, 2.71155556874348757815e-5L,
                         .0012426609473880784386L,   .026532189526576123093L,
                         .29656057182850489123L,     1.7848265399172913358L,
                         5.4637849111641143699L,     6.6579046435011037772L};
  constexpr T kTailUnder[] = {2.04426310338993978564e-15L, 1.4215117583164458887e-7L,
                              1.8463183175100546818e-5L,   7.868691311456132591e-4L,
                              .0148753612908506148525L,    .13692988092273580531L,
                              .59983220655588793769L,      1.0L};
  const T from_middle = p - T(0.5);
  if (std::fabs(from_middle) <= T(0.425)) {
    const T square = T(0.180625) - from_middle * from_middle;
    return from_middle * polynomial(kCentral, square) / polynomial(kCentralUnder, square);
  }
  const T root = std::sqrt(-log(from_middle < 0 ? p : 1 - p));
  const T magnitude =
      root <= 5 ? polynomial(kMiddle, root - T(1.6)) / polynomial(kMiddleUnder, root - T(1.6))
                : polynomial(kTail, root - 5) / polynomial(kTailUnder, root - 5);
  return from_middle < 0 ? -magnitude : magnitude;
}

}  // namespace warpcheck::fixed_math
