// LU and QR of one matrix, with the results that LAPACK's getrf, getrs, getri and geqrf define
// (LAPACK Users' Guide, 2.4).  The matrices are small matrices of batches, so no blocking is used.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>

#include "vgpu/libraries/cublas/blas.hpp"

namespace warpcheck::libraries::cublas {

// Computes A = P * L * U in place. pivots: row i was swapped with row pivots[i], from 1; null: no
// pivoting.  Returns the first column, from 1, whose pivot is 0; 0: there is none.
template <typename T>
int factor_lu(std::int64_t n, T* a, std::int64_t leading, int* pivots) {
  int failed = 0;
  const auto at = [&](std::int64_t i, std::int64_t j) -> T& { return a[i + j * leading]; };
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t best = k;
    for (std::int64_t i = k + 1; pivots != nullptr && i < n; ++i) {
      const auto size = [&](std::int64_t row) {
        const auto value = value_of(at(row, k));
        return std::abs(std::real(value)) + std::abs(std::imag(value));
      };
      if (size(i) > size(best)) best = i;
    }
    if (pivots != nullptr) pivots[k] = static_cast<int>(best + 1);
    if (at(best, k) == T{}) {
      if (failed == 0) failed = static_cast<int>(k + 1);
      continue;
    }
    for (std::int64_t j = 0; best != k && j < n; ++j) std::swap(at(k, j), at(best, j));
    const auto pivot = value_of(at(k, k));
    for (std::int64_t i = k + 1; i < n; ++i) assign(at(i, k), value_of(at(i, k)) / pivot);
    for (std::int64_t j = k + 1; j < n; ++j) {
      const auto factor = value_of(at(k, j));
      for (std::int64_t i = k + 1; i < n; ++i) {
        assign(at(i, j), value_of(at(i, j)) - value_of(at(i, k)) * factor);
      }
    }
  }
  return failed;
}

// Swaps the rows of B by the pivots, or back.  Pivots that are no row numbers are ignored.
template <typename T>
void swap_rows(std::int64_t n, std::int64_t columns, const int* pivots, bool back, T* b,
               std::int64_t leading) {
  for (std::int64_t step = 0; pivots != nullptr && step < n; ++step) {
    const std::int64_t i = back ? n - 1 - step : step;
    const std::int64_t other = std::int64_t{pivots[i]} - 1;
    if (other == i || other < 0 || other >= n) continue;
    for (std::int64_t j = 0; j < columns; ++j) {
      std::swap(b[i + j * leading], b[other + j * leading]);
    }
  }
}

// Computes B := op(A)^-1 * B, for A factored by factor_lu().
template <typename T>
void solve_lu(CBLAS_TRANSPOSE operation, std::int64_t n, std::int64_t columns, const T* a,
              std::int64_t a_leading, const int* pivots, T* b, std::int64_t b_leading) {
  T one{};
  assign(one, decltype(value_of(one))(1));
  const auto solve = [&](CBLAS_UPLO part, CBLAS_DIAG diagonal) {
    Blas<T>::trsm(CblasColMajor, CblasLeft, part, operation, diagonal, static_cast<int>(n),
                  static_cast<int>(columns), by(one), a, static_cast<int>(a_leading), b,
                  static_cast<int>(b_leading));
  };
  if (operation == CblasNoTrans) {
    swap_rows(n, columns, pivots, false, b, b_leading);
    solve(CblasLower, CblasUnit);
    solve(CblasUpper, CblasNonUnit);
  } else {
    solve(CblasUpper, CblasNonUnit);
    solve(CblasLower, CblasUnit);
    swap_rows(n, columns, pivots, true, b, b_leading);
  }
}

