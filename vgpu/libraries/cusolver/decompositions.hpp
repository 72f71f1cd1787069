// Decompositions of one dense matrix that are not in cublas/factorization.hpp.  Eigenvalues and
// singular values are computed by Jacobi's method (Golub and Van Loan, Matrix Computations, 8.5 and
// 8.6): rotations in a fixed order, in double precision, with no functions but square roots, so
// that all machines get the same bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "vgpu/libraries/cublas/factorization.hpp"

namespace warpcheck::libraries::cublas {

using Number = std::complex<double>;

// Computes A = P * L * U in place, for a matrix of any shape; otherwise as factor_lu().
template <typename T>
int factor_lu_of(std::int64_t m, std::int64_t n, T* a, std::int64_t leading, int* pivots) {
  if (m == n) return factor_lu(n, a, leading, pivots);
  // Extends the matrix to a square one with zeros, which are never chosen as pivots before original
  // elements.
  const std::int64_t order = std::max(m, n);
  std::vector<T> square(static_cast<std::size_t>(order * order));
  std::vector<int> rows(static_cast<std::size_t>(order));
  for (std::int64_t j = 0; j < n; ++j) std::copy_n(a + j * leading, m, square.data() + j * order);
  const int failed =
      factor_lu(order, square.data(), order, pivots == nullptr ? nullptr : rows.data());
  for (std::int64_t j = 0; j < n; ++j) std::copy_n(square.data() + j * order, m, a + j * leading);
  if (pivots != nullptr) std::copy_n(rows.data(), std::min(m, n), pivots);
  return failed > std::min(m, n) ? 0 : failed;
}

// Computes A = L * L', or U' * U, from one triangle, in place.  Returns the first column, from 1,
// at which the matrix is not positive definite; 0: it is.
template <typename T>
int factor_cholesky(bool is_lower, std::int64_t n, T* a, std::int64_t leading) {
  // Row i of L, or column i of U.
  const auto at = [&](std::int64_t i, std::int64_t j) -> T& {
    return is_lower ? a[i + j * leading] : a[j + i * leading];
  };
  for (std::int64_t j = 0; j < n; ++j) {
    Real<T> rest = std::real(value_of(at(j, j)));
    for (std::int64_t k = 0; k < j; ++k) rest -= std::norm(value_of(at(j, k)));
    if (!(rest > 0)) return static_cast<int>(j + 1);
    const Real<T> root = std::sqrt(rest);
    assign(at(j, j), decltype(value_of(T{}))(root));
    for (std::int64_t i = j + 1; i < n; ++i) {
      // The elements of U, which is L', are the conjugates, and so are the products.
      auto sum = value_of(at(i, j));
      for (std::int64_t k = 0; k < j; ++k) {
        const auto one = value_of(at(i, k)), other = value_of(at(j, k));
        sum -= decltype(sum)(one * decltype(sum)(conjugate(other)));
      }
      assign(at(i, j), sum / root);
    }
  }
  return 0;
}

// Computes C := op(Q) * C, or C * op(Q), for the first k reflectors of Q below the diagonal of A.
template <typename T>
void apply_reflectors(bool is_left, bool is_turned, std::int64_t m, std::int64_t n, std::int64_t k,
                      const T* a, std::int64_t leading, const T* tau, T* c,
                      std::int64_t c_leading) {
  using Value = decltype(value_of(T{}));
  const std::int64_t order = is_left ? m : n, others = is_left ? n : m;
  // Q is H1 * ... * Hk: the last reflector is applied first if Q is on the left of C.
  const bool is_forward = is_left == is_turned;
  const auto element = [&](std::int64_t i, std::int64_t other) -> T& {
    return is_left ? c[i + other * c_leading] : c[other + i * c_leading];
  };
  for (std::int64_t step = 0; step < k; ++step) {
    const std::int64_t l = is_forward ? step : k - 1 - step;
    const Value given = value_of(tau[l]);
    const Value factor = is_turned ? Value(conjugate(given)) : given;
    const auto v = [&](std::int64_t i) { return i == l ? Value(1) : value_of(a[i + l * leading]); };
    for (std::int64_t other = 0; other < others; ++other) {
      Value sum{};
      for (std::int64_t i = l; i < order; ++i) {
        const Value reflector = v(i);
        sum += value_of(element(i, other)) * (is_left ? Value(conjugate(reflector)) : reflector);
      }
      sum *= factor;
      for (std::int64_t i = l; i < order; ++i) {
        const Value reflector = v(i);
        assign(element(i, other), value_of(element(i, other)) -
                                      sum * (is_left ? reflector : Value(conjugate(reflector))));
      }
    }
  }
}

// The rotation that diagonalises a Hermitian matrix (p, between; conjugate, q).
struct Rotation {
  double cosine = 1;
  Number sine;  // the share of p in column q; p gets the share of q, conjugated and negated
};
inline Rotation rotation_of(double p, double q, Number between) {
  const double size = std::sqrt(std::norm(between));
  if (size == 0) return {};
  const double half = (q - p) / (2 * size);
  const double tangent =
      (half < 0 ? -1 : 1) / ((half < 0 ? -half : half) + std::sqrt(1 + half * half));
  const double cosine = 1 / std::sqrt(1 + tangent * tangent);
  return {cosine, tangent * cosine * (between / size)};
}
inline void rotate(const Rotation& by, Number* p, Number* q, std::int64_t count,
                   std::int64_t step = 1) {
  for (std::int64_t i = 0; i < count * step; i += step) {
    const Number first = p[i], second = q[i];
    p[i] = by.cosine * first - std::conj(by.sine) * second;
    q[i] = by.sine * first + by.cosine * second;
  }
}
constexpr int kSweepsMax = 60;

inline std::vector<std::size_t> order_of(const std::vector<double>& values, bool descending) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return descending ? values[a] > values[b] : values[a] < values[b];
  });
  return order;
}

