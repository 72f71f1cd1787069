// When a kernel's output agrees with its reference.
//
//   exactly()             the same values: for integers, and where the order of operations is fixed
//   bitwise()             the same bits: NaN payloads and the signs of zeros and NaNs count too
//   ulps(k)               up to k representable numbers apart: for single operations
//   within_error_bound(b) within a bound derived from the input (error_bounds.hpp): for sums, never
//                         a guessed tolerance
//   within_rounding()     within what the kernel's own operations round: for everything else that
//   is
//                         calculated with floats; no bound has to be derived
//   within_rounding_of_reference()  the same, but of the reference's operations
//   as_multiset()         the same elements, each as often, in any order
//   stable_order()        key-value pairs in the reference's order, where pairs of equal keys keep
//                         the order of the input
//   order_sensitive(a)    agrees as `a` says, and may differ from schedule to schedule as long as
//                         it does (atomics on floats)
//
// Under the first two, and stable_order(), all schedules that agree give the same output; under
// the others the harness compares the outputs of schedules too, unless told of order_sensitive().
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <ranges>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/pair/error_bounds.hpp"
#include "harness/pair/plain_output.hpp"

namespace warpcheck {

template <class Input, class Output>
struct Agreement {
  // The difference of `out` from the reference, as "out[32] = 2, reference 1"; empty if it agrees.
  std::function<std::optional<std::string>(const Input&, const Output& out,
                                           const Output& reference)>
      difference;
  // Whether two outputs that both agree are the same bits.
  bool exact = true;
  // The output may differ between schedules as long as each output agrees (float atomics, for
  // example).
  bool order_sensitive = false;

