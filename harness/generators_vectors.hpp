// Vectors in the shapes that sorting, scanning and reducing kernels trip over.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/draw.hpp"
#include "harness/generators_floats.hpp"

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
std::vector<T> independent(Draw& draw, std::size_t n, const Gen<T>& element) {
  std::vector<T> values;
  values.reserve(n);
  for (std::size_t i = 0; i < n; ++i) values.push_back(element.sample(draw));
  return values;
}

// A few distinct values, each position choosing one.
template <class T>
std::vector<T> few_distinct(Draw& draw, std::size_t n, const Gen<T>& element) {
  const std::vector<T> palette = independent(draw, 2 + draw.below(3), element);
  std::vector<T> values;
  values.reserve(n);
  for (std::size_t i = 0; i < n; ++i) values.push_back(palette[draw.below(palette.size())]);
  return values;
}

// Stretches of equal elements, each from 2 to 64 long, and at least two of them.
template <class T>
std::vector<T> runs(Draw& draw, std::size_t n, const Gen<T>& element) {
  std::vector<T> values;
  values.reserve(n);
  const std::size_t length_max = std::clamp<std::size_t>(n / 2, 2, 64);
  while (values.size() < n) {
    const std::size_t length = 2 + draw.below(length_max - 1);
    values.insert(values.end(), std::min(length, n - values.size()), element.sample(draw));
  }
  return values;
}

// The simplest element everywhere but at one position.
template <class T>
std::vector<T> single_other(Draw& draw, std::size_t n, const Gen<T>& element) {
  const std::uint8_t nothing = 0;
  Tape zeros = Tape::of_bytes({&nothing, 0});
  Draw simplest(zeros, draw.size());
  std::vector<T> values(n, element.sample(simplest));
  if (n > 0) values[draw.below(n)] = element.sample(draw);
  return values;
}

// Each element beside its negation, shuffled by neighbours: sums cancel, catastrophically.
template <class T>
std::vector<T> cancelling(Draw& draw, std::size_t n, const Gen<T>& element) {
  std::vector<T> values = independent(draw, n, element);
  for (std::size_t i = 1; i < n; i += 2) {
    const T negated = -values[i - 1];
    if (!element.has_domain() || element.contains(negated)) values[i] = negated;
  }
  return values;
}

template <class T>
std::vector<T> sample(Draw& draw, std::size_t n, const Gen<T>& element) {
  switch (draw.below(std::floating_point<T> ? 12 : 11)) {
    case 5: return std::vector<T>(n, element.sample(draw));
    case 6: return few_distinct(draw, n, element);
    case 7: return runs(draw, n, element);
    case 8: return single_other(draw, n, element);
    case 9:
    case 10: {
      if constexpr (Ordered<T>) {
        const bool reversed = draw.below(2) == 1;
        auto values = independent(draw, n, element);
        std::sort(values.begin(), values.end(), [reversed](const T& a, const T& b) {
          return reversed ? element_less(b, a) : element_less(a, b);
        });
        return values;
      }
      return independent(draw, n, element);
    }
    case 11:
      if constexpr (std::floating_point<T>) return cancelling(draw, n, element);
      [[fallthrough]];
    default: return independent(draw, n, element);
  }
}

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

template <class T>
std::vector<ValueClass<std::vector<T>>> classes() {
  if constexpr (Ordered<T>) {
    using Values = std::vector<T>;
    return {{"constant", is_constant<T>},
            {"few distinct", has_few_distinct<T>},
            {"runs", is_runs<T>},
            {"single other", has_single_other<T>},
            {"sorted", [](const Values& values) { return is_sorted(values, false); }},
            {"reversed", [](const Values& values) { return is_sorted(values, true); }}};
  } else {
    return {};
  }
}

// Lengths from which on every class can be told from the others.
inline constexpr int kLengthWithClasses = 4;

template <class T>
bool contains_all(const Gen<T>& element, const std::vector<T>& values) {
  return std::all_of(values.begin(), values.end(),
                     [&](const T& value) { return element.contains(value); });
}

}  // namespace vectors_detail

// n elements: independent ones, all equal, few distinct, runs, all simplest but one, sorted,
// reversed, and for floats pairs that cancel.
// Classes, for numbers that are not all alike and n > 3: "constant", "few distinct", "runs",
// "single other", "sorted", "reversed".
template <class T>
Gen<std::vector<T>> vectors(std::integral auto n, Gen<T> element) {
  if (n < 0) throw std::invalid_argument("vectors: expected a length of at least 0");
  const auto length = static_cast<std::size_t>(n);
  Gen<std::vector<T>> gen = [=](Draw& draw) {
    return vectors_detail::sample(draw, length, element);
  };
  if (element.has_domain()) {
    gen = gen.within([=](const std::vector<T>& values) {
      return values.size() == length && vectors_detail::contains_all(element, values);
    });
  }
  return n < vectors_detail::kLengthWithClasses ? gen
                                                : gen.with_classes(vectors_detail::classes<T>());
}

// As above, of a drawn length.
template <class T, std::integral N>
Gen<std::vector<T>> vectors(Gen<N> length, Gen<T> element) {
  Gen<std::vector<T>> gen = [=](Draw& draw) {
    const auto n = static_cast<std::size_t>(length.sample(draw));
    return vectors_detail::sample(draw, n, element);
  };
  if (!element.has_domain() || !length.has_domain()) return gen;
  gen = gen.within([=](const std::vector<T>& values) {
    return length.contains(static_cast<N>(values.size())) &&
           vectors_detail::contains_all(element, values);
  });
  const bool has_classes = length.contains(N{vectors_detail::kLengthWithClasses});
  return has_classes ? gen.with_classes(vectors_detail::classes<T>()) : gen;
}

}  // namespace warpcheck
