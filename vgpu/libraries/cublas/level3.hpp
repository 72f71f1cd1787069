// BLAS level 3 except gemm, and cuBLAS's additional matrix routines.
#pragma once

#include "vgpu/libraries/cublas/level2.hpp"

namespace warpcheck::libraries::cublas {

// C, or one triangle of it; read only if beta is not 0.
template <typename T, typename S>
Matrix<T> result_matrix(Operation& operation, const Scalar<S>& beta, Region region) {
  return Matrix<T>(beta.is_zero() ? operation.write(std::move(region))
                                  : operation.update(std::move(region)));
}

// ---- a symmetric matrix times another ----

template <typename T, typename Routine>
void multiply_symmetric(BlasCall& call, cublasSideMode_t side, cublasFillMode_t uplo,
                        std::int64_t m, std::int64_t n, const T* alpha, const T* a,
                        std::int64_t lda, const T* b, std::int64_t ldb, const T* beta, T* c,
                        std::int64_t ldc, Routine routine) {
  const CBLAS_SIDE at = side_of(side);
  const CBLAS_UPLO part = part_of(uplo);
  require_size("m", m);
  require_size("n", n);
  const std::int64_t order = at == CblasLeft ? m : n;
  require_leading("lda", lda, order);
  require_leading("ldb", ldb, m);
  require_leading("ldc", ldc, m);
  if (m == 0 || n == 0) return;
  Operation operation(call);
  const Scalar<T> by_alpha(call, operation, "alpha", alpha), by_beta(call, operation, "beta", beta);
  const bool reads = !by_alpha.is_zero();
  const Matrix<T> left(operation.read(read_if(reads, triangle_of("A", a, uplo, order, lda))));
  const Matrix<T> right(operation.read(read_if(reads, matrix_of("B", b, m, n, ldb))));
  const auto to = result_matrix<T>(operation, by_beta, matrix_of("C", c, m, n, ldc));
  operation.computes([=](const Views& views) {
    const T alpha_value = by_alpha.in(views), beta_value = by_beta.in(views);
    routine(CblasColMajor, at, part, static_cast<int>(m), static_cast<int>(n), by(alpha_value),
            left.in(views), reads ? left.leading(views) : static_cast<int>(lda), right.in(views),
            reads ? right.leading(views) : static_cast<int>(ldb), by(beta_value), to.in(views),
            to.leading(views));
  });
  call.finish(operation);
}
template <typename T>
void symm(BlasCall& call, cublasSideMode_t side, cublasFillMode_t uplo, std::int64_t m,
          std::int64_t n, const T* alpha, const T* a, std::int64_t lda, const T* b,
          std::int64_t ldb, const T* beta, T* c, std::int64_t ldc) {
  multiply_symmetric(call, side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc, Blas<T>::symm);
}
template <typename T>
void hemm(BlasCall& call, cublasSideMode_t side, cublasFillMode_t uplo, std::int64_t m,
          std::int64_t n, const T* alpha, const T* a, std::int64_t lda, const T* b,
          std::int64_t ldb, const T* beta, T* c, std::int64_t ldc) {
  multiply_symmetric(call, side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc, Blas<T>::hemm);
}

// ---- updates of a symmetric matrix ----

// The shape of A (and B): n x k, or k x n if transposed.
struct UpdateShape {
  CBLAS_UPLO part;
  CBLAS_TRANSPOSE operation;
  std::int64_t rows, columns;
  UpdateShape(cublasFillMode_t uplo, cublasOperation_t trans, std::int64_t n, std::int64_t k,
              std::int64_t lda, std::int64_t ldc)
      : part(part_of(uplo)), operation(operation_of("trans", trans)) {
    require_size("n", n);
    require_size("k", k);
    rows = operation == CblasNoTrans ? n : k;
    columns = operation == CblasNoTrans ? k : n;
    require_leading("lda", lda, rows);
    require_leading("ldc", ldc, n);
  }
};
// A symmetric update of complex matrices transposes; a Hermitian update also conjugates.
inline void require_operation(CBLAS_TRANSPOSE operation, CBLAS_TRANSPOSE other) {
  require(operation == CblasNoTrans || operation == other, "trans is neither CUBLAS_OP_N nor {}",
          other == CblasTrans ? "CUBLAS_OP_T" : "CUBLAS_OP_C");
}

// S: T, or its real type.
template <typename T, typename S, typename Routine>
void update_rank_k(BlasCall& call, cublasFillMode_t uplo, const UpdateShape& shape, std::int64_t n,
                   std::int64_t k, const S* alpha, const T* a, std::int64_t lda, const S* beta,
                   T* c, std::int64_t ldc, Routine routine) {
  if (n == 0) return;
  Operation operation(call);
  const Scalar<S> by_alpha(call, operation, "alpha", alpha), by_beta(call, operation, "beta", beta);
  const bool reads = !by_alpha.is_zero() && k != 0;
  const Matrix<T> from(
      operation.read(read_if(reads, matrix_of("A", a, shape.rows, shape.columns, lda))));
  const auto to = result_matrix<T>(operation, by_beta, triangle_of("C", c, uplo, n, ldc));
  operation.computes([=](const Views& views) {
    const S alpha_value = by_alpha.in(views), beta_value = by_beta.in(views);
    routine(CblasColMajor, shape.part, shape.operation, static_cast<int>(n),
            static_cast<int>(reads ? k : 0), by(alpha_value), from.in(views),
            reads ? from.leading(views) : static_cast<int>(lda), by(beta_value), to.in(views),
            to.leading(views));
  });
  call.finish(operation);
}
template <typename T>
void syrk(BlasCall& call, cublasFillMode_t uplo, cublasOperation_t trans, std::int64_t n,
          std::int64_t k, const T* alpha, const T* a, std::int64_t lda, const T* beta, T* c,
          std::int64_t ldc) {
  const UpdateShape shape(uplo, trans, n, k, lda, ldc);
  if constexpr (kIsComplex<T>) require_operation(shape.operation, CblasTrans);
  update_rank_k(call, uplo, shape, n, k, alpha, a, lda, beta, c, ldc, Blas<T>::syrk);
}
template <typename T>
void herk(BlasCall& call, cublasFillMode_t uplo, cublasOperation_t trans, std::int64_t n,
          std::int64_t k, const Real<T>* alpha, const T* a, std::int64_t lda, const Real<T>* beta,
          T* c, std::int64_t ldc) {
  const UpdateShape shape(uplo, trans, n, k, lda, ldc);
  require_operation(shape.operation, CblasConjTrans);
  update_rank_k(call, uplo, shape, n, k, alpha, a, lda, beta, c, ldc, Blas<T>::herk);
}

// Types as arguments: only those of single precision are supported.
inline void require_single_complex(cudaDataType a_type, cudaDataType c_type) {
  if (a_type == CUDA_C_32F && c_type == CUDA_C_32F) return;
  throw Refused{fmt::format("elements of types {} and {}", static_cast<int>(a_type),
                            static_cast<int>(c_type))};
}
inline void syrk_ex(BlasCall& call, cublasFillMode_t uplo, cublasOperation_t trans, std::int64_t n,
                    std::int64_t k, const cuComplex* alpha, const void* a, cudaDataType a_type,
                    std::int64_t lda, const cuComplex* beta, void* c, cudaDataType c_type,
                    std::int64_t ldc) {
  require_single_complex(a_type, c_type);
  syrk(call, uplo, trans, n, k, alpha, static_cast<const cuComplex*>(a), lda, beta,
       static_cast<cuComplex*>(c), ldc);
}
inline void herk_ex(BlasCall& call, cublasFillMode_t uplo, cublasOperation_t trans, std::int64_t n,
                    std::int64_t k, const float* alpha, const void* a, cudaDataType a_type,
                    std::int64_t lda, const float* beta, void* c, cudaDataType c_type,
                    std::int64_t ldc) {
  require_single_complex(a_type, c_type);
  herk(call, uplo, trans, n, k, alpha, static_cast<const cuComplex*>(a), lda, beta,
       static_cast<cuComplex*>(c), ldc);
}

// C := alpha * op(A) * op(B)' + beta * C for one triangle; rank 2 updates also add the product with
// A and B exchanged.
//   compute(views, alpha, a, b, beta, c)
template <typename T, typename S, typename Compute>
void update_rank_2k(BlasCall& call, cublasFillMode_t uplo, const UpdateShape& shape, std::int64_t n,
                    std::int64_t k, const T* alpha, const T* a, std::int64_t lda, const T* b,
                    std::int64_t ldb, const S* beta, T* c, std::int64_t ldc, Compute compute) {
  require_leading("ldb", ldb, shape.rows);
  if (n == 0) return;
  Operation operation(call);
  const Scalar<T> by_alpha(call, operation, "alpha", alpha);
  const Scalar<S> by_beta(call, operation, "beta", beta);
  const bool reads = !by_alpha.is_zero() && k != 0;
  const Matrix<T> one(
      operation.read(read_if(reads, matrix_of("A", a, shape.rows, shape.columns, lda))));
  const Matrix<T> other(
      operation.read(read_if(reads, matrix_of("B", b, shape.rows, shape.columns, ldb))));
  const auto to = result_matrix<T>(operation, by_beta, triangle_of("C", c, uplo, n, ldc));
  operation.computes([=](const Views& views) {
    compute(views, static_cast<int>(reads ? k : 0), by_alpha.in(views), one,
            reads ? one.leading(views) : static_cast<int>(lda), other,
            reads ? other.leading(views) : static_cast<int>(ldb), by_beta.in(views), to);
  });
  call.finish(operation);
}
template <typename T, typename S, typename Routine>
void update_by_blas(BlasCall& call, cublasFillMode_t uplo, const UpdateShape& shape, std::int64_t n,
                    std::int64_t k, const T* alpha, const T* a, std::int64_t lda, const T* b,
                    std::int64_t ldb, const S* beta, T* c, std::int64_t ldc, Routine routine) {
  update_rank_2k(
      call, uplo, shape, n, k, alpha, a, lda, b, ldb, beta, c, ldc,
      [=](const Views& views, int inner, const T& by_alpha, const Matrix<T>& one, int lead,
          const Matrix<T>& other, int other_lead, const S& by_beta, const Matrix<T>& to) {
        routine(CblasColMajor, shape.part, shape.operation, static_cast<int>(n), inner,
                by(by_alpha), one.in(views), lead, other.in(views), other_lead, by(by_beta),
                to.in(views), to.leading(views));
      });
}
template <typename T>
void syr2k(BlasCall& call, cublasFillMode_t uplo, cublasOperation_t trans, std::int64_t n,
           std::int64_t k, const T* alpha, const T* a, std::int64_t lda, const T* b,
           std::int64_t ldb, const T* beta, T* c, std::int64_t ldc) {
  const UpdateShape shape(uplo, trans, n, k, lda, ldc);
  if constexpr (kIsComplex<T>) require_operation(shape.operation, CblasTrans);
  update_by_blas(call, uplo, shape, n, k, alpha, a, lda, b, ldb, beta, c, ldc, Blas<T>::syr2k);
}
template <typename T>
void her2k(BlasCall& call, cublasFillMode_t uplo, cublasOperation_t trans, std::int64_t n,
           std::int64_t k, const T* alpha, const T* a, std::int64_t lda, const T* b,
           std::int64_t ldb, const Real<T>* beta, T* c, std::int64_t ldc) {
  const UpdateShape shape(uplo, trans, n, k, lda, ldc);
  require_operation(shape.operation, CblasConjTrans);
  update_by_blas(call, uplo, shape, n, k, alpha, a, lda, b, ldb, beta, c, ldc, Blas<T>::her2k);
}

// Without the exchanged product: the whole product is computed, and the triangle is taken from it.
template <typename T, typename S>
void update_triangle_by_product(BlasCall& call, cublasFillMode_t uplo, const UpdateShape& shape,
                                CBLAS_TRANSPOSE transposed, std::int64_t n, std::int64_t k,
                                const T* alpha, const T* a, std::int64_t lda, const T* b,
                                std::int64_t ldb, const S* beta, T* c, std::int64_t ldc) {
  const bool is_plain = shape.operation == CblasNoTrans;
  update_rank_2k(
      call, uplo, shape, n, k, alpha, a, lda, b, ldb, beta, c, ldc,
      [=](const Views& views, int inner, const T& by_alpha, const Matrix<T>& one, int lead,
          const Matrix<T>& other, int other_lead, const S& by_beta, const Matrix<T>& to) {
        std::vector<T> product(static_cast<std::size_t>(n * n));
        const T zero{};
        if (inner != 0) {
          Blas<T>::gemm(CblasColMajor, is_plain ? CblasNoTrans : transposed,
                        is_plain ? transposed : CblasNoTrans, static_cast<int>(n),
                        static_cast<int>(n), inner, by(by_alpha), one.in(views), lead,
                        other.in(views), other_lead, by(zero), product.data(), static_cast<int>(n));
        }
        const std::int64_t leading = to.leading(views);
        for (std::int64_t j = 0; j < n; ++j) {
          const std::int64_t end = shape.part == CblasLower ? n : j + 1;
          for (std::int64_t i = shape.part == CblasLower ? j : 0; i < end; ++i) {
            T& value = to.in(views)[i + j * leading];
            auto sum = value_of(product[static_cast<std::size_t>(i + j * n)]);
            if (!(by_beta == S{})) sum += value_of(by_beta) * value_of(value);
            // The diagonal of a Hermitian matrix is real.
            if constexpr (!std::is_same_v<T, S>) {
              if (i == j) sum.imag(0);
            }
            assign(value, sum);
          }
        }
      });
}
template <typename T>
void syrkx(BlasCall& call, cublasFillMode_t uplo, cublasOperation_t trans, std::int64_t n,
           std::int64_t k, const T* alpha, const T* a, std::int64_t lda, const T* b,
           std::int64_t ldb, const T* beta, T* c, std::int64_t ldc) {
  const UpdateShape shape(uplo, trans, n, k, lda, ldc);
  update_triangle_by_product(call, uplo, shape, CblasTrans, n, k, alpha, a, lda, b, ldb, beta, c,
                             ldc);
}
template <typename T>
void herkx(BlasCall& call, cublasFillMode_t uplo, cublasOperation_t trans, std::int64_t n,
           std::int64_t k, const T* alpha, const T* a, std::int64_t lda, const T* b,
           std::int64_t ldb, const Real<T>* beta, T* c, std::int64_t ldc) {
  const UpdateShape shape(uplo, trans, n, k, lda, ldc);
  require_operation(shape.operation, CblasConjTrans);
  update_triangle_by_product(call, uplo, shape, CblasConjTrans, n, k, alpha, a, lda, b, ldb, beta,
                             c, ldc);
}

// ---- triangular matrices ----

// A triangular A multiplied with B, which is m x n.
struct SidedTriangle {
  CBLAS_SIDE side;
  TriangularForm form;
  std::int64_t m, n, order;
  SidedTriangle(cublasSideMode_t at, cublasFillMode_t uplo, cublasOperation_t trans,
                cublasDiagType_t diag, std::int64_t rows, std::int64_t columns, std::int64_t lda,
                std::int64_t ldb)
      : side(side_of(at)), form(uplo, trans, diag), m(rows), n(columns) {
    require_size("m", m);
    require_size("n", n);
    order = side == CblasLeft ? m : n;
    require_leading("lda", lda, order);
    require_leading("ldb", ldb, m);
  }
  template <typename T, typename Routine>
  void run(const Views& views, Routine routine, const T& alpha, const Matrix<T>& a,
           const Matrix<T>& b) const {
    routine(CblasColMajor, side, form.part, form.operation, form.diagonal, static_cast<int>(m),
            static_cast<int>(n), by(alpha), a.in(views), a.leading(views), b.in(views),
            b.leading(views));
  }
};

// The result may overwrite B.
template <typename T>
void trmm(BlasCall& call, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,
          cublasDiagType_t diag, std::int64_t m, std::int64_t n, const T* alpha, const T* a,
          std::int64_t lda, const T* b, std::int64_t ldb, T* c, std::int64_t ldc) {
  const SidedTriangle shape(side, uplo, trans, diag, m, n, lda, ldb);
  require_leading("ldc", ldc, m);
  if (m == 0 || n == 0) return;
  Operation operation(call);
  const Scalar<T> by_alpha(call, operation, "alpha", alpha);
  const bool reads = !by_alpha.is_zero();
  const Matrix<T> left(operation.read(read_if(reads, triangle_of("A", a, uplo, shape.order, lda))));
  const Matrix<T> from(operation.read(read_if(reads, matrix_of("B", b, m, n, ldb))));
  const Matrix<T> to(operation.write(matrix_of("C", c, m, n, ldc)));
  operation.computes([=](const Views& views) {
    const T value = by_alpha.in(views);
    T* const result = to.in(views);
    for (std::int64_t j = 0; j < n; ++j) {
      T* const column = result + j * to.leading(views);
      if (reads) {
        std::memmove(column, from.in(views) + j * from.leading(views),
                     static_cast<std::size_t>(m) * sizeof(T));
      } else {
        std::fill_n(column, m, T{});
      }
    }
    if (!reads) return;
    shape.run(views, Blas<T>::trmm, value, left, to);
  });
  call.finish(operation);
}

template <typename T>
void trsm(BlasCall& call, cublasSideMode_t side, cublasFillMode_t uplo, cublasOperation_t trans,
          cublasDiagType_t diag, std::int64_t m, std::int64_t n, const T* alpha, const T* a,
          std::int64_t lda, T* b, std::int64_t ldb) {
  const SidedTriangle shape(side, uplo, trans, diag, m, n, lda, ldb);
  if (m == 0 || n == 0) return;
  Operation operation(call);
  const Scalar<T> by_alpha(call, operation, "alpha", alpha);
  const bool reads = !by_alpha.is_zero();
  const Matrix<T> left(operation.read(read_if(reads, triangle_of("A", a, uplo, shape.order, lda))));
  Region region = matrix_of("B", b, m, n, ldb);
  const Matrix<T> to(reads ? operation.update(std::move(region))
                           : operation.write(std::move(region)));
  operation.computes([=](const Views& views) {
    const T value = by_alpha.in(views);
    if (!reads) {
      for (std::int64_t j = 0; j < n; ++j) {
        std::fill_n(to.in(views) + j * to.leading(views), m, T{});
      }
      return;
    }
    shape.run(views, Blas<T>::trsm, value, left, to);
  });
  call.finish(operation);
}

// ---- cuBLAS's own ----

// Element (i, j) of op(A).
template <typename T>
auto element_of(const Matrix<T>& matrix, const Views& views, CBLAS_TRANSPOSE operation,
                std::int64_t i, std::int64_t j) {
  const std::int64_t leading = matrix.leading(views);
  const bool is_plain = operation == CblasNoTrans;
  const auto value = value_of(matrix.in(views)[is_plain ? i + j * leading : j + i * leading]);
  if constexpr (kIsComplex<T>) {
    if (operation == CblasConjTrans) return std::conj(value);
  }
  return value;
}

// C := alpha * op(A) + beta * op(B); C may be A or B if that one is not transposed.
template <typename T>
void geam(BlasCall& call, cublasOperation_t transa, cublasOperation_t transb, std::int64_t m,
          std::int64_t n, const T* alpha, const T* a, std::int64_t lda, const T* beta, const T* b,
          std::int64_t ldb, T* c, std::int64_t ldc) {
  const CBLAS_TRANSPOSE a_operation = operation_of("transa", transa);
  const CBLAS_TRANSPOSE b_operation = operation_of("transb", transb);
  require_size("m", m);
  require_size("n", n);
  const bool a_plain = a_operation == CblasNoTrans, b_plain = b_operation == CblasNoTrans;
  require_leading("lda", lda, a_plain ? m : n);
  require_leading("ldb", ldb, b_plain ? m : n);
  require_leading("ldc", ldc, m);
  require(c != a || (a_plain && lda == ldc),
          "C is A, but transa is not CUBLAS_OP_N or ldc not lda");
  require(c != b || (b_plain && ldb == ldc),
          "C is B, but transb is not CUBLAS_OP_N or ldc not ldb");
  if (m == 0 || n == 0) return;
  Operation operation(call);
  const Scalar<T> by_alpha(call, operation, "alpha", alpha), by_beta(call, operation, "beta", beta);
  const bool reads_a = !by_alpha.is_zero(), reads_b = !by_beta.is_zero();
  const Matrix<T> one(
      operation.read(read_if(reads_a, matrix_of("A", a, a_plain ? m : n, a_plain ? n : m, lda))));
  const Matrix<T> other(
      operation.read(read_if(reads_b, matrix_of("B", b, b_plain ? m : n, b_plain ? n : m, ldb))));
  const Matrix<T> to(operation.write(matrix_of("C", c, m, n, ldc)));
  operation.computes([=](const Views& views) {
    const auto alpha_value = value_of(by_alpha.in(views)), beta_value = value_of(by_beta.in(views));
    const decltype(alpha_value) zero{};
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < m; ++i) {
        auto sum = zero;
        if (reads_a && alpha_value != zero) {
          sum += alpha_value * element_of(one, views, a_operation, i, j);
        }
        if (reads_b && beta_value != zero) {
          sum += beta_value * element_of(other, views, b_operation, i, j);
        }
        assign(to.in(views)[i + j * to.leading(views)], sum);
      }
    }
  });
  call.finish(operation);
}