  // The same rule as data, if `difference` is one of this file's.
  Comparison comparison = Comparison::custom;
  std::function<std::vector<double>(const Input&)> bounds = {};  // for within_bounds
  std::uint64_t ulps = 0;                                        // for within_ulps
  std::optional<RoundingRule> rounding = {};  // within_rounding(): `difference` is not used
};

namespace detail {

// Text of one element, of up to this many bytes.
inline constexpr std::size_t kShownMax = 200;
std::string shortened(std::string text);
std::string show_number(double value);
std::string show_number(float value);
std::string show_number(std::int64_t value);
std::string show_number(std::uint64_t value);
// "out has 3 elements, reference 4"
std::string size_difference(std::size_t out, std::size_t other, std::string_view other_name);
// "out[32] = 2, reference 1"; no `index` for an output that is no array.
std::string element_difference(std::optional<std::size_t> index, const std::string& out,
                               const std::string& other, std::string_view other_name);

template <class T>
inline constexpr bool is_pair = false;
template <class First, class Second>
inline constexpr bool is_pair<std::pair<First, Second>> = true;

template <class T>
concept Streamable = requires(std::ostream& out, const T& value) {
  out << value;
};

// An element that itself has elements; text is a value.
template <class T>
concept Nested =
    std::ranges::forward_range<const T&> && !std::is_convertible_v<const T&, std::string_view>;

// Structs with FIELDS are streamable, and so is whatever has an operator<<.
template <class T>
std::string show_element(const T& value) {
  if constexpr (std::same_as<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::floating_point<T>) {
    return show_number(value);
  } else if constexpr (std::is_integral_v<T> && std::is_unsigned_v<T>) {
    return show_number(static_cast<std::uint64_t>(value));
  } else if constexpr (std::is_integral_v<T>) {
    return show_number(static_cast<std::int64_t>(value));
  } else if constexpr (std::is_enum_v<T> && !Streamable<T>) {
    return show_element(static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (is_pair<T>) {
    return "(" + show_element(value.first) + ", " + show_element(value.second) + ")";
  } else if constexpr (Streamable<T>) {
    std::ostringstream text;
    text << value;
    return shortened(std::move(text).str());
  } else if constexpr (Nested<T>) {
    std::string text;
    for (const auto& element : value) {
      text += (text.empty() ? "" : ", ") + show_element(element);
      if (text.size() > kShownMax) break;
    }
    return shortened("{" + text + "}");
  } else {
    return "(a value of a type without FIELDS or operator<<)";
  }
}

// Whether `same` holds for all numbers of two values, which may be pairs and lists.
template <class T, class Same>
bool same_numbers(const T& a, const T& b, Same same) {
  const auto nested = [same](const auto& x, const auto& y) { return same_numbers(x, y, same); };
  if constexpr (std::floating_point<T>) {
    return same(a, b);
  } else if constexpr (is_pair<T>) {
    return nested(a.first, b.first) && nested(a.second, b.second);
  } else if constexpr (Nested<T>) {
    return std::ranges::equal(a, b, nested);
  } else {
    static_assert(std::equality_comparable<T>,
                  "an output's elements are compared with ==: give their type FIELDS");
    return a == b;
  }
}

// Equality of values: two NaNs are equal (an operation may choose the payload), and so are both
// zeros.
template <class T>
bool equal_values(const T& a, const T& b) {
  return same_numbers(a, b, [](auto x, auto y) { return x == y || (x != x && y != y); });
}

template <class Output>
concept Array = std::ranges::random_access_range<Output> && std::ranges::sized_range<Output>;

// `tell` of the first index whose elements are not the `same`; the difference of sizes if they
// differ; empty if all are the same.
template <Array Output, class Same, class Tell>
std::optional<std::string> array_difference(const Output& out, const Output& other,
                                            std::string_view other_name, Same same, Tell tell) {
  if (out.size() != other.size()) return size_difference(out.size(), other.size(), other_name);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!same(out[i], other[i])) return tell(i);
  }
  return std::nullopt;
}

template <class Output>
std::optional<std::string> first_difference(const Output& out, const Output& other,
                                            std::string_view other_name) {
  if constexpr (Array<Output>) {
    using Element = std::ranges::range_value_t<Output>;
    if constexpr (std::ranges::contiguous_range<Output> && std::is_arithmetic_v<Element>) {
      const bool are_same_bytes =
          out.size() == other.size() &&
          (out.empty() || std::memcmp(out.data(), other.data(), out.size() * sizeof(Element)) == 0);
      if (are_same_bytes) return std::nullopt;  // also for NaNs
    }
    return array_difference(out, other, other_name, equal_values<Element>, [&](std::size_t i) {
      return element_difference(i, show_element(out[i]), show_element(other[i]), other_name);
    });
  } else {
    if (equal_values(out, other)) return std::nullopt;
    return element_difference(std::nullopt, show_element(out), show_element(other), other_name);
  }
}

// The type whose units of the last place measure an error.
enum class Precision { single, double_ };

template <std::floating_point T>
inline constexpr Precision precision_of =
    std::same_as<T, float> ? Precision::single : Precision::double_;

// The number of representable numbers of that precision between the two, both rounded to it;
// neither is NaN.
std::uint64_t ulps_apart(double a, double b, Precision precision);
// "1 ulp", "2,097,152 ulps"
std::string show_ulps(std::uint64_t ulps);
// "nan (0x7fc00001)"
std::string show_bits(float value);
std::string show_bits(double value);
// "never", "once", "twice", "3 times"
std::string show_count(std::size_t count);

// An output, its reference, and the allowed distance.
struct BoundedElement {
  double out = 0, reference = 0, bound = 0;
};
// The error as a multiple of the bound; over 1, `out` is outside.  An infinite bound accepts
// everything; a reference that is not finite requires the same value.
double excess(const BoundedElement& element);
// "out[17] = 1.5, reference 1.25 (2,097,152 ulps, 3.1 times the bound)"
std::string bound_difference(std::size_t index, const BoundedElement& element, Precision precision);

template <class T>
std::string show_exact_bits(const T& value) {
  if constexpr (std::floating_point<T>)
    return show_bits(value);
  else
    return show_element(value);
}

template <class T>
bool same_bits(const T& a, const T& b) {
  static_assert(std::is_arithmetic_v<T>, "bitwise() compares numbers");
  if constexpr (std::same_as<T, float>)
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
  else if constexpr (std::same_as<T, double>)
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  else
    return a == b;
}

// A total order that distinguishes every two values that equal_values() distinguishes.
template <class T>
bool value_less(const T& a, const T& b) {
  if constexpr (std::floating_point<T>) {
    return a < b || (a == a && b != b);  // NaNs are equal and come last
  } else if constexpr (is_pair<T>) {
    if (value_less(a.first, b.first) || value_less(b.first, a.first)) {
      return value_less(a.first, b.first);
    }
    return value_less(a.second, b.second);
  } else if constexpr (Nested<T>) {
    return std::ranges::lexicographical_compare(
        a, b, [](const auto& x, const auto& y) { return value_less(x, y); });
  } else {
    static_assert(
        requires { a < b; },
        "as_multiset() sorts the elements of an output: give their type an operator<");
    return a < b;
  }
}

// The key and the value of an element that has members of those names, or is a std::pair.
template <class Element>
const auto& key_of(const Element& element) {
  if constexpr (requires { element.key; })
    return element.key;
  else
    return element.first;
}
template <class Element>
const auto& value_of(const Element& element) {
  if constexpr (requires { element.value; })
    return element.value;
  else
    return element.second;
}

}  // namespace detail

// Every element has the same value; reports the first that has not.
struct Exactly {
  template <class Input, class Output>
  operator Agreement<Input, Output>() const {  // NOLINT: implicit, so that .agreement reads well
    return {.difference =
                [](const Input&, const Output& out, const Output& reference) {
                  return detail::first_difference(out, reference, "reference");
                },
            .comparison = Comparison::equal_values};
  }
};
inline Exactly exactly() { return {}; }

// Every element has the same bits.  Unlike exactly(), it distinguishes NaNs of different payload or
// sign, and +0 from -0.
struct Bitwise {
  template <class Input, class Output>
  operator Agreement<Input, Output>() const {  // NOLINT: implicit, so that .agreement reads well
    return {.difference = [](const Input&, const Output& out,
                             const Output& reference) -> std::optional<std::string> {
              using Element = std::ranges::range_value_t<Output>;
              return detail::array_difference(
                  out, reference, "reference", detail::same_bits<Element>, [&](std::size_t i) {
                    return detail::element_difference(i, detail::show_exact_bits(out[i]),
                                                      detail::show_exact_bits(reference[i]),
                                                      "reference");
                  });
            },
            .comparison = Comparison::same_bits};
  }
};
inline Bitwise bitwise() { return {}; }

// Element i may differ from the reference by `bounds(input)[i]`; reports the worst, in ulps of
// Unit.
template <class Bounds, class Unit>
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
      constexpr detail::Precision kPrecision =
          detail::precision_of<std::conditional_t<std::is_void_v<Unit>, Element, Unit>>;
      return detail::bound_difference(worst, {out[worst], reference[worst], bound[worst]},
                                      kPrecision);
    };
    return {.difference = std::move(difference),
            .exact = false,
            .comparison = Comparison::within_bounds,
            .bounds = bounds};
  }
};
// `bounds`: const Input& -> std::vector<double>, one bound for each element.  Unit: the type in
// which the kernel computed, if its output was widened to match a reference of higher precision.
template <class Unit = void, class Bounds>
WithinErrorBound<Bounds, Unit> within_error_bound(Bounds bounds) {
  return {std::move(bounds)};
}

