// Level 3, and cuBLAS's own matrix routines.
#include "cases.hpp"

namespace {

constexpr int m = 5, n = 4, k = 3;
constexpr double kFactors[] = {-0.5, 0};  // values of beta; with 0, C is not initialised

template <class T>
Dense scaled_sum(const Bounded& alpha, const Dense& product, double beta, const Dense& c) {
  const Dense all = alpha * product;
  return beta == 0 ? all : all + Bounded(beta) * c;
}

template <class T, class F>
void try_gemm(const F& gemm, double roundoff = kRoundoff<T>) {
  const T alpha = from<T>(scalar<T>());
  for (const auto ta : kOperations) {
    for (const auto tb : kOperations) {
      for (const double factor : kFactors) {
        const T beta = from<T>(factor);
        const Dense a = ta == CUBLAS_OP_N ? drawn<T>(m, k) : drawn<T>(k, m),
                    b = tb == CUBLAS_OP_N ? drawn<T>(k, n) : drawn<T>(n, k), c = drawn<T>(m, n);
        const OnDevice<T> on_a(a, full(a.rows + 2)), on_b(b, full(b.rows + 1)),
            on_c(c, full(m + 3), factor == 0);
        run(gemm, handle, ta, tb, m, n, k, &alpha, on_a.device, a.rows + 2, on_b.device, b.rows + 1,
            &beta, on_c.device, m + 3);
        expect_matrix(on_c, scaled_sum<T>(scalar<T>(), op(ta, a) * op(tb, b), factor, c), roundoff);
      }
    }
  }
}

// Tests the product of a symmetric or Hermitian matrix and another.
template <class T, class Whole, class F>
void try_symm(Whole whole, const F& symm) {
  const T alpha = from<T>(scalar<T>());
  for (const auto side : kSides) {
    for (const auto uplo : kTriangles) {
      for (const double factor : kFactors) {
        const T beta = from<T>(factor);
        const int order = side == CUBLAS_SIDE_LEFT ? m : n;
        const Dense a = drawn<T>(order, order), b = drawn<T>(m, n), c = drawn<T>(m, n),
                    all = whole(uplo, a);
        const OnDevice<T> on_a(a, triangle(uplo, order + 2)), on_b(b, full(m + 1)),
            on_c(c, full(m + 3), factor == 0);
        run(symm, handle, side, uplo, m, n, &alpha, on_a.device, order + 2, on_b.device, m + 1,
            &beta, on_c.device, m + 3);
        expect_matrix(on_c, scaled_sum<T>(scalar<T>(), side == CUBLAS_SIDE_LEFT ? all * b : b * all,
                                          factor, c));
      }
    }
  }
}

Dense with_real_diagonal(Dense a) {
  for (int i = 0; i < a.rows; ++i) a(i, i) = real_part(a(i, i));
  return a;
}

// Tests updates of one triangle, where A is n x k, or k x n.  update(uplo, trans, beta, A, lda, B,
// ldb, C) calls the function; sum(op(A), op(B)) is the matrix that is added.
template <class T, class Update, class Sum>
void try_update(bool is_hermitian, Update update, Sum sum) {
  const cublasOperation_t other = is_hermitian ? CUBLAS_OP_C : CUBLAS_OP_T;
  for (const auto uplo : kTriangles) {
    for (const auto trans : {CUBLAS_OP_N, other}) {
      for (const double factor : kFactors) {
        const bool is_plain = trans == CUBLAS_OP_N;
        const Dense a = is_plain ? drawn<T>(n, k) : drawn<T>(k, n),
                    b = is_plain ? drawn<T>(n, k) : drawn<T>(k, n), c = drawn<T>(n, n);
        const OnDevice<T> on_a(a, full(a.rows + 2)), on_b(b, full(b.rows + 1)),
            on_c(c, triangle(uplo, n + 3), factor == 0);
        update(uplo, trans, factor, on_a.device, a.rows + 2, on_b.device, b.rows + 1, on_c.device,
               n + 3);
        Dense wanted = sum(op(trans, a), op(trans, b));
        if (factor != 0)
          wanted = wanted + Bounded(factor) * (is_hermitian ? with_real_diagonal(c) : c);
        expect_matrix(on_c, wanted);
      }
    }
  }
}

template <class T>
Dense turned(bool conjugates, const Dense& a) {
  return conjugates ? adjoint(a) : transposed(a);
}

// S: type of the scalars for a Hermitian matrix.
template <class T, class S, class F>
void try_rank_k(bool is_hermitian, const F& function) {
  const S alpha = from<S>(scalar<S>());
  try_update<T>(
      is_hermitian,
      [&](auto uplo, auto trans, double factor, T* a, int lda, T*, int, T* c, int ldc) {
        const S beta = from<S>(factor);
        run(function, handle, uplo, trans, n, k, &alpha, a, lda, &beta, c, ldc);
      },
      [&](const Dense& a, const Dense&) {
        return Bounded(scalar<S>()) * (a * turned<T>(is_hermitian, a));
      });
}
template <class T, class S, class F>
void try_rank_2k(bool is_hermitian, const F& function) {
  const Bounded alpha = scalar<T>();
  const T by = from<T>(alpha.value);
  try_update<T>(
      is_hermitian,
      [&](auto uplo, auto trans, double factor, T* a, int lda, T* b, int ldb, T* c, int ldc) {
        const S beta = from<S>(factor);
        run(function, handle, uplo, trans, n, k, &by, a, lda, b, ldb, &beta, c, ldc);
      },
      [&](const Dense& a, const Dense& b) {
        return alpha * (a * turned<T>(is_hermitian, b)) +
               (is_hermitian ? conj(alpha) : alpha) * (b * turned<T>(is_hermitian, a));
      });
}
// The function assumes that the result is symmetric, or Hermitian.  It is, because B is a real
// multiple of A.
template <class T, class S, class F>
void try_rank_kx(bool is_hermitian, const F& function) {
  const Bounded alpha = Number(2);
  const T by = from<T>(alpha.value);
  try_update<T>(
      is_hermitian,
      [&](auto uplo, auto trans, double factor, T* a, int lda, T*, int, T* c, int ldc) {
        const S beta = from<S>(factor);
        run(function, handle, uplo, trans, n, k, &by, a, lda, a, lda, &beta, c, ldc);
      },
      [&](const Dense& a, const Dense&) { return alpha * (a * turned<T>(is_hermitian, a)); });
}

template <class T, class Trmm, class Trsm>
void try_triangular(const Trmm& trmm, const Trsm& trsm) {
  const Bounded alpha = scalar<T>();
  const T by = from<T>(alpha.value);
  for (const auto side : kSides) {
    for (const auto uplo : kTriangles) {
      for (const auto trans : kOperations) {
        for (const auto diag : kDiagonals) {
          const bool is_left = side == CUBLAS_SIDE_LEFT;
          const int order = is_left ? m : n, lda = order + 2;
          const Dense a = drawn_dominant<T>(order), b = drawn<T>(m, n),
                      all = op(trans, triangular(uplo, diag, a));
          const Layout stored = triangle(uplo, lda);
          const Layout off_diagonal = [&](int i, int j) { return i == j ? -1 : stored(i, j); };
          const OnDevice<T> on_a(a, diag == CUBLAS_DIAG_UNIT ? off_diagonal : stored, false,
                                 stored);
          const OnDevice<T> on_b(b, full(m + 1));
#ifdef LEGACY  // trmm computes in place
          const OnDevice<T> on_c(b, full(m + 3));
          run(trmm, handle, side, uplo, trans, diag, m, n, &by, on_a.device, lda, on_c.device,
              m + 3);
#else
          const OnDevice<T> on_c(b, full(m + 3), true);
          run(trmm, handle, side, uplo, trans, diag, m, n, &by, on_a.device, lda, on_b.device,
              m + 1, on_c.device, m + 3);
#endif
          expect_matrix(on_c, alpha * (is_left ? all * b : b * all));
          run(trsm, handle, side, uplo, trans, diag, m, n, &by, on_a.device, lda, on_b.device,
              m + 1);
          expect_matrix(on_b, is_left ? solved(all, alpha * b)
                                      : transposed(solved(transposed(all), alpha * transposed(b))));
        }
      }
    }
  }
}

template <class T, class Geam, class Dgmm>
void try_own(const Geam& geam, const Dgmm& dgmm) {
  const Bounded alpha = scalar<T>(), beta = Number(-0.5);
  const T by_alpha = from<T>(alpha.value), by_beta = from<T>(beta.value);
  for (const auto ta : kOperations) {
    for (const auto tb : kOperations) {
      const Dense a = ta == CUBLAS_OP_N ? drawn<T>(m, n) : drawn<T>(n, m),
                  b = tb == CUBLAS_OP_N ? drawn<T>(m, n) : drawn<T>(n, m);
      const OnDevice<T> on_a(a, full(a.rows + 2)), on_b(b, full(b.rows + 1)),
          on_c(Dense(m, n), full(m + 3), true);
      run(geam, handle, ta, tb, m, n, &by_alpha, on_a.device, a.rows + 2, &by_beta, on_b.device,
          b.rows + 1, on_c.device, m + 3);
      expect_matrix(on_c, alpha * op(ta, a) + beta * op(tb, b));
    }
  }
  for (const auto side : kSides) {
    for (const int step : {1, -2}) {
      const bool is_left = side == CUBLAS_SIDE_LEFT;
      const int count = is_left ? m : n;
      const Dense a = drawn<T>(m, n), x = drawn<T>(count);
      const OnDevice<T> on_a(a, full(m + 2)), on_x(x, spaced(count, step)),
          on_c(a, full(m + 3), true);
      run(dgmm, handle, side, m, n, on_a.device, m + 2, on_x.device, step, on_c.device, m + 3);
      expect_matrix(on_c,
                    matrix_of(m, n, [&](int i, int j) { return a(i, j) * x(is_left ? i : j); }));
    }
  }
}

template <class T, class Pack, class Unpack>
void try_packing(const Pack& pack, const Unpack& unpack) {
  for (const auto uplo : kTriangles) {
    const Dense a = drawn<T>(n, n), other = drawn<T>(n, n);
    const OnDevice<T> on_a(a, triangle(uplo, n + 2)), on_packed(a, packed(uplo, n), true),
        on_other(other, full(n + 1));
    run(pack, handle, uplo, n, on_a.device, n + 2, on_packed.device);
    expect_matrix(on_packed, a);
    run(unpack, handle, uplo, n, on_packed.device, on_other.device, n + 1);
    expect_matrix(on_other, triangle_of(uplo, a, other));
  }
}

#define OF_ALL(T, p)                                               \
  try_gemm<T>(BOTH(cublas##p##gemm));                              \
  try_symm<T>(symmetric, BOTH(cublas##p##symm));                   \
  try_rank_k<T, T>(false, BOTH(cublas##p##syrk));                  \
  try_rank_2k<T, T>(false, BOTH(cublas##p##syr2k));                \
  try_triangular<T>(BOTH(cublas##p##trmm), BOTH(cublas##p##trsm)); \
  NOT_LEGACY(OF_CUBLAS(T, p))
#define OF_CUBLAS(T, p)                                     \
  try_rank_kx<T, T>(false, BOTH(cublas##p##syrkx));         \
  try_own<T>(BOTH(cublas##p##geam), BOTH(cublas##p##dgmm)); \
  try_packing<T>(ONLY(cublas##p##trttp), ONLY(cublas##p##tpttr));
#define OF_COMPLEX(T, p)                                              \
  OF_ALL(T, p)                                                        \
  NOT_LEGACY(try_gemm<T>(BOTH(cublas##p##gemm3m), 4 * kRoundoff<T>);) \
  NOT_LEGACY(try_rank_kx<T, Real<T>>(true, BOTH(cublas##p##herkx));)  \
  try_symm<T>(hermitian, BOTH(cublas##p##hemm));                      \
  try_rank_k<T, Real<T>>(true, BOTH(cublas##p##herk));                \
  try_rank_2k<T, Real<T>>(true, BOTH(cublas##p##her2k));

}  // namespace

void OF_LEVEL(level_3)() {
  OF_ALL(float, S)
  OF_ALL(double, D)
  OF_COMPLEX(cuComplex, C)
  OF_COMPLEX(cuDoubleComplex, Z)
  NOT_LEGACY(try_gemm<__half>(BOTH(cublasHgemm));)
}
