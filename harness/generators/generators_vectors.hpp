// Vectors in shapes that break sorting, scanning and reducing kernels.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/input/data_classes.hpp"
#include "harness/input/draw.hpp"

namespace warpcheck {

namespace vectors_detail {

template <class T>
std::vector<T> independent(Draw& draw, std::size_t n, const Gen<T>& element) {
  std::vector<T> values;
  values.reserve(n);
  for (std::size_t i = 0; i < n; ++i) values.push_back(element.sample(draw));
  return values;
}

// A few distinct values, chosen at random for each position.
template <class T>
std::vector<T> few_distinct(Draw& draw, std::size_t n, const Gen<T>& element) {
  const std::vector<T> palette = independent(draw, 2 + draw.below(3), element);
  std::vector<T> values;
  values.reserve(n);
  for (std::size_t i = 0; i < n; ++i) values.push_back(palette[draw.below(palette.size())]);
  return values;
}

// At least two runs of equal elements, each from 2 to 64 long.
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

// The simplest element everywhere except at one position.
template <class T>
std::vector<T> single_other(Draw& draw, std::size_t n, const Gen<T>& element) {
  const std::uint8_t nothing = 0;
  Tape zeros = Tape::of_bytes({&nothing, 0});
  Draw simplest(zeros, draw.size());
  std::vector<T> values(n, element.sample(simplest));
  if (n > 0) values[draw.below(n)] = element.sample(draw);
  return values;
}

// Pairs of an element and its negation, with neighbours shuffled: sums cancel.
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
std::vector<T> ordered(Draw& draw, std::size_t n, const Gen<T>& element, bool reversed) {
  auto values = independent(draw, n, element);
  std::sort(values.begin(), values.end(), [reversed](const T& a, const T& b) {
    return reversed ? element_less(b, a) : element_less(a, b);
  });
  return values;
}

// Ascending to the greatest element and then descending: the worst case for a pivot in the middle.
template <class T>
std::vector<T> organ_pipe(Draw& draw, std::size_t n, const Gen<T>& element) {
  const std::vector<T> sorted = ordered(draw, n, element, false);
  std::vector<T> values(sorted);
  for (std::size_t i = 0; i < n; ++i) values[i % 2 == 0 ? i / 2 : n - 1 - i / 2] = sorted[i];
  return values;
}

// Sorted, except for a few swapped neighbours.
template <class T>
std::vector<T> nearly_sorted(Draw& draw, std::size_t n, const Gen<T>& element) {
  auto values = ordered(draw, n, element, false);
  if (n < 2) return values;
  for (std::uint64_t swaps = 1 + draw.below(std::max<std::size_t>(1, n / 32)); swaps > 0; --swaps) {
    const std::size_t i = draw.below(n - 1);
    std::swap(values[i], values[i + 1]);
  }
  return values;
}

// Independent elements for five of 9 to 14 choices, else one of the shapes that T admits.
template <class T>
std::vector<T> sample(Draw& draw, std::size_t n, const Gen<T>& element) {
  constexpr std::uint64_t shapes = std::floating_point<T> ? 14 : Ordered<T> ? 13 : 9;
  const std::uint64_t shape = draw.below(shapes);
  switch (shape) {
    case 5: return std::vector<T>(n, element.sample(draw));
    case 6: return few_distinct(draw, n, element);
    case 7: return runs(draw, n, element);
    case 8: return single_other(draw, n, element);
    default: break;
  }
  if constexpr (Ordered<T>) {
    switch (shape) {
      case 9: return ordered(draw, n, element, false);
      case 10: return ordered(draw, n, element, true);
      case 11: return organ_pipe(draw, n, element);
      case 12: return nearly_sorted(draw, n, element);
      default: break;
    }
  }
  if constexpr (std::floating_point<T>) {
    if (shape == 13) return cancelling(draw, n, element);
  }
  return independent(draw, n, element);
}

template <class T>
bool contains_all(const Gen<T>& element, const std::vector<T>& values) {
  return std::all_of(values.begin(), values.end(),
                     [&](const T& value) { return element.contains(value); });
}

template <class T>
Gen<std::vector<T>> of_length(std::int64_t n, const Gen<T>& element) {
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

// Compiled once, and not in each pair file.
extern template Gen<std::vector<int>> of_length(std::int64_t, const Gen<int>&);
extern template Gen<std::vector<std::uint32_t>> of_length(std::int64_t, const Gen<std::uint32_t>&);
extern template Gen<std::vector<float>> of_length(std::int64_t, const Gen<float>&);
extern template Gen<std::vector<double>> of_length(std::int64_t, const Gen<double>&);

}  // namespace vectors_detail

// n elements: independent ones, all equal, few distinct, runs, all simplest but one, sorted,
// reversed, organ pipes (ascending, then descending), sorted with a few swapped neighbours, and for
// floats pairs that cancel. Classes, for numbers that are not all equal and n > 3: "constant", "few
// distinct", "runs", "single other", "sorted", "reversed", "organ pipe", "nearly sorted".
template <class T>
Gen<std::vector<T>> vectors(std::integral auto n, const Gen<T>& element) {
  return vectors_detail::of_length<T>(static_cast<std::int64_t>(n), element);
}

// The same, with a drawn length.
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
