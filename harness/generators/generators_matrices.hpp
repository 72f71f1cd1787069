// Matrices in row-major order, in sizes and shapes that break matrix kernels.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <utility>
#include <vector>

#include "harness/generators/generators_vectors.hpp"
#include "harness/input/draw.hpp"

namespace warpcheck {

struct MatrixSizeOptions {
  int max = 48;
  int tile = 16;  // rows of a kernel's tile: its multiples and their neighbours are drawn
};

// Rows of a square matrix: 0, 1, the edges of warps and tiles, odd numbers, and all others.
// Classes, as far as `max` admits them: "zero", "one", "31", "33", "odd", "tile edge" (one more or
// less than a multiple of the tile), "multiple of the tile", "largest". Throws
// std::invalid_argument unless max >= 0 and tile >= 1.
Gen<int> matrix_sizes(MatrixSizeOptions options = {});

namespace matrices_detail {

template <class T>
using Values = std::vector<T>;

// Zeros except on the diagonal.
template <class T, class Diagonal>
Values<T> diagonal(std::size_t rows, std::size_t columns, Diagonal element) {
  Values<T> values(rows * columns, T{});
  for (std::size_t i = 0; i < std::min(rows, columns); ++i) values[i * columns + i] = element();
  return values;
}

// The rows of the identity, shuffled: a product with it permutes rows or columns.
template <class T>
Values<T> permutation(Draw& draw, std::size_t rows, std::size_t columns) {
  std::vector<std::size_t> places(columns);
  for (std::size_t i = 0; i < columns; ++i) places[i] = i;
  for (std::size_t i = columns; i > 1; --i) std::swap(places[i - 1], places[draw.below(i)]);
  Values<T> values(rows * columns, T{});
  for (std::size_t i = 0; i < std::min(rows, columns); ++i) values[i * columns + places[i]] = T{1};
  return values;
}

// All rows equal.
template <class T>
Values<T> equal_rows(Draw& draw, std::size_t rows, std::size_t columns, const Gen<T>& element) {
  const Values<T> row = vectors_detail::independent(draw, columns, element);
  Values<T> values;
  for (std::size_t i = 0; i < rows; ++i) values.insert(values.end(), row.begin(), row.end());
  return values;
}

// Each row begins with a power of two, mostly the least above which T has no odd numbers, and
// continues with halves of its unit in the last place, or small multiples of that.  Each of these
// vanishes when it is added alone; their sum does not.
template <std::floating_point T>
Values<T> swamped(Draw& draw, std::size_t rows, std::size_t columns) {
  Values<T> values;
  values.reserve(rows * columns);
  for (std::size_t i = 0; i < rows; ++i) {
    const int more = draw.once_in(8) ? static_cast<int>(draw.below(32)) : 0;
    const T first = std::ldexp(T{1}, std::numeric_limits<T>::digits + more);
    const T half_ulp = first * std::numeric_limits<T>::epsilon() / 2;
    for (std::size_t j = 0; j < columns; ++j) {
      const auto times = static_cast<T>(j > 1 && draw.once_in(4) ? draw.below(4) : 1);
      values.push_back(j == 0 ? first : half_ulp * times);
    }
  }
  return values;
}

// Whether all off-diagonal elements are zero and the diagonal ones satisfy `on_diagonal`.
template <class T, class OnDiagonal>
bool is_diagonal(const Values<T>& values, std::size_t columns, OnDiagonal on_diagonal) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_on_diagonal = i / columns == i % columns;
    if (is_on_diagonal ? !on_diagonal(values[i]) : values[i] != T{}) return false;
  }
  return true;
}

template <class T>
bool is_swamped(const Values<T>& values, std::size_t columns) {
  for (std::size_t i = 0; i < values.size(); i += columns) {
    if (!(values[i] > 0) || values[i] + values[i + 1] != values[i] || values[i + 1] == 0) {
      return false;
    }
  }
  return true;
}

template <class T>
std::vector<ValueClass<Values<T>>> classes(std::size_t columns) {
  const auto is_one = [](T x) { return x == T{1}; };
  std::vector<ValueClass<Values<T>>> classes{
      {"all zero",
       [](const Values<T>& m) {
         return std::all_of(m.begin(), m.end(), [](T x) { return x == T{}; });
       }},
      {"identity", [=](const Values<T>& m) { return is_diagonal(m, columns, is_one); }},
      {"diagonal",
       [=](const Values<T>& m) { return is_diagonal(m, columns, [](T x) { return x != T{}; }); }},
      {"constant", vectors_detail::is_constant<T>}};
  if constexpr (std::floating_point<T>) {
    classes.push_back({"swamped", [=](const Values<T>& m) { return is_swamped(m, columns); }});
  }
  return classes;
}

}  // namespace matrices_detail

// Matrices whose sums of products lose as much as possible without compensation: each row begins
// with a large number, and each further element vanishes when it is added to it.
template <std::floating_point T>
Gen<std::vector<T>> swamped_matrices(std::size_t rows, std::size_t columns) {
  return [=](Draw& draw) { return matrices_detail::swamped<T>(draw, rows, columns); };
}

// rows x columns elements: independent ones, zeros, the identity, diagonals, permutations, all
// elements or all rows equal, and for floats swamped rows and rows whose sums cancel. Classes, from
// two rows and columns on: "all zero", "identity", "diagonal", "constant", and for floats
// "swamped".
template <class T>
Gen<std::vector<T>> matrices(std::size_t rows, std::size_t columns, Gen<T> element) {
  Gen<std::vector<T>> gen = [=](Draw& draw) -> std::vector<T> {
    switch (draw.below(std::floating_point<T> ? 14 : 11)) {
      case 4: return std::vector<T>(rows * columns, T{});
      case 5: return matrices_detail::diagonal<T>(rows, columns, [] { return T{1}; });
      case 6:
        return matrices_detail::diagonal<T>(rows, columns, [&] { return element.sample(draw); });
      case 7: return matrices_detail::permutation<T>(draw, rows, columns);
      case 8: return std::vector<T>(rows * columns, element.sample(draw));
      case 9: return matrices_detail::equal_rows(draw, rows, columns, element);
      case 10: return vectors_detail::single_other(draw, rows * columns, element);
      case 11:
        if constexpr (std::floating_point<T>) {
          return matrices_detail::swamped<T>(draw, rows, columns);
        }
        [[fallthrough]];
      case 12:
        if constexpr (std::floating_point<T>) {
          return vectors_detail::cancelling(draw, rows * columns, element);
        }
        [[fallthrough]];
      default: return vectors_detail::independent(draw, rows * columns, element);
    }
  };
  if (rows < 2 || columns < 2) return gen;
  return gen.with_classes(matrices_detail::classes<T>(columns));
}

}  // namespace warpcheck
