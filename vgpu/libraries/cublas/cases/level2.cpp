// Level 2: operations on a matrix and vectors.  Only those elements of a matrix are stored that
// belong to its form, the band or the triangle.
#include "cases.hpp"

namespace {

constexpr int m = 4, n = 5, kBelow = 1, kAbove = 2;

struct Steps {
  int x, y;
};
constexpr Steps kSteps[] = {{1, 1}, {-2, 3}};

// Tests y := alpha * matrix * x + beta * y; multiply(x, incx, beta, y, incy) calls the function.
// With beta 0, y is not initialised.
template <class T, class Multiply>
void try_product(const Dense& matrix, Multiply multiply) {
  const Number alpha = scalar<T>();
  const T by = from<T>(alpha);
  for (const Steps steps : kSteps) {
    for (const double factor : {-0.5, 0.0}) {
      const T beta = from<T>(factor);
      const Dense x = drawn<T>(matrix.columns), y = drawn<T>(matrix.rows);
      const OnDevice<T> on_x(x, spaced(matrix.columns, steps.x)),
          on_y(y, spaced(matrix.rows, steps.y), factor == 0);
      multiply(&by, on_x.device, steps.x, &beta, on_y.device, steps.y);
      Dense wanted = Bounded(alpha) * (matrix * x);
      if (factor != 0) wanted = wanted + Bounded(factor) * y;
      expect_matrix(on_y, wanted);
    }
  }
}

template <class T, class Gemv, class Gbmv>
void try_general(const Gemv& gemv, const Gbmv& gbmv) {
  for (const auto trans : kOperations) {
    const Dense a = drawn<T>(m, n);
    const OnDevice<T> on_a(a, full(m + 2));
    try_product<T>(op(trans, a), [&](auto alpha, auto x, int incx, auto beta, auto y, int incy) {
      run(gemv, handle, trans, m, n, alpha, on_a.device, m + 2, x, incx, beta, y, incy);
    });
    // A wide and a high matrix, because the band ends at different sides.
    for (const auto [rows, columns] : {std::pair{m, n}, std::pair{n + 2, m}}) {
      Dense banded = drawn<T>(rows, columns);
      const Layout layout = band(kBelow, kAbove, kBelow + kAbove + 2);
      const OnDevice<T> on_band(banded, layout);
      for (int j = 0; j < columns; ++j) {
        for (int i = 0; i < rows; ++i) {
          if (layout(i, j) < 0) banded(i, j) = Number(0);
        }
      }
      try_product<T>(op(trans, banded), [&, r = rows, c = columns](auto alpha, auto x, int incx,
                                                                   auto beta, auto y, int incy) {
        run(gbmv, handle, trans, r, c, kBelow, kAbove, alpha, on_band.device, kBelow + kAbove + 2,
            x, incx, beta, y, incy);
      });
    }
  }
}

// Removes the elements that are `k` or more off the diagonal.
Dense in_band(const Dense& a, int k) {
  return matrix_of(a.rows, a.columns,
                   [&](int i, int j) { return std::abs(i - j) <= k ? a(i, j) : Bounded(); });
}
Layout triangular_band(cublasFillMode_t uplo, int k, int leading) {
  return uplo == CUBLAS_FILL_MODE_LOWER ? band(k, 0, leading) : band(0, k, leading);
}

// Tests full, banded and packed matrices.  whole(uplo, triangle) returns the matrix that a triangle
// represents.
template <class T, class Whole, class Full>
void try_full_symmetric(Whole whole, const Full& multiply) {
  for (const auto uplo : kTriangles) {
    const Dense a = drawn<T>(n, n);
    const OnDevice<T> on_a(a, triangle(uplo, n + 2));
    try_product<T>(whole(uplo, a), [&](auto alpha, auto x, int incx, auto beta, auto y, int incy) {
      run(multiply, handle, uplo, n, alpha, on_a.device, n + 2, x, incx, beta, y, incy);
    });
  }
}
template <class T, class Whole, class Banded, class Packed>
void try_symmetric(Whole whole, const Banded& banded, const Packed& of_packed) {
  constexpr int k = 2;
  for (const auto uplo : kTriangles) {
    const Dense a = drawn<T>(n, n);
    const OnDevice<T> on_band(a, triangular_band(uplo, k, k + 2)), on_packed(a, packed(uplo, n));
    try_product<T>(
        whole(uplo, in_band(a, k)), [&](auto alpha, auto x, int incx, auto beta, auto y, int incy) {
          run(banded, handle, uplo, n, k, alpha, on_band.device, k + 2, x, incx, beta, y, incy);
        });
    try_product<T>(whole(uplo, a), [&](auto alpha, auto x, int incx, auto beta, auto y, int incy) {
      run(of_packed, handle, uplo, n, alpha, on_packed.device, x, incx, beta, y, incy);
    });
  }
}

template <class T, class F>
void try_rank_1(const F& update, bool conjugates) {
  const T alpha = from<T>(scalar<T>());
  for (const Steps steps : kSteps) {
    const Dense a = drawn<T>(m, n), x = drawn<T>(m), y = drawn<T>(n);
    const OnDevice<T> on_a(a, full(m + 2)), on_x(x, spaced(m, steps.x)),
        on_y(y, spaced(n, steps.y));
    run(update, handle, m, n, &alpha, on_x.device, steps.x, on_y.device, steps.y, on_a.device,
        m + 2);
    const Dense row = conjugates ? adjoint(y) : transposed(y);
    expect_matrix(on_a, a + Bounded(scalar<T>()) * (x * row));
  }
}

// A Hermitian matrix has a real diagonal; the imaginary parts in memory are ignored.
Dense with_real_diagonal(Dense a) {
  for (int i = 0; i < a.rows; ++i) a(i, i) = real_part(a(i, i));
  return a;
}

// A += alpha * x * x', of one triangle; S: type of alpha.  The other triangle is not stored.
template <class T, class S>
struct RankOne {
  bool is_hermitian;
  template <class Full>
  void try_full(const Full& update) const {
    try_each([&](cublasFillMode_t uplo, const S* alpha, const T* x, int step,
                 T* a) { run(update, handle, uplo, n, alpha, x, step, a, n + 2); },
             false);
  }
  template <class Packed>
  void try_packed(const Packed& update) const {
    try_each([&](cublasFillMode_t uplo, const S* alpha, const T* x, int step,
                 T* a) { run(update, handle, uplo, n, alpha, x, step, a); },
             true);
  }