// Computes C := A^-1, for A factored by factor_lu().  Returns the first column, from 1, whose pivot
// is 0, and then leaves C unchanged; 0: there is none.
template <typename T>
int invert_lu(std::int64_t n, const T* a, std::int64_t a_leading, const int* pivots, T* c,
              std::int64_t c_leading) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (a[i + i * a_leading] == T{}) return static_cast<int>(i + 1);
  }
  for (std::int64_t j = 0; j < n; ++j) {
    std::fill_n(c + j * c_leading, n, T{});
    assign(c[j + j * c_leading], decltype(value_of(T{}))(1));
  }
  solve_lu(CblasNoTrans, n, n, a, a_leading, pivots, c, c_leading);
  return 0;
}

// Computes A = Q * R in place: R in the upper part, and below it the vectors of the reflectors,
// whose factors are in tau (Golub and Van Loan, Matrix Computations, 5.2).
template <typename T>
void factor_qr(std::int64_t m, std::int64_t n, T* a, std::int64_t leading, T* tau) {
  using Number = decltype(value_of(T{}));
  const auto at = [&](std::int64_t i, std::int64_t j) -> T& { return a[i + j * leading]; };
  for (std::int64_t k = 0; k < std::min(m, n); ++k) {
    Real<T> below = 0;
    for (std::int64_t i = k + 1; i < m; ++i) below += std::norm(value_of(at(i, k)));
    const Number first = value_of(at(k, k));
    assign(tau[k], Number{});
    if (below == 0 && std::imag(first) == 0) continue;
    const Real<T> norm = std::sqrt(std::norm(first) + below);
    const Real<T> beta = std::real(first) >= 0 ? -norm : norm;
    const Number factor = (Number(beta) - first) / Number(beta);
    assign(tau[k], factor);
    for (std::int64_t i = k + 1; i < m; ++i) {
      assign(at(i, k), value_of(at(i, k)) / (first - Number(beta)));
    }
    assign(at(k, k), Number(beta));
    for (std::int64_t j = k + 1; j < n; ++j) {
      Number sum = value_of(at(k, j));
      for (std::int64_t i = k + 1; i < m; ++i) {
        sum += Number(conjugate(value_of(at(i, k)))) * value_of(at(i, j));
      }
      sum *= Number(conjugate(factor));
      assign(at(k, j), value_of(at(k, j)) - sum);
      for (std::int64_t i = k + 1; i < m; ++i) {
        assign(at(i, j), value_of(at(i, j)) - value_of(at(i, k)) * sum);
      }
    }
  }
}

// Computes B := the X that minimises A * X - B, in its first n rows, for A factored by factor_qr().
// Returns the first column, from 1, that depends on earlier ones; 0: there is none.
template <typename T>
int solve_qr(std::int64_t m, std::int64_t n, std::int64_t columns, const T* a, std::int64_t leading,
             const T* tau, T* b, std::int64_t b_leading) {
  using Number = decltype(value_of(T{}));
  for (std::int64_t k = 0; k < n; ++k) {
    if (a[k + k * leading] == T{}) return static_cast<int>(k + 1);
  }
  for (std::int64_t j = 0; j < columns; ++j) {
    T* const x = b + j * b_leading;
    for (std::int64_t k = 0; k < n; ++k) {
      Number sum = value_of(x[k]);
      for (std::int64_t i = k + 1; i < m; ++i) {
        sum += Number(conjugate(value_of(a[i + k * leading]))) * value_of(x[i]);
      }
      sum *= Number(conjugate(value_of(tau[k])));
      assign(x[k], value_of(x[k]) - sum);
      for (std::int64_t i = k + 1; i < m; ++i) {
        assign(x[i], value_of(x[i]) - value_of(a[i + k * leading]) * sum);
      }
    }
  }
  T one{};
  assign(one, Number(1));
  Blas<T>::trsm(CblasColMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit,
                static_cast<int>(n), static_cast<int>(columns), by(one), a,
                static_cast<int>(leading), b, static_cast<int>(b_leading));
  return 0;
}

}  // namespace warpcheck::libraries::cublas
