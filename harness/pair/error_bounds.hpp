// Bounds of the distance between a floating-point result and the exact one, derived from the input
// and from the number of operations that rounded it.
//
// u is the unit roundoff, half of T's epsilon.  Each bound is rounded upwards, and is infinite if
// an intermediate result might overflow.  Values that are not finite are left out, because their
// effect is not a matter of rounding.
#pragma once

#include <concepts>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace warpcheck {

// gamma_k for k roundings in T: k*u / (1 - k*u); infinity when k*u >= 1.  Higham, Accuracy and
// Stability of Numerical Algorithms, 2nd ed., 3.1.
template <std::floating_point T>
double gamma(std::size_t roundings) {
  const double ku = static_cast<double>(roundings) * (std::numeric_limits<T>::epsilon() / 2);
  return ku < 1 ? ku / (1 - ku) : std::numeric_limits<double>::infinity();
}

// How arithmetic treats numbers below the smallest normal one.
enum class Subnormals { kept, flushed };

// The largest distance between two summations of `values`, in any two orders and each in T: 2 *
// gamma_(n-1) * sum|x_i|, since each is within half of that of the exact sum (Higham 4.2). An
// addition that flushes subnormals loses less than the smallest normal number for each operand and
// for the result; atomicAdd() of floats in global memory is one (PTX ISA 9.7.13.5).
double sum_error_bound(std::span<const float> values, Subnormals = Subnormals::kept);
double sum_error_bound(std::span<const double> values);

// The same for every prefix: element i bounds the sum of values[0..i] (an inclusive scan).
std::vector<double> prefix_sum_error_bounds(std::span<const float> values);
std::vector<double> prefix_sum_error_bounds(std::span<const double> values);

// Compensated summation (Kahan 1965) of `terms` terms in sequence: the largest error as a share of
// sum|x_i|.  0 for one term, u + 16u^2 for two, and from three on
//
//   3u + 8*terms*u^2.
//
// The terms in u^2 leave room for an exact sum that was rounded to double.
//
// The textbooks' first-order term is 2u (Goldberg 1991, theorem 8; Higham 4.3).  It is too small:
// error_bounds_test.cpp has 13 floats whose compensated sum is off by 2.23u.  The proof of 3u:
//   y_k = fl(x_k - c_(k-1))                    = x_k - c_(k-1) + h_k
//   s_k = fl(s_(k-1) + y_k)                    = s_(k-1) + y_k + e_k
//   c_k = fl(fl(s_k - s_(k-1)) - y_k)          = e_k + f_k
// Then s_k - c_k = s_(k-1) - c_(k-1) + x_k + h_k - f_k, which telescopes:
//   s_n - sum x_k = sum_(k<=n) h_k - sum_(k<n) f_k + e_n.
// |h_k| <= u|x_k - c_(k-1)| and |e_n| <= u|s_n|.  Where |s_(k-1)| >= |y_k|, c_k is exact (Dekker
// 1971) and f_k = 0; elsewhere only the inner subtraction rounds, so |f_k| <= u|y_k + e_k|.  Each
// of the three sums is thus at most u * sum|x_k|, but for terms in u^2: |c_k| <= u(|s_k| + 2|y_k|)
// and there are n of them, each once in h and once in f.
// Precondition: terms * u <= 1/64; throws std::invalid_argument otherwise.
double kahan_error_share(std::size_t terms);

// The bound for the compensated sum of `values` in float.  With Subnormals::flushed, every
// operation may lose up to 2^-126 more; four operations for each term and one at the end matter,
// and the bound grows by 6 * terms * 2^-126.  The values themselves are not flushed: flush them
// before.
double kahan_sum_error_bound(std::span<const float> values, Subnormals = Subnormals::kept);

// The bound for the compensated sum of the products a[i] * b[i] in float.  It holds whether a
// compiler fuses a product with the following subtraction (exact) or rounds it first.  The rounding
// error of every product, also below the normal range, is computed exactly and added.
double kahan_dot_error_bound(std::span<const float> a, std::span<const float> b,
                             Subnormals = Subnormals::kept);

// `threads` sums, each of every threads-th value, and the sum of those sums, all compensated.
double kahan_strided_sum_error_bound(std::span<const float> values, std::size_t threads,
                                     Subnormals = Subnormals::kept);

}  // namespace warpcheck
