// BLAS level 2: a matrix and vectors.
#pragma once

#include "vgpu/libraries/cublas/level1.hpp"

namespace warpcheck::libraries::cublas {

// y := alpha * something(x) + beta * y.  If beta is 0, y is not read; if alpha is 0, only y is
// read.
template <typename T>
class Product {
 public:
  Product(BlasCall& call, const T* alpha, const T* beta)
      : operation(call),
        alpha_(call, operation, "alpha", alpha),
        beta_(call, operation, "beta", beta) {}

  Operation operation;

  [[nodiscard]] bool reads_matrix() const { return !alpha_.is_zero(); }
  Vector<T> y(T* pointer, std::int64_t n, std::int64_t increment) {
    return beta_.is_zero() ? write_vector(operation, "y", pointer, n, increment)
                           : update_vector(operation, "y", pointer, n, increment);
  }
  [[nodiscard]] Scalar<T> alpha() const { return alpha_; }
  [[nodiscard]] Scalar<T> beta() const { return beta_; }

 private:
  Scalar<T> alpha_, beta_;
};

// A region that is not read, because its values do not matter.
inline Region unread(Region region) {
  region.width = region.height = region.depth = 0;
  return region;
}
inline Region read_if(bool reads, Region region) {
  return reads ? std::move(region) : unread(std::move(region));
}

// compute(views, a, x, y, alpha, beta)
template <typename T, typename Compute>
void multiply(BlasCall& call, const T* alpha, Region matrix, const T* x, std::int64_t x_count,
              std::int64_t incx, const T* beta, T* y, std::int64_t y_count, std::int64_t incy,
              Compute compute) {
  require_increment("incx", incx);
  require_increment("incy", incy);
  if (x_count == 0 || y_count == 0) return;
  Product<T> product(call, alpha, beta);
  const bool reads = product.reads_matrix();
  const Matrix<T> a(product.operation.read(read_if(reads, std::move(matrix))));
  const Vector<T> from(product.operation.read(read_if(reads, vector_of("x", x, x_count, incx))),
                       x_count, incx);
  const Vector<T> to = product.y(y, y_count, incy);
  product.operation.computes(
      [=, alpha = product.alpha(), beta = product.beta()](const Views& views) {
        const T by_alpha = alpha.in(views), by_beta = beta.in(views);
        // No input is read.
        if (!reads) {
          scale(views, to, by_beta);
        } else {
          compute(views, a, from, to, by_alpha, by_beta);
        }
      });
  call.finish(product.operation);
}

template <typename T>
void scale(const Views& views, const Vector<T>& vector, const T& by_beta) {
  const bool is_zero = by_beta == T{};
  for (int i = 0; i < vector.count(); ++i) {
    T& value = vector.at(views, i);
    assign(value, is_zero ? value_of(T{}) : value_of(by_beta) * value_of(value));
  }
}

template <typename T>
void gemv(BlasCall& call, cublasOperation_t trans, std::int64_t m, std::int64_t n, const T* alpha,
          const T* a, std::int64_t lda, const T* x, std::int64_t incx, const T* beta, T* y,
          std::int64_t incy) {
  const CBLAS_TRANSPOSE operation = operation_of("trans", trans);
  require_size("m", m);
  require_size("n", n);
  require_leading("lda", lda, m);
  const bool is_plain = operation == CblasNoTrans;
  multiply(call, alpha, matrix_of("A", a, m, n, lda), x, is_plain ? n : m, incx, beta, y,
           is_plain ? m : n, incy,
           [=](const Views& views, const Matrix<T>& all, const Vector<T>& from, const Vector<T>& to,
               const T& by_alpha, const T& by_beta) {
             Blas<T>::gemv(CblasColMajor, operation, static_cast<int>(m), static_cast<int>(n),
                           by(by_alpha), all.in(views), all.leading(views), from.in(views),
                           from.increment(views), by(by_beta), to.in(views), to.increment(views));
           });
}

template <typename T>
void gbmv(BlasCall& call, cublasOperation_t trans, std::int64_t m, std::int64_t n, std::int64_t kl,
          std::int64_t ku, const T* alpha, const T* a, std::int64_t lda, const T* x,
          std::int64_t incx, const T* beta, T* y, std::int64_t incy) {
  const CBLAS_TRANSPOSE operation = operation_of("trans", trans);
  require_size("m", m);
  require_size("n", n);
  require_size("kl", kl);
  require_size("ku", ku);
  require_leading("lda", lda, kl + ku + 1);
  const bool is_plain = operation == CblasNoTrans;
  multiply(call, alpha, band("A", a, sizeof(T), m, n, kl, ku, lda), x, is_plain ? n : m, incx, beta,
           y, is_plain ? m : n, incy,
           [=](const Views& views, const Matrix<T>& all, const Vector<T>& from, const Vector<T>& to,
               const T& by_alpha, const T& by_beta) {
             Blas<T>::gbmv(CblasColMajor, operation, static_cast<int>(m), static_cast<int>(n),
                           static_cast<int>(kl), static_cast<int>(ku), by(by_alpha), all.in(views),
                           all.leading(views), from.in(views), from.increment(views), by(by_beta),
                           to.in(views), to.increment(views));
           });
}

template <typename T>
Region triangular_band(const char* name, const T* a, cublasFillMode_t uplo, std::int64_t n,
                       std::int64_t k, std::int64_t lda) {
  const bool is_lower = uplo == CUBLAS_FILL_MODE_LOWER;
  return band(name, a, sizeof(T), n, n, is_lower ? k : 0, is_lower ? 0 : k, lda);
}

// Full, banded and packed symmetric matrices: call_blas(order, uplo, n, by alpha, A, lda, x, ...).
template <typename T>
void hemv(BlasCall& call, cublasFillMode_t uplo, std::int64_t n, const T* alpha, const T* a,
          std::int64_t lda, const T* x, std::int64_t incx, const T* beta, T* y, std::int64_t incy) {
  const CBLAS_UPLO part = part_of(uplo);
  require_size("n", n);
  require_leading("lda", lda, n);
  multiply(call, alpha, triangle_of("A", a, uplo, n, lda), x, n, incx, beta, y, n, incy,
           [=](const Views& views, const Matrix<T>& all, const Vector<T>& from, const Vector<T>& to,
               const T& by_alpha, const T& by_beta) {
             Blas<T>::hemv(CblasColMajor, part, static_cast<int>(n), by(by_alpha), all.in(views),
                           all.leading(views), from.in(views), from.increment(views), by(by_beta),
                           to.in(views), to.increment(views));
           });
}

// BLAS has no product of a complex symmetric matrix.
template <typename T>
void symv(BlasCall& call, cublasFillMode_t uplo, std::int64_t n, const T* alpha, const T* a,
          std::int64_t lda, const T* x, std::int64_t incx, const T* beta, T* y, std::int64_t incy) {
  if constexpr (!kIsComplex<T>) {
    return hemv(call, uplo, n, alpha, a, lda, x, incx, beta, y, incy);
  } else {
    const bool is_lower = part_of(uplo) == CblasLower;
    require_size("n", n);
    require_leading("lda", lda, n);
    multiply(call, alpha, triangle_of("A", a, uplo, n, lda), x, n, incx, beta, y, n, incy,
             [=](const Views& views, const Matrix<T>& all, const Vector<T>& from,
                 const Vector<T>& to, const T& by_alpha, const T& by_beta) {
               scale(views, to, by_beta);
               const std::int64_t leading = all.leading(views);
               for (std::int64_t i = 0; i < n; ++i) {
                 auto sum = value_of(T{});
                 for (std::int64_t j = 0; j < n; ++j) {
                   const bool is_there = is_lower ? j <= i : i <= j;
                   const T& element = all.in(views)[is_there ? i + j * leading : j + i * leading];
                   sum += value_of(element) * value_of(from.at(views, j));
                 }
                 T& result = to.at(views, i);
                 assign(result, value_of(result) + value_of(by_alpha) * sum);
               }
             });
  }
}

template <typename T>
void hbmv(BlasCall& call, cublasFillMode_t uplo, std::int64_t n, std::int64_t k, const T* alpha,
          const T* a, std::int64_t lda, const T* x, std::int64_t incx, const T* beta, T* y,
          std::int64_t incy) {
  const CBLAS_UPLO part = part_of(uplo);
  require_size("n", n);
  require_size("k", k);
  require_leading("lda", lda, k + 1);
  multiply(call, alpha, triangular_band("A", a, uplo, n, k, lda), x, n, incx, beta, y, n, incy,
           [=](const Views& views, const Matrix<T>& all, const Vector<T>& from, const Vector<T>& to,
               const T& by_alpha, const T& by_beta) {
             Blas<T>::hbmv(CblasColMajor, part, static_cast<int>(n), static_cast<int>(k),
                           by(by_alpha), all.in(views), all.leading(views), from.in(views),
                           from.increment(views), by(by_beta), to.in(views), to.increment(views));
           });
}
template <typename T>
void sbmv(BlasCall& call, cublasFillMode_t uplo, std::int64_t n, std::int64_t k, const T* alpha,
          const T* a, std::int64_t lda, const T* x, std::int64_t incx, const T* beta, T* y,
          std::int64_t incy) {
  hbmv(call, uplo, n, k, alpha, a, lda, x, incx, beta, y, incy);
}

// A packed triangle of order n, column after column.
template <typename T>
Region packed_of(const char* name, const T* pointer, std::int64_t n) {
  return array(name, pointer, sizeof(T), n * (n + 1) / 2);
}

template <typename T>
void hpmv(BlasCall& call, cublasFillMode_t uplo, std::int64_t n, const T* alpha, const T* ap,
          const T* x, std::int64_t incx, const T* beta, T* y, std::int64_t incy) {
  const CBLAS_UPLO part = part_of(uplo);
  require_size("n", n);
  multiply(call, alpha, packed_of("AP", ap, n), x, n, incx, beta, y, n, incy,
           [=](const Views& views, const Matrix<T>& all, const Vector<T>& from, const Vector<T>& to,
               const T& by_alpha, const T& by_beta) {
             Blas<T>::hpmv(CblasColMajor, part, static_cast<int>(n), by(by_alpha), all.in(views),
                           from.in(views), from.increment(views), by(by_beta), to.in(views),
                           to.increment(views));
           });
}
template <typename T>
void spmv(BlasCall& call, cublasFillMode_t uplo, std::int64_t n, const T* alpha, const T* ap,
          const T* x, std::int64_t incx, const T* beta, T* y, std::int64_t incy) {
  hpmv(call, uplo, n, alpha, ap, x, incx, beta, y, incy);
}

// ---- updates of a matrix by vectors ----

// compute(views, alpha, x, y, a); y may be x.
template <typename T, typename S, typename Compute>
void update_by(BlasCall& call, const S* alpha, const T* x, std::int64_t m, std::int64_t incx,
               const T* y, std::int64_t n, std::int64_t incy, Region matrix, Compute compute) {
  require_increment("incx", incx);
  require_increment("incy", incy);
  if (m == 0 || n == 0) return;
  Operation operation(call);
  const Scalar<S> a(call, operation, "alpha", alpha);
  if (a.is_zero()) return;
  const auto one = read_vector(operation, "x", x, m, incx);
  const auto other = y == x && incy == incx ? one : read_vector(operation, "y", y, n, incy);
  const Matrix<T> to(operation.update(std::move(matrix)));
  operation.computes([=](const Views& views) { compute(views, a.in(views), one, other, to); });
  call.finish(operation);
}

template <typename T, typename Routine>
void rank_1(BlasCall& call, std::int64_t m, std::int64_t n, const T* alpha, const T* x,
            std::int64_t incx, const T* y, std::int64_t incy, T* a, std::int64_t lda,
            Routine routine) {
  require_size("m", m);
  require_size("n", n);
  require_leading("lda", lda, m);
  update_by(call, alpha, x, m, incx, y, n, incy, matrix_of("A", a, m, n, lda),
            [=](const Views& views, const T& by_alpha, const Vector<T>& one, const Vector<T>& other,
                const Matrix<T>& to) {
              routine(CblasColMajor, one.count(), other.count(), by(by_alpha), one.in(views),
                      one.increment(views), other.in(views), other.increment(views), to.in(views),
                      to.leading(views));
            });
}
template <typename T>
void ger(BlasCall& call, std::int64_t m, std::int64_t n, const T* alpha, const T* x,
         std::int64_t incx, const T* y, std::int64_t incy, T* a, std::int64_t lda) {
  rank_1(call, m, n, alpha, x, incx, y, incy, a, lda, Blas<T>::ger);
}
template <typename T>
void geru(BlasCall& call, std::int64_t m, std::int64_t n, const T* alpha, const T* x,
          std::int64_t incx, const T* y, std::int64_t incy, T* a, std::int64_t lda) {
  rank_1(call, m, n, alpha, x, incx, y, incy, a, lda, Blas<T>::geru);
}
template <typename T>
void gerc(BlasCall& call, std::int64_t m, std::int64_t n, const T* alpha, const T* x,
          std::int64_t incx, const T* y, std::int64_t incy, T* a, std::int64_t lda) {
  rank_1(call, m, n, alpha, x, incx, y, incy, a, lda, Blas<T>::gerc);
}

// Updates one triangle of a complex symmetric matrix, for which BLAS has no routine: A += alpha * x
// * y'; with `both` also alpha * y * x'.
template <typename T>
void update_symmetric(const Views& views, bool is_lower, bool both, const T& by_alpha,
                      const Vector<T>& one, const Vector<T>& other, const Matrix<T>& to) {
  const std::int64_t leading = to.leading(views);
  for (std::int64_t j = 0; j < one.count(); ++j) {
    for (std::int64_t i = is_lower ? j : 0; i < (is_lower ? one.count() : j + 1); ++i) {
      T& element = to.in(views)[i + j * leading];
      auto sum = value_of(one.at(views, i)) * value_of(other.at(views, j));
      if (both) sum += value_of(other.at(views, i)) * value_of(one.at(views, j));
      assign(element, value_of(element) + value_of(by_alpha) * sum);
    }
  }
}

template <typename T, typename S>
void her(BlasCall& call, cublasFillMode_t uplo, std::int64_t n, const S* alpha, const T* x,
         std::int64_t incx, T* a, std::int64_t lda) {
  const CBLAS_UPLO part = part_of(uplo);
  require_size("n", n);
  require_leading("lda", lda, n);
  update_by(call, alpha, x, n, incx, x, n, incx, triangle_of("A", a, uplo, n, lda),
            [=](const Views& views, const S& by_alpha, const Vector<T>& one,
                const Vector<T>& /*one*/, const Matrix<T>& to) {
              if constexpr (!kIsComplex<T>) {
                Blas<T>::syr(CblasColMajor, part, one.count(), by_alpha, one.in(views),
                             one.increment(views), to.in(views), to.leading(views));
              } else if constexpr (!kIsComplex<S>) {
                Blas<T>::her(CblasColMajor, part, one.count(), by_alpha, one.in(views),
                             one.increment(views), to.in(views), to.leading(views));
              } else {
                update_symmetric(views, part == CblasLower, false, by_alpha, one, one, to);
              }
            });
}
template <typename T>
void syr(BlasCall& call, cublasFillMode_t uplo, std::int64_t n, const T* alpha, const T* x,
         std::int64_t incx, T* a, std::int64_t lda) {
  her(call, uplo, n, alpha, x, incx, a, lda);
}

template <typename T, typename S>
void hpr(BlasCall& call, cublasFillMode_t uplo, std::int64_t n, const S* alpha, const T* x,
         std::int64_t incx, T* ap) {
  const CBLAS_UPLO part = part_of(uplo);
  require_size("n", n);
  update_by(call, alpha, x, n, incx, x, n, incx, packed_of("AP", ap, n),
            [=](const Views& views, const S& by_alpha, const Vector<T>& one,
                const Vector<T>& /*one*/, const Matrix<T>& to) {
              Blas<T>::hpr(CblasColMajor, part, one.count(), by_alpha, one.in(views),
                           one.increment(views), to.in(views));
            });
}
template <typename T>
void spr(BlasCall& call, cublasFillMode_t uplo, std::int64_t n, const T* alpha, const T* x,
         std::int64_t incx, T* ap) {
  hpr(call, uplo, n, alpha, x, incx, ap);
}

template <typename T>
void her2(BlasCall& call, cublasFillMode_t uplo, std::int64_t n, const T* alpha, const T* x,
          std::int64_t incx, const T* y, std::int64_t incy, T* a, std::int64_t lda) {
  const CBLAS_UPLO part = part_of(uplo);
  require_size("n", n);
  require_leading("lda", lda, n);
  update_by(call, alpha, x, n, incx, y, n, incy, triangle_of("A", a, uplo, n, lda),
            [=](const Views& views, const T& by_alpha, const Vector<T>& one, const Vector<T>& other,
                const Matrix<T>& to) {
              Blas<T>::her2(CblasColMajor, part, one.count(), by(by_alpha), one.in(views),
                            one.increment(views), other.in(views), other.increment(views),
                            to.in(views), to.leading(views));
            });
}
template <typename T>
void syr2(BlasCall& call, cublasFillMode_t uplo, std::int64_t n, const T* alpha, const T* x,
          std::int64_t incx, const T* y, std::int64_t incy, T* a, std::int64_t lda) {
  if constexpr (!kIsComplex<T>) {
    return her2(call, uplo, n, alpha, x, incx, y, incy, a, lda);
  } else {
    const bool is_lower = part_of(uplo) == CblasLower;
    require_size("n", n);
    require_leading("lda", lda, n);
    update_by(call, alpha, x, n, incx, y, n, incy, triangle_of("A", a, uplo, n, lda),
              [=](const Views& views, const T& by_alpha, const Vector<T>& one,
                  const Vector<T>& other, const Matrix<T>& to) {
                update_symmetric(views, is_lower, true, by_alpha, one, other, to);
              });
  }
}

template <typename T>
void hpr2(BlasCall& call, cublasFillMode_t uplo, std::int64_t n, const T* alpha, const T* x,
          std::int64_t incx, const T* y, std::int64_t incy, T* ap) {
  const CBLAS_UPLO part = part_of(uplo);
  require_size("n", n);
  update_by(call, alpha, x, n, incx, y, n, incy, packed_of("AP", ap, n),
            [=](const Views& views, const T& by_alpha, const Vector<T>& one, const Vector<T>& other,
                const Matrix<T>& to) {
              Blas<T>::hpr2(CblasColMajor, part, one.count(), by(by_alpha), one.in(views),
                            one.increment(views), other.in(views), other.increment(views),
                            to.in(views));
            });
}
template <typename T>
void spr2(BlasCall& call, cublasFillMode_t uplo, std::int64_t n, const T* alpha, const T* x,
          std::int64_t incx, const T* y, std::int64_t incy, T* ap) {
  hpr2(call, uplo, n, alpha, x, incx, y, incy, ap);
}

// ---- triangular matrices: x := op(A) * x, or its solution ----

struct TriangularForm {
  CBLAS_UPLO part;
  CBLAS_TRANSPOSE operation;
  CBLAS_DIAG diagonal;
  TriangularForm(cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag)
      : part(part_of(uplo)), operation(operation_of("trans", trans)), diagonal(diagonal_of(diag)) {}
};

// compute(views, a, x)
template <typename T, typename Compute>
void apply_triangle(BlasCall& call, std::int64_t n, Region matrix, T* x, std::int64_t incx,
                    Compute compute) {
  require_size("n", n);
  require_increment("incx", incx);
  if (n == 0) return;
  Operation operation(call);
  const Matrix<T> a(operation.read(std::move(matrix)));
  const auto vector = update_vector(operation, "x", x, n, incx);
  operation.computes([=](const Views& views) { compute(views, a, vector); });
  call.finish(operation);
}

template <typename T, typename Routine>
void full_triangle(BlasCall& call, cublasFillMode_t uplo, cublasOperation_t trans,
                   cublasDiagType_t diag, std::int64_t n, const T* a, std::int64_t lda, T* x,
                   std::int64_t incx, Routine routine) {
  const TriangularForm form(uplo, trans, diag);
  require_leading("lda", lda, n);
  apply_triangle(call, n, triangle_of("A", a, uplo, n, lda), x, incx,
                 [=](const Views& views, const Matrix<T>& all, const Vector<T>& vector) {
                   routine(CblasColMajor, form.part, form.operation, form.diagonal,
                           static_cast<int>(n), all.in(views), all.leading(views), vector.in(views),
                           vector.increment(views));
                 });
}
template <typename T>
void trmv(BlasCall& call, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag,
          std::int64_t n, const T* a, std::int64_t lda, T* x, std::int64_t incx) {
  full_triangle(call, uplo, trans, diag, n, a, lda, x, incx, Blas<T>::trmv);
}
template <typename T>
void trsv(BlasCall& call, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag,
          std::int64_t n, const T* a, std::int64_t lda, T* x, std::int64_t incx) {
  full_triangle(call, uplo, trans, diag, n, a, lda, x, incx, Blas<T>::trsv);
}

template <typename T, typename Routine>
void banded_triangle(BlasCall& call, cublasFillMode_t uplo, cublasOperation_t trans,
                     cublasDiagType_t diag, std::int64_t n, std::int64_t k, const T* a,
                     std::int64_t lda, T* x, std::int64_t incx, Routine routine) {
  const TriangularForm form(uplo, trans, diag);
  require_size("k", k);
  require_leading("lda", lda, k + 1);
  apply_triangle(call, n, triangular_band("A", a, uplo, n, k, lda), x, incx,
                 [=](const Views& views, const Matrix<T>& all, const Vector<T>& vector) {
                   routine(CblasColMajor, form.part, form.operation, form.diagonal,
                           static_cast<int>(n), static_cast<int>(k), all.in(views),
                           all.leading(views), vector.in(views), vector.increment(views));
                 });
}
template <typename T>
void tbmv(BlasCall& call, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag,
          std::int64_t n, std::int64_t k, const T* a, std::int64_t lda, T* x, std::int64_t incx) {
  banded_triangle(call, uplo, trans, diag, n, k, a, lda, x, incx, Blas<T>::tbmv);
}
template <typename T>
void tbsv(BlasCall& call, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag,
          std::int64_t n, std::int64_t k, const T* a, std::int64_t lda, T* x, std::int64_t incx) {
  banded_triangle(call, uplo, trans, diag, n, k, a, lda, x, incx, Blas<T>::tbsv);
}

template <typename T, typename Routine>
void packed_triangle(BlasCall& call, cublasFillMode_t uplo, cublasOperation_t trans,
                     cublasDiagType_t diag, std::int64_t n, const T* ap, T* x, std::int64_t incx,
                     Routine routine) {
  const TriangularForm form(uplo, trans, diag);
  apply_triangle(call, n, packed_of("AP", ap, n), x, incx,
                 [=](const Views& views, const Matrix<T>& all, const Vector<T>& vector) {
                   routine(CblasColMajor, form.part, form.operation, form.diagonal,
                           static_cast<int>(n), all.in(views), vector.in(views),
                           vector.increment(views));
                 });
}
template <typename T>
void tpmv(BlasCall& call, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag,
          std::int64_t n, const T* ap, T* x, std::int64_t incx) {
  packed_triangle(call, uplo, trans, diag, n, ap, x, incx, Blas<T>::tpmv);
}
template <typename T>
void tpsv(BlasCall& call, cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag,
          std::int64_t n, const T* ap, T* x, std::int64_t incx) {
  packed_triangle(call, uplo, trans, diag, n, ap, x, incx, Blas<T>::tpsv);
}

}  // namespace warpcheck::libraries::cublas
