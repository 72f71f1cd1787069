// Softmax, moments, layer norm, attention: as their definitions say, as templates of their scalar,
// a float type or one that has the functions of <cmath> that are used here.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace reference {

// Of weights exp(x) for the numbers x, the sum being 1.  -infinity has the weight 0, and so has
// each of nothing else.
template <class T>
std::vector<T> weights_of(const std::vector<T>& in) {
  using std::exp;
  using std::max;
  const T least(-std::numeric_limits<double>::infinity());
  T greatest = least;
  for (const T& x : in) greatest = max(greatest, x);
  if (greatest == least) return std::vector<T>(in.size(), T(0));
  T sum(0);
  std::vector<T> powers;
  for (const T& x : in) {
    powers.push_back(exp(x - greatest));
    sum += powers.back();
  }
  for (T& power : powers) power /= sum;
  return powers;
}

template <class T>
T mean_of(const std::vector<T>& in) {
  T sum(0);
  for (const T& x : in) sum += x;
  return sum / T(static_cast<double>(in.size()));
}

template <class T>
T variance_of(const std::vector<T>& in) {
  const T mean = mean_of(in);
  std::vector<T> squares;
  for (const T& x : in) squares.push_back((x - mean) * (x - mean));
  return mean_of(squares);
}

template <class T>
T dot_product(const std::vector<T>& a, const std::vector<T>& b) {
  T sum(0);
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

template <class T>
std::vector<T> row_of_matrix(const std::vector<T>& matrix, std::size_t row, std::size_t columns) {
  const auto begin = matrix.begin() + static_cast<std::ptrdiff_t>(row * columns);
  return {begin, begin + static_cast<std::ptrdiff_t>(columns)};
}

template <class T>
std::vector<T> softmax(const std::vector<T>& in, std::size_t rows, std::size_t columns) {
  std::vector<T> out;
  for (std::size_t row = 0; row < rows; ++row) {
    for (const T& x : weights_of(row_of_matrix(in, row, columns))) out.push_back(x);
  }
  return out;
}

template <class T>
std::vector<T> layer_norm(const std::vector<T>& in, const std::vector<T>& scale,
                          const std::vector<T>& shift, std::size_t rows, float epsilon) {
  using std::sqrt;
  std::vector<T> out;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::vector<T> x = row_of_matrix(in, row, scale.size());
    const T mean = mean_of(x), deviation = sqrt(variance_of(x) + T(epsilon));
    for (std::size_t i = 0; i < x.size(); ++i)
      out.push_back((x[i] - mean) / deviation * scale[i] + shift[i]);
  }
  return out;
}

// a of m x k, b of k x n
template <class T>
std::vector<T> product(const std::vector<T>& a, const std::vector<T>& b, std::size_t m,
                       std::size_t n, std::size_t k) {
  std::vector<T> out;
  for (std::size_t row = 0; row < m; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      T sum(0);
      for (std::size_t i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
      out.push_back(sum);
    }
  }
  return out;
}

// Row i sees rows i - window + 1 to i.
template <class T>
std::vector<T> attention(const std::vector<T>& queries, const std::vector<T>& keys,
                         const std::vector<T>& values, std::size_t width, std::size_t window,
                         float scale) {
  std::vector<T> out;
  for (std::size_t row = 0; row < queries.size() / width; ++row) {
    const std::size_t first = row + 1 > window ? row + 1 - window : 0;
    std::vector<T> scores;
    for (std::size_t other = first; other <= row; ++other) {
      scores.push_back(
          dot_product(row_of_matrix(queries, row, width), row_of_matrix(keys, other, width)) *
          T(scale));
    }
    const std::vector<T> weights = weights_of(scores);
    for (std::size_t column = 0; column < width; ++column) {
      T sum(0);
      for (std::size_t i = 0; i < weights.size(); ++i)
        sum += weights[i] * values[(first + i) * width + column];
      out.push_back(sum);
    }
  }
  return out;
}

}  // namespace reference