// Each element is as near to the reference as running error analysis of the operations that have
// made it says (docs/use/adding-a-kernel.md).  Needs .exact_reference, or a reference that is
// calculated in more digits than the kernel's and rounded once.
struct WithinRounding {
  RoundingRule rule;

  template <class Input, class Output>
  operator Agreement<Input, Output>() const {  // NOLINT: implicit, so that .agreement reads well
    using Element = std::ranges::range_value_t<Output>;
    static_assert(std::floating_point<Element>, "within_rounding() is for floating-point arrays");
    constexpr bool kIsDouble = detail::precision_of<Element> == detail::Precision::double_;
    const Arithmetic of_output = kIsDouble ? Arithmetic::of_double : Arithmetic::of_float;
    return {
        .difference = [](const Input&, const Output& out,
                         const Output& reference) -> std::optional<std::string> {
          return detail::first_difference(out, reference, "reference");
        },
        .exact = false,
        .rounding = RoundingRule{rule.declared == Arithmetic::of_output ? of_output : rule.declared,
                                 rule.is_of_reference}};
  }
};
// declared: the type in which the kernel calculates; what it calculates in a shorter one is no
// excuse.  Default: that of the output's elements.
inline WithinRounding within_rounding(Arithmetic declared = Arithmetic::of_output) {
  return {{declared, false}};
}
// The same, but a kernel whose operations lose more digits than those of .exact_reference does not
// agree: for what is held to the accuracy of a better formula.
inline WithinRounding within_rounding_of_reference(Arithmetic declared = Arithmetic::of_output) {
  return {{declared, true}};
}

// Up to `allowed` representable numbers apart; both zeros count as one, and values that are not
// finite must be the same.  Reports the worst element.
struct Ulps {
  std::uint64_t allowed;

  template <class Input, class Output>
  operator Agreement<Input, Output>() const {  // NOLINT: implicit, so that .agreement reads well
    using Element = std::ranges::range_value_t<Output>;
    static_assert(std::floating_point<Element>, "ulps() is for floating-point arrays");
    auto difference = [k = allowed](const Input&, const Output& out,
                                    const Output& reference) -> std::optional<std::string> {
      if (out.size() != reference.size()) {
        return detail::size_difference(out.size(), reference.size(), "reference");
      }
      std::size_t worst = out.size();
      std::uint64_t worst_ulps = k;
      for (std::size_t i = 0; i < out.size(); ++i) {
        const std::uint64_t at_i = distance(out[i], reference[i]);
        if (at_i > worst_ulps) {
          worst_ulps = at_i;
          worst = i;
        }
      }
      if (worst == out.size()) return std::nullopt;
      std::string text =
          detail::element_difference(worst, detail::show_element(out[worst]),
                                     detail::show_element(reference[worst]), "reference");
      if (worst_ulps == kNever) return text;
      return text + " (" + detail::show_ulps(worst_ulps) + ", at most " + std::to_string(k) +
             " allowed)";
    };
    return {.difference = std::move(difference),
            .exact = allowed == 0,
            .comparison = Comparison::within_ulps,
            .ulps = allowed};
  }

