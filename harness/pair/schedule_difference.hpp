// Whether the output for the same input under another schedule is the same, byte for byte.
//
// Agreement with a reference allows differences: an error bound, any NaN for any other, either
// zero.  Schedules get no such tolerance: a result whose bits depend on the schedule is not
// reproducible.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>

#include "harness/pair/agreement.hpp"

namespace warpcheck {

namespace detail {

inline constexpr std::string_view kUnderTheDefaultSchedule = "under the default schedule";

template <std::floating_point T>
auto bits_of(T value) {
  return std::bit_cast<std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>(value);
}

template <class T>
bool same_bytes(const T& a, const T& b) {
  return same_numbers(a, b, [](auto x, auto y) { return bits_of(x) == bits_of(y); });
}

// As show_element(); if that hides the difference, also the bits: "nan (0x7fc00001)".
template <class T>
std::string show_apart(const T& value, const T& other) {
  std::string text = show_element(value);
  return text == show_element(other) ? show_exact_bits(value) : text;
}

template <class T>
std::string schedule_difference_at(std::optional<std::size_t> index, const T& out, const T& other) {
  return element_difference(index, show_apart(out, other), show_apart(other, out),
                            kUnderTheDefaultSchedule);
}

}  // namespace detail

// Whether outputs of this type can differ in their bytes although an exact agreement calls them
// equal, as two floats can.
template <class Output>
constexpr bool has_equal_values_of_other_bytes() {
  if constexpr (detail::Array<Output>)
    return std::floating_point<std::ranges::range_value_t<Output>>;
  else
    return std::floating_point<Output>;
}

// "out[3] = 1.5, under the default schedule 1.25"; empty if all bytes are the same.
template <class Output>
std::optional<std::string> schedule_difference(const Output& out, const Output& other) {
  using namespace detail;  // NOLINT(google-build-using-namespace)
  if constexpr (Array<Output>) {
    if (out.size() != other.size()) {
      return size_difference(out.size(), other.size(), kUnderTheDefaultSchedule);
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (!same_bytes(out[i], other[i])) return schedule_difference_at(i, out[i], other[i]);
    }
    return std::nullopt;
  } else {
    if (same_bytes(out, other)) return std::nullopt;
    return schedule_difference_at(std::nullopt, out, other);
  }
}

}  // namespace warpcheck
