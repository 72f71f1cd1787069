#include "harness/agreement.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>

namespace warpcheck {
namespace detail {

std::string show_number(double value) { return fmt::format("{}", value); }
std::string show_number(float value) { return fmt::format("{}", value); }
std::string show_number(std::int64_t value) { return fmt::format("{}", value); }
std::string show_number(std::uint64_t value) { return fmt::format("{}", value); }

std::string size_difference(std::size_t out, std::size_t other, std::string_view other_name) {
  return fmt::format("out has {} elements, {} {}", out, other_name, other);
}

std::string element_difference(std::optional<std::size_t> index, const std::string& out,
                               const std::string& other, std::string_view other_name) {
  if (index) return fmt::format("out[{}] = {}, {} {}", *index, out, other_name, other);
  return fmt::format("out = {}, {} {}", out, other_name, other);
}

double excess(const BoundedElement& element) {
  constexpr double kOutside = std::numeric_limits<double>::infinity();
  const auto [out, reference, bound] = element;
  if (bound == std::numeric_limits<double>::infinity()) return 0;
  if (std::isnan(reference)) return std::isnan(out) ? 0 : kOutside;
  if (std::isinf(reference)) return out == reference ? 0 : kOutside;
  if (!std::isfinite(out)) return kOutside;
  const double distance = std::fabs(out - reference);
  if (distance == 0) return 0;
  return bound == 0 ? kOutside : distance / bound;
}

namespace {

// Where a float stands in the order of all floats, so that neighbours differ by one.
std::int64_t rank(float value) {
  const auto bits = std::bit_cast<std::int32_t>(value);
  return bits < 0 ? std::int64_t{INT32_MIN} - bits : bits;
}

std::int64_t rank(double value) {
  const auto bits = std::bit_cast<std::int64_t>(value);
  return bits < 0 ? INT64_MIN - bits : bits;
}

template <class T>
std::string show_bounded(std::size_t index, const BoundedElement& element) {
  const T out = static_cast<T>(element.out), reference = static_cast<T>(element.reference);
  std::string text = fmt::format("out[{}] = {}, reference {}", index, out, reference);
  if (!std::isfinite(out) || !std::isfinite(reference)) return text;
  const std::int64_t a = rank(out), b = rank(reference);
  const auto ulps = a > b ? static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b)
                          : static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a);
  text += fmt::format(" ({} ULPs apart; the error bound is {:.3g})", ulps, element.bound);
  return text;
}

}  // namespace

std::string bound_difference(std::size_t index, const BoundedElement& element, bool single) {
  return single ? show_bounded<float>(index, element) : show_bounded<double>(index, element);
}

}  // namespace detail

namespace {

// Sums |x_i| upwards: rounding errors of the double sum must not make the bound too small.
class MagnitudeSum {
 public:
  void add(double value) {
    if (std::isfinite(value)) sum_ = std::nextafter(sum_ + std::fabs(value), kInfinity);
  }
  template <class T>
  [[nodiscard]] double bound(std::size_t count) const {
    if (sum_ == 0) return 0;
    const double relative = gamma<T>(count == 0 ? 0 : count - 1);
    // Beyond the largest number an order of summing may overflow where another does not.
    if (sum_ * (1 + relative) > static_cast<double>(std::numeric_limits<T>::max())) {
      return kInfinity;
    }
    return 2 * relative * sum_;
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
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

}  // namespace

double sum_error_bound(std::span<const float> values) { return sum_bound(values); }
double sum_error_bound(std::span<const double> values) { return sum_bound(values); }
std::vector<double> prefix_sum_error_bounds(std::span<const float> values) {
  return prefix_bounds(values);
}
std::vector<double> prefix_sum_error_bounds(std::span<const double> values) {
  return prefix_bounds(values);
}

}  // namespace warpcheck