// Returns the eigenvalues of a Hermitian matrix, ascending; `a` receives its eigenvectors, column
// by column.
inline std::vector<double> eigenvalues(std::int64_t n, std::vector<Number>& a) {
  const auto columns = static_cast<std::size_t>(n);
  std::vector<Number> vectors(columns * columns);
  for (std::size_t i = 0; i < columns; ++i) vectors[i * (columns + 1)] = 1;
  double whole = 0;
  for (const Number& value : a) whole += std::norm(value);
  const double small = whole * std::numeric_limits<double>::epsilon() *
                       std::numeric_limits<double>::epsilon() * 1e-4;
  for (int sweep = 0; sweep < kSweepsMax; ++sweep) {
    double off = 0;
    for (std::int64_t q = 0; q < n; ++q) {
      for (std::int64_t p = 0; p < q; ++p) off += std::norm(a[p + q * n]);
    }
    if (!(off > small)) break;
    for (std::int64_t p = 0; p < n; ++p) {
      for (std::int64_t q = p + 1; q < n; ++q) {
        const Rotation by = rotation_of(a[p + p * n].real(), a[q + q * n].real(), a[p + q * n]);
        rotate(by, &a[p * n], &a[q * n], n);
        // Rows are rotated by the conjugate rotation.
        rotate({by.cosine, std::conj(by.sine)}, &a[p], &a[q], n, n);
        rotate(by, &vectors[p * n], &vectors[q * n], n);
      }
    }
  }
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; ++i) values.push_back(a[i + i * n].real());
  const std::vector<std::size_t> order = order_of(values, false);
  std::vector<double> sorted;
  for (std::size_t j = 0; j < columns; ++j) {
    sorted.push_back(values[order[j]]);
    std::copy_n(&vectors[order[j] * columns], columns, &a[j * columns]);
  }
  return sorted;
}

// A = U * S * V', for a matrix with at least as many rows as columns.
struct SingularValues {
  std::vector<double> values;  // descending
  std::vector<Number> u;       // m x m
  std::vector<Number> v;       // n x n
};
inline SingularValues singular_values(std::int64_t m, std::int64_t n, std::vector<Number> a) {
  const auto dot = [m](const Number* one, const Number* other) {
    Number sum;
    for (std::int64_t i = 0; i < m; ++i) sum += std::conj(one[i]) * other[i];
    return sum;
  };
  std::vector<Number> v(static_cast<std::size_t>(n * n));
  for (std::int64_t i = 0; i < n; ++i) v[static_cast<std::size_t>(i * (n + 1))] = 1;
  constexpr double kSmall = std::numeric_limits<double>::epsilon();
  bool is_done = false;
  for (int sweep = 0; sweep < kSweepsMax && !is_done; ++sweep) {
    is_done = true;
    for (std::int64_t p = 0; p < n; ++p) {
      for (std::int64_t q = p + 1; q < n; ++q) {
        Number *const one = &a[p * m], *const other = &a[q * m];
        const double alpha = dot(one, one).real(), beta = dot(other, other).real();
        const Number gamma = dot(one, other);
        if (!(std::norm(gamma) > kSmall * kSmall * alpha * beta)) continue;
        is_done = false;
        const Rotation by = rotation_of(alpha, beta, gamma);
        rotate(by, one, other, m);
        rotate(by, &v[p * n], &v[q * n], n);
      }
    }
  }
  std::vector<double> values;
  for (std::int64_t j = 0; j < n; ++j) {
    values.push_back(std::sqrt(dot(&a[j * m], &a[j * m]).real()));
  }
  SingularValues result{{},
                        std::vector<Number>(static_cast<std::size_t>(m * m)),
                        std::vector<Number>(static_cast<std::size_t>(n * n))};
  std::int64_t count = 0;  // number of columns of U
  // Adds the column made orthogonal to the earlier ones; nothing if it depends on them.
  const auto add = [&](std::vector<Number> column) {
    for (int pass = 0; pass < 2; ++pass) {
      for (std::int64_t j = 0; j < count; ++j) {
        const Number part = dot(&result.u[j * m], column.data());
        for (std::int64_t i = 0; i < m; ++i) column[i] -= part * result.u[i + j * m];
      }
    }
    const double size = std::sqrt(dot(column.data(), column.data()).real());
    if (!(size > 1e-8)) return false;
    for (std::int64_t i = 0; i < m; ++i) result.u[i + count * m] = column[i] / size;
    ++count;
    return true;
  };
  std::int64_t unit = 0;
  const auto add_any = [&] {
    for (bool is_added = false; !is_added; ++unit) {
      std::vector<Number> column(static_cast<std::size_t>(m));
      column[static_cast<std::size_t>(unit)] = 1;
      is_added = add(std::move(column));
    }
  };
  for (const std::size_t from : order_of(values, true)) {
    const double value = values[from];
    std::copy_n(&v[from * static_cast<std::size_t>(n)], n, &result.v[result.values.size() * n]);
    result.values.push_back(value);
    std::vector<Number> column(static_cast<std::size_t>(m));
    for (std::int64_t i = 0; value > 0 && i < m; ++i) {
      column[i] = a[i + static_cast<std::int64_t>(from) * m] / value;
    }
    if (!(value > 0) || !add(std::move(column))) add_any();
  }
  while (count < m) add_any();
  return result;
}

}  // namespace warpcheck::libraries::cublas
