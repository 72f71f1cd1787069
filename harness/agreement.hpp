// When a kernel's output agrees with its reference.
//
// exactly() is for integers and for everything whose order of operations is fixed.  Float sums
// whose order differs get a bound derived from the input, never a guessed tolerance: for any two
// orders of summing x_1..x_n, each is within gamma_(n-1) * sum|x_i| of the exact sum, where
// gamma_k = k*u / (1 - k*u) and u is the unit roundoff (Higham, Accuracy and Stability of
// Numerical Algorithms, 2nd ed., 4.2).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace warpcheck {

template <class Input, class Output>
struct Agreement {
  // What is wrong with `out`, as "out[32] = 2, reference 1"; nothing when it agrees.
  std::function<std::optional<std::string>(const Input&, const Output& out,
                                           const Output& reference)>
      difference;
  // Agreement leaves no room, so two schedules that both agree gave the same bits.
  bool exact = true;
  // The output may differ between schedules as long as each agrees (float atomics, for example).
  bool order_sensitive = false;
};

namespace detail {

std::string show_number(double value);
std::string show_number(float value);
std::string show_number(std::int64_t value);
std::string show_number(std::uint64_t value);
// "out has 3 elements, reference 4"
std::string size_difference(std::size_t out, std::size_t other, std::string_view other_name);
// "out[32] = 2, reference 1"; `index` nothing for an output that is no array.
std::string element_difference(std::optional<std::size_t> index, const std::string& out,
                               const std::string& other, std::string_view other_name);

template <class T>
std::string show_element(const T& value) {
  if constexpr (std::floating_point<T>) {
    return show_number(value);
  } else if constexpr (std::is_integral_v<T> && std::is_unsigned_v<T>) {
    return show_number(static_cast<std::uint64_t>(value));
  } else if constexpr (std::is_integral_v<T>) {
    return show_number(static_cast<std::int64_t>(value));
  } else {
    return "(a value)";
  }
}

// Equality of values: two NaNs agree (every operation may choose its NaN's payload), both zeros
// agree.
template <class T>
bool equal_values(const T& a, const T& b) {
  if constexpr (std::floating_point<T>)
    return a == b || (a != a && b != b);
  else
    return a == b;
}

template <class Output>
concept Array = std::ranges::random_access_range<Output> && std::ranges::sized_range<Output>;

template <class Output>
std::optional<std::string> first_difference(const Output& out, const Output& other,
                                            std::string_view other_name) {
  if constexpr (Array<Output>) {
    if (out.size() != other.size()) return size_difference(out.size(), other.size(), other_name);
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (!equal_values(out[i], other[i])) {
        return element_difference(i, show_element(out[i]), show_element(other[i]), other_name);
      }
    }
    return std::nullopt;
  } else {
    if (equal_values(out, other)) return std::nullopt;
    return element_difference(std::nullopt, show_element(out), show_element(other), other_name);
  }
}

// How far apart two floats may be, and where they are most outside.
struct BoundedElement {
  double out = 0, reference = 0, bound = 0;
};
// Over 1: `out` is outside its bound, and by how much.  An infinite bound accepts everything; a
// reference that is not finite wants the same.
double excess(const BoundedElement& element);
std::string bound_difference(std::size_t index, const BoundedElement& element, bool single);

}  // namespace detail

// Element for element the same value; reports the first that is not.
struct Exactly {
  template <class Input, class Output>
  operator Agreement<Input, Output>() const {  // NOLINT: implicit, so that .agreement reads well
    return {.difference = [](const Input&, const Output& out, const Output& reference) {
      return detail::first_difference(out, reference, "reference");
    }};
  }
};
inline Exactly exactly() { return {}; }

// Element i may be `bounds(input)[i]` away from the reference; reports the worst.
template <class Bounds>
struct WithinErrorBound {
  Bounds bounds;

  template <class Input, class Output>
  operator Agreement<Input, Output>() const {  // NOLINT: implicit, so that .agreement reads well
    using Element = std::ranges::range_value_t<Output>;
    static_assert(std::floating_point<Element>, "an error bound is for floating-point arrays");
    auto difference = [derive = bounds](const Input& in, const Output& out,
                                        const Output& reference) -> std::optional<std::string> {
      if (out.size() != reference.size()) {
        return detail::size_difference(out.size(), reference.size(), "reference");
      }
      const std::vector<double> bound = derive(in);
      if (bound.size() != out.size()) {
        throw std::logic_error("within_error_bound: one bound for each element was expected");
      }
      std::size_t worst = out.size();
      double worst_excess = 1.0;
      for (std::size_t i = 0; i < out.size(); ++i) {
        const double at_i = detail::excess({out[i], reference[i], bound[i]});
        if (at_i > worst_excess) {
          worst_excess = at_i;
          worst = i;
        }
      }
      if (worst == out.size()) return std::nullopt;
      return detail::bound_difference(worst, {out[worst], reference[worst], bound[worst]},
                                      std::same_as<Element, float>);
    };
    return {.difference = std::move(difference), .exact = false};
  }
};
// `bounds`: const Input& -> std::vector<double>, one bound an element.
template <class Bounds>
WithinErrorBound<Bounds> within_error_bound(Bounds bounds) {
  return {std::move(bounds)};
}

// gamma_k for k roundings in T: k*u / (1 - k*u); infinity when k*u >= 1.
template <std::floating_point T>
double gamma(std::size_t roundings) {
  const double ku = static_cast<double>(roundings) * (std::numeric_limits<T>::epsilon() / 2);
  return ku < 1 ? ku / (1 - ku) : std::numeric_limits<double>::infinity();
}

// How far two summations of `values`, in any two orders and each in T, may be apart:
// 2 * gamma_(n-1) * sum|x_i|.  Infinite where an intermediate sum might overflow.
double sum_error_bound(std::span<const float> values);
double sum_error_bound(std::span<const double> values);

// The same for every prefix: element i bounds the sum of values[0..i] (an inclusive scan).
std::vector<double> prefix_sum_error_bounds(std::span<const float> values);
std::vector<double> prefix_sum_error_bounds(std::span<const double> values);

}  // namespace warpcheck