 private:
  template <class Update>
  void try_each(Update update, bool is_packed) const {
    const S alpha = from<S>(scalar<S>());
    for (const auto uplo : kTriangles) {
      for (const Steps steps : kSteps) {
        const Dense a = drawn<T>(n, n), x = drawn<T>(n);
        const OnDevice<T> on_a(a, is_packed ? packed(uplo, n) : triangle(uplo, n + 2)),
            on_x(x, spaced(n, steps.x));
        update(uplo, &alpha, on_x.device, steps.x, on_a.device);
        const Dense row = is_hermitian ? adjoint(x) : transposed(x);
        const Dense sum =
            (is_hermitian ? with_real_diagonal(a) : a) + Bounded(scalar<S>()) * (x * row);
        expect_matrix(on_a, sum);
      }
    }
  }
};

// A += alpha * x * y' + alpha' * y * x'
template <class T>
struct RankTwo {
  bool is_hermitian;
  template <class Full>
  void try_full(const Full& update) const {
    try_each([&](cublasFillMode_t uplo, const T* alpha, const T* x, const T* y, Steps steps,
                 T* a) { run(update, handle, uplo, n, alpha, x, steps.x, y, steps.y, a, n + 2); },
             false);
  }
  template <class Packed>
  void try_packed(const Packed& update) const {
    try_each([&](cublasFillMode_t uplo, const T* alpha, const T* x, const T* y, Steps steps,
                 T* a) { run(update, handle, uplo, n, alpha, x, steps.x, y, steps.y, a); },
             true);
  }