// C := A * diag(x), or diag(x) * A; C may be A.
template <typename T>
void dgmm(BlasCall& call, cublasSideMode_t mode, std::int64_t m, std::int64_t n, const T* a,
          std::int64_t lda, const T* x, std::int64_t incx, T* c, std::int64_t ldc) {
  const bool is_left = side_of(mode) == CblasLeft;
  require_size("m", m);
  require_size("n", n);
  require_leading("lda", lda, m);
  require_leading("ldc", ldc, m);
  if (m == 0 || n == 0) return;
  Operation operation(call);
  const Matrix<T> from(operation.read(matrix_of("A", a, m, n, lda)));
  const auto diagonal = read_vector(operation, "x", x, is_left ? m : n, incx);
  const Matrix<T> to(operation.write(matrix_of("C", c, m, n, ldc)));
  operation.computes([=](const Views& views) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < m; ++i) {
        const auto factor = value_of(diagonal.at(views, is_left ? i : j));
        assign(to.in(views)[i + j * to.leading(views)],
               value_of(from.in(views)[i + j * from.leading(views)]) * factor);
      }
    }
  });
  call.finish(operation);
}

// visit(index in the packed triangle, row, column)
template <typename Visit>
void for_each_packed(CBLAS_UPLO part, std::int64_t n, Visit&& visit) {
  std::int64_t at = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t end = part == CblasLower ? n : j + 1;
    for (std::int64_t i = part == CblasLower ? j : 0; i < end; ++i) visit(at++, i, j);
  }
}
template <typename T>
void trttp(BlasCall& call, cublasFillMode_t uplo, std::int64_t n, const T* a, std::int64_t lda,
           T* ap) {
  const CBLAS_UPLO part = part_of(uplo);
  require_size("n", n);
  require_leading("lda", lda, n);
  if (n == 0) return;
  Operation operation(call);
  const Matrix<T> from(operation.read(triangle_of("A", a, uplo, n, lda)));
  const Matrix<T> to(operation.write(packed_of("AP", ap, n)));
  operation.computes([=](const Views& views) {
    for_each_packed(part, n, [&](std::int64_t at, std::int64_t i, std::int64_t j) {
      to.in(views)[at] = from.in(views)[i + j * from.leading(views)];
    });
  });
  call.finish(operation);
}
template <typename T>
void tpttr(BlasCall& call, cublasFillMode_t uplo, std::int64_t n, const T* ap, T* a,
           std::int64_t lda) {
  const CBLAS_UPLO part = part_of(uplo);
  require_size("n", n);
  require_leading("lda", lda, n);
  if (n == 0) return;
  Operation operation(call);
  const Matrix<T> from(operation.read(packed_of("AP", ap, n)));
  const Matrix<T> to(operation.write(triangle_of("A", a, uplo, n, lda)));
  operation.computes([=](const Views& views) {
    for_each_packed(part, n, [&](std::int64_t at, std::int64_t i, std::int64_t j) {
      to.in(views)[i + j * to.leading(views)] = from.in(views)[at];
    });
  });
  call.finish(operation);
}

}  // namespace warpcheck::libraries::cublas
