#include "harness/pair/error_bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace warpcheck {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUnitRoundoff = std::numeric_limits<float>::epsilon() / 2;
constexpr double kSmallestNormal = std::numeric_limits<float>::min();
constexpr double kLargest = std::numeric_limits<float>::max();

// Sums |x_i| rounded upwards: rounding errors of the double sum must not make the bound too small.
class MagnitudeSum {
 public:
  void add(double value) {
    if (std::isfinite(value) && value != 0) {
      sum_ = std::nextafter(sum_ + std::fabs(value), kInfinity);
    }
  }
  // Adds a magnitude that counts even if it is infinite: that of a product that overflowed.
  void add_any(double value) { sum_ = std::isinf(value) ? kInfinity : (add(value), sum_); }

  [[nodiscard]] double value() const { return sum_; }

  template <class T>
  [[nodiscard]] double bound(std::size_t count) const {
    if (sum_ == 0) return 0;
    const double relative = gamma<T>(count == 0 ? 0 : count - 1);
    // Beyond the largest number, one order of summation may overflow and another may not.
    if (sum_ * (1 + relative) > static_cast<double>(std::numeric_limits<T>::max())) {
      return kInfinity;
    }
    return 2 * relative * sum_;
  }

 private:
  double sum_ = 0;
};

template <class T>
double sum_bound(std::span<const T> values) {
  MagnitudeSum sum;
  for (const T value : values) sum.add(value);
  return sum.bound<T>(values.size());
}

template <class T>
std::vector<double> prefix_bounds(std::span<const T> values) {
  std::vector<double> bounds;
  bounds.reserve(values.size());
  MagnitudeSum sum;
  for (const T value : values) {
    sum.add(value);
    bounds.push_back(sum.bound<T>(bounds.size() + 1));
  }
  return bounds;
}

double underflow(std::size_t terms, Subnormals subnormals) {
  return subnormals == Subnormals::kept ? 0 : 6 * static_cast<double>(terms) * kSmallestNormal;
}

// share * magnitudes, rounded upwards; infinite if a partial sum might exceed the largest float.
double compensated_bound(double magnitudes, double share, double more) {
  if (magnitudes * (1 + share) + more > kLargest) return kInfinity;
  const double bound = share * magnitudes;
  return bound == 0 ? more : std::nextafter(bound, kInfinity) + more;
}

}  // namespace

double sum_error_bound(std::span<const float> values, Subnormals subnormals) {
  return sum_bound(values) + underflow(values.size(), subnormals);
}
double sum_error_bound(std::span<const double> values) { return sum_bound(values); }
std::vector<double> prefix_sum_error_bounds(std::span<const float> values) {
  return prefix_bounds(values);
}
std::vector<double> prefix_sum_error_bounds(std::span<const double> values) {
  return prefix_bounds(values);
}

double kahan_error_share(std::size_t terms) {
  const double count = static_cast<double>(terms);
  if (count * kUnitRoundoff > 1.0 / 64) {
    throw std::invalid_argument(
        fmt::format("kahan_error_share: expected at most 2^18 terms, found {}", terms));
  }
  if (terms <= 1) return 0;
  const double roundings = terms == 2 ? 1 : 3;
  return roundings * kUnitRoundoff + 8 * count * kUnitRoundoff * kUnitRoundoff;
}

double kahan_sum_error_bound(std::span<const float> values, Subnormals subnormals) {
  return kahan_strided_sum_error_bound(values, 1, subnormals);
}

double kahan_dot_error_bound(std::span<const float> a, std::span<const float> b,
                             Subnormals subnormals) {
  if (a.size() != b.size()) {
    throw std::invalid_argument(fmt::format(
        "kahan_dot_error_bound: expected as many factors, found {} and {}", a.size(), b.size()));
  }
  MagnitudeSum magnitudes, rounding;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) continue;
    const double exact = static_cast<double>(a[i]) * static_cast<double>(b[i]);
    const double rounded = static_cast<float>(exact);
    magnitudes.add_any(std::max(std::fabs(exact), std::fabs(rounded)));
    rounding.add(exact - rounded);
  }
  // All exact in double: a product of two floats has 48 bits and is at least 2^-298.
  return compensated_bound(magnitudes.value(), kahan_error_share(a.size()),
                           rounding.value() + underflow(a.size(), subnormals));
}

double kahan_strided_sum_error_bound(std::span<const float> values, std::size_t threads,
                                     Subnormals subnormals) {
  MagnitudeSum magnitudes;
  for (const float value : values) magnitudes.add(value);
  const double inner = kahan_error_share((values.size() + threads - 1) / threads);
  const double outer = kahan_error_share(threads);
  return compensated_bound(magnitudes.value(), inner + outer * (1 + inner),
                           underflow(values.size() + threads, subnormals));
}

}  // namespace warpcheck
