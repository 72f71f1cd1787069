// References as templates of their scalar, obviously right, for the certificate that a kernel
// calculates the same functions of its data (docs/use/proofs.md): with numbers of exact arithmetic
// these are the functions themselves.  T has +, * and min() and max().
#pragma once

#include <cstddef>
#include <vector>

namespace reference {

// 0 of nothing.
template <class T>
T plain_sum(const std::vector<T>& in) {
  T sum(0);
  for (const T& x : in) sum += x;
  return sum;
}

// out[i] = in[0] + ... + in[i].
template <class T>
std::vector<T> prefix_sums(const std::vector<T>& in) {
  std::vector<T> out;
  T sum(0);
  for (const T& x : in) {
    sum += x;
    out.push_back(sum);
  }
  return out;
}

// The product of two n x n matrices, by rows.
template <class T>
std::vector<T> matrix_product(const std::vector<T>& a, const std::vector<T>& b, std::size_t n) {
  std::vector<T> out;
  for (std::size_t row = 0; row < n; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      T sum(0);
      for (std::size_t k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
      out.push_back(sum);
    }
  }
  return out;
}

// nothing: of an empty list
template <class T>
T greatest_of(const std::vector<T>& in, const T& nothing) {
  T greatest = nothing;
  for (const T& x : in) greatest = max(greatest, x);
  return greatest;
}
template <class T>
T least_of(const std::vector<T>& in, const T& nothing) {
  T least = nothing;
  for (const T& x : in) least = min(least, x);
  return least;
}

}  // namespace reference