 private:
  template <class Update>
  void try_each(Update update, bool is_packed) const {
    const Bounded alpha = scalar<T>();
    const T by = from<T>(alpha.value);
    for (const auto uplo : kTriangles) {
      for (const Steps steps : kSteps) {
        const Dense a = drawn<T>(n, n), x = drawn<T>(n), y = drawn<T>(n);
        const OnDevice<T> on_a(a, is_packed ? packed(uplo, n) : triangle(uplo, n + 2)),
            on_x(x, spaced(n, steps.x)), on_y(y, spaced(n, steps.y));
        update(uplo, &by, on_x.device, on_y.device, steps, on_a.device);
        if (is_hermitian) {
          expect_matrix(on_a, with_real_diagonal(a) + alpha * (x * adjoint(y)) +
                                  conj(alpha) * (y * adjoint(x)));
        } else {
          expect_matrix(on_a, a + alpha * (x * transposed(y)) + alpha * (y * transposed(x)));
        }
      }
    }
  }
};

// Tests x := op(A) * x, or the solution of op(A) * x = b; a unit diagonal is not stored.
template <class T, class Apply>
void try_triangle(const Layout& layout, const Dense& stored, cublasFillMode_t uplo,
                  cublasDiagType_t diag, bool solves, Apply apply) {
  const bool is_unit = diag == CUBLAS_DIAG_UNIT;
  const Layout off_diagonal = [&](int i, int j) { return i == j ? -1 : layout(i, j); };
  const OnDevice<T> on_a(stored, is_unit ? off_diagonal : layout, false, layout);
  for (const auto trans : kOperations) {
    for (const Steps steps : kSteps) {
      const Dense x = drawn<T>(n), a = op(trans, triangular(uplo, diag, stored));
      const OnDevice<T> on_x(x, spaced(n, steps.x));
      apply(uplo, trans, diag, on_a.device, on_x.device, steps.x);
      expect_matrix(on_x, solves ? solved(a, x) : a * x);
    }
  }
}

template <class T, class Full, class Banded, class Packed>
void try_triangular(const Full& of_full, const Banded& banded, const Packed& of_packed,
                    bool solves) {
  constexpr int k = 2;
  for (const auto uplo : kTriangles) {
    for (const auto diag : kDiagonals) {
      Dense a = drawn_dominant<T>(n);
      try_triangle<T>(triangle(uplo, n + 2), a, uplo, diag, solves,
                      [&](auto u, auto t, auto d, auto matrix, auto x, int step) {
                        run(of_full, handle, u, t, d, n, matrix, n + 2, x, step);
                      });
      try_triangle<T>(triangular_band(uplo, k, k + 2), in_band(a, k), uplo, diag, solves,
                      [&](auto u, auto t, auto d, auto matrix, auto x, int step) {
                        run(banded, handle, u, t, d, n, k, matrix, k + 2, x, step);
                      });
      try_triangle<T>(packed(uplo, n), a, uplo, diag, solves,
                      [&](auto u, auto t, auto d, auto matrix, auto x, int step) {
                        run(of_packed, handle, u, t, d, n, matrix, x, step);
                      });
    }
  }
}

#define OF_ALL(T, p)                                                                             \
  try_general<T>(BOTH(cublas##p##gemv), BOTH(cublas##p##gbmv));                                  \
  try_triangular<T>(BOTH(cublas##p##trmv), BOTH(cublas##p##tbmv), BOTH(cublas##p##tpmv), false); \
  try_triangular<T>(BOTH(cublas##p##trsv), BOTH(cublas##p##tbsv), BOTH(cublas##p##tpsv), true);
#define OF_SYMMETRIC(T, p)                                 \
  try_full_symmetric<T>(symmetric, BOTH(cublas##p##symv)); \
  RankOne<T, T>{false}.try_full(BOTH(cublas##p##syr));     \
  RankTwo<T>{false}.try_full(BOTH(cublas##p##syr2));
#define OF_REAL(T, p)                                                        \
  OF_ALL(T, p)                                                               \
  OF_SYMMETRIC(T, p)                                                         \
  try_rank_1<T>(BOTH(cublas##p##ger), false);                                \
  try_symmetric<T>(symmetric, BOTH(cublas##p##sbmv), BOTH(cublas##p##spmv)); \
  RankOne<T, T>{false}.try_packed(BOTH(cublas##p##spr));                     \
  RankTwo<T>{false}.try_packed(BOTH(cublas##p##spr2));
#define OF_COMPLEX(T, p)                                                     \
  OF_ALL(T, p)                                                               \
  NOT_LEGACY(OF_SYMMETRIC(T, p))                                             \
  try_rank_1<T>(BOTH(cublas##p##geru), false);                               \
  try_rank_1<T>(BOTH(cublas##p##gerc), true);                                \
  try_full_symmetric<T>(hermitian, BOTH(cublas##p##hemv));                   \
  try_symmetric<T>(hermitian, BOTH(cublas##p##hbmv), BOTH(cublas##p##hpmv)); \
  RankOne<T, Real<T>>{true}.try_full(BOTH(cublas##p##her));                  \
  RankOne<T, Real<T>>{true}.try_packed(BOTH(cublas##p##hpr));                \
  RankTwo<T>{true}.try_full(BOTH(cublas##p##her2));                          \
  RankTwo<T>{true}.try_packed(BOTH(cublas##p##hpr2));

}  // namespace

void OF_LEVEL(level_2)() {
  OF_REAL(float, S)
  OF_REAL(double, D)
  OF_COMPLEX(cuComplex, C)
  OF_COMPLEX(cuDoubleComplex, Z)
}