 private:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  template <class T>
  static std::uint64_t distance(T a, T b) {
    if (detail::equal_values(a, b)) return 0;
    constexpr T kLargest = std::numeric_limits<T>::max();
    const auto is_finite = [](T x) { return -kLargest <= x && x <= kLargest; };
    if (!is_finite(a) || !is_finite(b)) return kNever;
    return detail::ulps_apart(a, b, detail::precision_of<T>);
  }
};
inline Ulps ulps(std::uint64_t allowed) { return {allowed}; }

// The same elements with the same counts; reports the smallest that differs.
struct AsMultiset {
  template <class Input, class Output>
  operator Agreement<Input, Output>() const {  // NOLINT: implicit, so that .agreement reads well
    auto difference = [](const Input&, Output out, Output reference) -> std::optional<std::string> {
      if (out.size() != reference.size()) {
        return detail::size_difference(out.size(), reference.size(), "reference");
      }
      using Element = std::ranges::range_value_t<Output>;
      std::sort(out.begin(), out.end(), detail::value_less<Element>);
      std::sort(reference.begin(), reference.end(), detail::value_less<Element>);
      const auto [mine, theirs] =
          std::mismatch(out.begin(), out.end(), reference.begin(), detail::equal_values<Element>);
      if (mine == out.end()) return std::nullopt;
      const Element first = detail::value_less<Element>(*mine, *theirs) ? *mine : *theirs;
      const auto count = [&](const Output& all) {
        return detail::show_count(
            static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const Element& x) {
              return detail::equal_values(x, first);
            })));
      };
      return detail::show_element(first) + " is in out " + count(out) + ", in the reference " +
             count(reference);
    };
    return {.difference = std::move(difference),
            .exact = false,
            .comparison = Comparison::same_elements};
  }
};
inline AsMultiset as_multiset() { return {}; }

// Pairs in the order of the reference; for a wrong pair it says whether its key, its value, or only
// the order among equal keys is wrong.  Elements have members key and value, or are std::pair.
struct StableOrder {
  template <class Input, class Output>
  operator Agreement<Input, Output>() const {  // NOLINT: implicit, so that .agreement reads well
    return {.difference = [](const Input&, const Output& out,
                             const Output& reference) -> std::optional<std::string> {
      using Element = std::ranges::range_value_t<Output>;
      return detail::array_difference(out, reference, "reference", same_pair<Element>,
                                      [&](std::size_t i) { return explain(out, reference, i); });
    }};
  }

 private:
  template <class Element>
  static bool same_pair(const Element& a, const Element& b) {
    return detail::equal_values(detail::key_of(a), detail::key_of(b)) &&
           detail::equal_values(detail::value_of(a), detail::value_of(b));
  }

  template <class Element>
  static std::string show(const Element& element) {
    return "(" + detail::show_element(detail::key_of(element)) + ", " +
           detail::show_element(detail::value_of(element)) + ")";
  }

  template <class Output>
  static std::string explain(const Output& out, const Output& reference, std::size_t index) {
    const auto& wrong = out[index];
    std::string text =
        detail::element_difference(index, show(wrong), show(reference[index]), "reference");
    const bool key_agrees =
        detail::equal_values(detail::key_of(wrong), detail::key_of(reference[index]));
    const bool is_elsewhere = std::any_of(reference.begin(), reference.end(),
                                          [&](const auto& x) { return same_pair(x, wrong); });
    if (key_agrees && is_elsewhere) text += ": equal keys are not in the order of the input";
    return text;
  }
};
inline StableOrder stable_order() { return {}; }

// Agrees as `wrapped` does, but the output may differ between schedules.
template <class Wrapped>
struct OrderSensitive {
  Wrapped wrapped;

  template <class Input, class Output>
  operator Agreement<Input, Output>() const {  // NOLINT: implicit, so that .agreement reads well
    Agreement<Input, Output> agreement = wrapped;
    agreement.order_sensitive = true;
    return agreement;
  }
};
template <class Wrapped>
OrderSensitive<Wrapped> order_sensitive(Wrapped wrapped) {
  return {std::move(wrapped)};
}

}  // namespace warpcheck
