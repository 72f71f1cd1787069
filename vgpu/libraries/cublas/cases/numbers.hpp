// The expected results of cuBLAS functions, as matrices whose elements carry a bound of their
// rounding errors: Wilkinson's running error analysis (Higham, Accuracy and Stability of Numerical
// Algorithms, 3.3), with the magnitudes of terms in place of their sums, so that it holds for every
// order of summation.
#pragma once

#include <cublas_api.h>

#include <cmath>
#include <complex>
#include <utility>
#include <vector>

using Number = std::complex<double>;

struct Bounded {
  Number value;
  double size = 0;   // the sum of the magnitudes of its terms
  double error = 0;  // in units of roundoff

  Bounded(Number exact = 0) : value(exact), size(std::abs(exact)) {}  // NOLINT: as numbers are
  Bounded(Number v, double s, double e) : value(v), size(s), error(e) {}
};
// Upper bounds of the errors of complex products and quotients (Higham, 3.6); those of real ones
// are smaller.
constexpr double kProductError = 3, kQuotientError = 8;

inline Bounded operator+(const Bounded& a, const Bounded& b) {
  const double size = a.size + b.size;
  return {a.value + b.value, size, a.error + b.error + size};
}
inline Bounded operator-(const Bounded& a) { return {-a.value, a.size, a.error}; }
inline Bounded operator-(const Bounded& a, const Bounded& b) { return a + -b; }
inline Bounded operator*(const Bounded& a, const Bounded& b) {
  return {a.value * b.value, a.size * b.size,
          a.error * b.size + a.size * b.error + kProductError * a.size * b.size};
}
inline Bounded operator/(const Bounded& a, const Bounded& b) {
  const double by = std::abs(b.value), size = a.size / by;
  return {a.value / b.value, size, a.error / by + size * b.error / by + kQuotientError * size};
}
inline Bounded conj(const Bounded& a) { return {std::conj(a.value), a.size, a.error}; }
inline Bounded square_root(const Bounded& a) {
  const double root = std::sqrt(a.value.real());
  return {root, root, root == 0 ? 0 : a.error / root + root};
}

// A matrix, or a vector of one column.
struct Dense {
  int rows, columns;
  std::vector<Bounded> all;

  Dense(int r, int c) : rows(r), columns(c), all(static_cast<std::size_t>(r) * c) {}
  Bounded& operator()(int i, int j = 0) { return all[i + static_cast<std::size_t>(j) * rows]; }
  const Bounded& operator()(int i, int j = 0) const {
    return all[i + static_cast<std::size_t>(j) * rows];
  }
};

// make(i, j)
template <class Make>
Dense matrix_of(int rows, int columns, Make make) {
  Dense all(rows, columns);
  for (int j = 0; j < columns; ++j) {
    for (int i = 0; i < rows; ++i) all(i, j) = make(i, j);
  }
  return all;
}
inline Dense operator*(const Dense& a, const Dense& b) {
  return matrix_of(a.rows, b.columns, [&](int i, int j) {
    Bounded sum;
    for (int l = 0; l < a.columns; ++l) sum = sum + a(i, l) * b(l, j);
    return sum;
  });
}
inline Dense operator*(const Bounded& factor, const Dense& a) {
  return matrix_of(a.rows, a.columns, [&](int i, int j) { return factor * a(i, j); });
}
inline Dense operator+(const Dense& a, const Dense& b) {
  return matrix_of(a.rows, a.columns, [&](int i, int j) { return a(i, j) + b(i, j); });
}
inline Dense transposed(const Dense& a) {
  return matrix_of(a.columns, a.rows, [&](int i, int j) { return a(j, i); });
}
inline Dense conjugated(const Dense& a) {
  return matrix_of(a.rows, a.columns, [&](int i, int j) { return conj(a(i, j)); });
}
inline Dense adjoint(const Dense& a) { return conjugated(transposed(a)); }
inline Dense op(cublasOperation_t operation, const Dense& a) {
  if (operation == CUBLAS_OP_N) return a;
  return operation == CUBLAS_OP_T ? transposed(a) : adjoint(a);
}

inline bool is_in(cublasFillMode_t uplo, int i, int j) {
  return uplo == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j;
}
// Returns `a` in the triangle, and `other` elsewhere.
inline Dense triangle_of(cublasFillMode_t uplo, const Dense& a, const Dense& other) {
  return matrix_of(a.rows, a.columns,
                   [&](int i, int j) { return is_in(uplo, i, j) ? a(i, j) : other(i, j); });
}
// The matrices that a stored triangle represents.
inline Dense symmetric(cublasFillMode_t uplo, const Dense& a) {
  return triangle_of(uplo, a, transposed(a));
}
inline Bounded real_part(const Bounded& a) { return {a.value.real(), a.size, a.error}; }
inline Dense hermitian(cublasFillMode_t uplo, const Dense& a) {
  Dense all = triangle_of(uplo, a, adjoint(a));
  for (int i = 0; i < a.rows; ++i) all(i, i) = real_part(all(i, i));
  return all;
}
inline Dense triangular(cublasFillMode_t uplo, cublasDiagType_t diag, const Dense& a) {
  Dense all = triangle_of(uplo, a, Dense(a.rows, a.columns));
  for (int i = 0; diag == CUBLAS_DIAG_UNIT && i < a.rows; ++i) all(i, i) = Number(1);
  return all;
}

// Returns the X of A * X = B, by elimination without pivoting.
inline Dense solved(Dense a, Dense b) {
  const int n = a.rows;
  for (int k = 0; k < n; ++k) {
    for (int i = k + 1; i < n; ++i) {
      if (a(i, k).size == 0) continue;
      const Bounded factor = a(i, k) / a(k, k);
      for (int j = k; j < n; ++j) a(i, j) = a(i, j) - factor * a(k, j);
      for (int j = 0; j < b.columns; ++j) b(i, j) = b(i, j) - factor * b(k, j);
    }
  }
  for (int k = n; k-- > 0;) {
    for (int j = 0; j < b.columns; ++j) {
      for (int i = k + 1; i < n; ++i) b(k, j) = b(k, j) - a(k, i) * b(i, j);
      b(k, j) = b(k, j) / a(k, k);
    }
  }
  return b;
}
inline Dense identity(int n) {
  return matrix_of(n, n, [](int i, int j) { return Number(i == j ? 1 : 0); });
}
