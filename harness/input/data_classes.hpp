// The classes of an array of numbers that matter to kernels: constant, sorted, with runs, ...
//
// Elements are compared by their total order, so NaNs and both zeros are ordered.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <vector>

#include "harness/generators/generators_floats.hpp"
#include "harness/input/draw.hpp"

namespace warpcheck {

namespace vectors_detail {

template <class T>
bool element_less(const T& a, const T& b) {
  if constexpr (std::floating_point<T>) {
    return total_less(a, b);
  } else {
    return a < b;
  }
}
template <class T>
bool element_equal(const T& a, const T& b) {
  return !element_less(a, b) && !element_less(b, a);
}

template <class T>
concept Ordered = std::is_arithmetic_v<T>;

template <class T>
bool is_constant(const std::vector<T>& values) {
  return std::adjacent_find(values.begin(), values.end(),
                            [](T a, T b) { return !element_equal(a, b); }) == values.end();
}

template <class T>
bool has_few_distinct(const std::vector<T>& values) {
  std::vector<T> seen;
  for (const T value : values) {
    const auto same = [&](T other) { return element_equal(value, other); };
    if (std::any_of(seen.begin(), seen.end(), same)) continue;
    if (seen.size() == 4) return false;
    seen.push_back(value);
  }
  return seen.size() > 1;
}

// At least half of the elements continue a run.
template <class T>
bool is_runs(const std::vector<T>& values) {
  std::size_t continued = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (element_equal<T>(values[i - 1], values[i])) ++continued;
  }
  return 2 * continued >= values.size() && continued + 1 < values.size();
}

template <class T>
bool has_single_other(const std::vector<T>& values) {
  if (values.size() < 3) return false;
  const T usual = element_equal<T>(values[0], values[1]) ? values[0] : values[2];
  return std::count_if(values.begin(), values.end(),
                       [&](T value) { return !element_equal(value, usual); }) == 1;
}

template <class T>
bool is_sorted(const std::vector<T>& values, bool reversed) {
  return !is_constant(values) && std::is_sorted(values.begin(), values.end(), [reversed](T a, T b) {
    return reversed ? element_less(b, a) : element_less(a, b);
  });
}

// Ascending to a greatest element, then descending.
template <class T>
bool is_organ_pipe(const std::vector<T>& values) {
  const auto less = [](const T& a, const T& b) { return element_less(a, b); };
  const auto peak = std::max_element(values.begin(), values.end(), less);
  return peak != values.end() && std::is_sorted(values.begin(), peak, less) &&
         std::is_sorted(std::make_reverse_iterator(values.end()), std::make_reverse_iterator(peak),
                        less) &&
         !is_sorted(values, false) && !is_sorted(values, true) && !is_constant(values);
}

// Not sorted, but only few elements are less than their predecessors.
template <class T>
bool is_nearly_sorted(const std::vector<T>& values) {
  std::size_t descents = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (element_less<T>(values[i], values[i - 1])) ++descents;
  }
  return descents > 0 && descents <= std::max<std::size_t>(1, values.size() / 8) &&
         !is_sorted(values, true);
}

// Each class, by its name in generators and statistics.
template <class T>
std::vector<ValueClass<std::vector<T>>> classes() {
  if constexpr (Ordered<T>) {
    using Values = std::vector<T>;
    return {{"constant", is_constant<T>},
            {"few distinct", has_few_distinct<T>},
            {"runs", is_runs<T>},
            {"single other", has_single_other<T>},
            {"sorted", [](const Values& values) { return is_sorted(values, false); }},
            {"reversed", [](const Values& values) { return is_sorted(values, true); }},
            {"organ pipe", is_organ_pipe<T>},
            {"nearly sorted", is_nearly_sorted<T>}};
  } else {
    return {};
  }
}

// The least length at which every class can be distinguished from the others.
inline constexpr int kLengthWithClasses = 4;

}  // namespace vectors_detail

}  // namespace warpcheck
