// Batches of matrix-vector products, triangular solves and factorisations.
#pragma once

#include "vgpu/libraries/cublas/batch.hpp"
#include "vgpu/libraries/cublas/factorization.hpp"
#include "vgpu/libraries/cublas/level3.hpp"
#include "vgpu/libraries/cublas/types.hpp"

namespace warpcheck::libraries::cublas {

// ---- matrix times vector ----

// A product whose arguments have been checked.  X: the type of A and x; Y: of y; the sums are
// computed in the scalars' type S.
struct GemvShape {
  CBLAS_TRANSPOSE operation;
  std::int64_t m, n, x_count, y_count;
  GemvShape(cublasOperation_t trans, std::int64_t rows, std::int64_t columns, std::int64_t lda,
            std::int64_t incx, std::int64_t incy, std::int64_t batch)
      : operation(operation_of("trans", trans)), m(rows), n(columns) {
    require_size("m", m);
    require_size("n", n);
    require_size("batchCount", batch);
    require_leading("lda", lda, m);
    require_increment("incx", incx);
    require_increment("incy", incy);
    x_count = operation == CblasNoTrans ? n : m;
    y_count = operation == CblasNoTrans ? m : n;
  }
};

template <typename S, typename X, typename Y>
void compute_gemv(const GemvShape& shape, const LibraryView& matrix, const LibraryView& from,
                  const LibraryView& to, std::int64_t slice, S alpha, S beta, bool reads,
                  std::int64_t incx, std::int64_t incy) {
  const auto step = [](std::int64_t increment, const LibraryView& view, std::size_t bytes) {
    return increment == 1 || increment == -1 ? 1 : view.pitch / static_cast<std::int64_t>(bytes);
  };
  const std::int64_t x_step = reads ? step(incx, from, sizeof(X)) : 1;
  const std::int64_t y_step = step(incy, to, sizeof(Y));
  const std::int64_t leading = matrix.pitch / static_cast<std::int64_t>(sizeof(X));
  const auto* const a = reinterpret_cast<const X*>(matrix.data + slice * matrix.slice);
  const auto* const x = reinterpret_cast<const X*>(from.data + slice * from.slice);
  auto* const y = reinterpret_cast<Y*>(to.data + slice * to.slice);
  for (std::int64_t i = 0; i < shape.y_count; ++i) {
    auto sum = value_of(S{});
    for (std::int64_t j = 0; reads && j < shape.x_count; ++j) {
      const std::int64_t at = shape.operation == CblasNoTrans ? i + j * leading : j + i * leading;
      auto element = value_of(number_at<S>(kTypeOf<X>, a, at));
      if (shape.operation == CblasConjTrans) element = conjugate(element);
      const std::int64_t x_at = (incx < 0 ? shape.x_count - 1 - j : j) * x_step;
      sum += element * value_of(number_at<S>(kTypeOf<X>, x, x_at));
    }
    const std::int64_t y_at = (incy < 0 ? shape.y_count - 1 - i : i) * y_step;
    auto result = value_of(S{});
    if (reads) result += value_of(alpha) * sum;
    if (!(beta == S{})) result += value_of(beta) * value_of(number_at<S>(kTypeOf<Y>, y, y_at));
    S stored;
    assign(stored, result);
    put_number(kTypeOf<Y>, y, y_at, stored);
  }
}

template <typename S, typename X, typename Y>
void gemv_strided_batched(BlasCall& call, cublasOperation_t trans, std::int64_t m, std::int64_t n,
                          const S* alpha, const X* a, std::int64_t lda, std::int64_t stride_a,
                          const X* x, std::int64_t incx, std::int64_t stride_x, const S* beta, Y* y,
                          std::int64_t incy, std::int64_t stride_y, std::int64_t batch) {
  const GemvShape shape(trans, m, n, lda, incx, incy, batch);
  if (m == 0 || n == 0 || batch == 0) return;
  Operation operation(call);
  const Scalar<S> by_alpha(call, operation, "alpha", alpha), by_beta(call, operation, "beta", beta);
  const bool reads = !by_alpha.is_zero();
  const auto vectors = [&](const char* name, const auto* pointer, std::int64_t count,
                           std::int64_t increment, std::int64_t stride) {
    return vector_of(name, pointer, count, increment).batch(batch, stride);
  };
  // A vector without gaps is one row, so each vector of a batch is a slice.
  const std::size_t as =
      operation.read(read_if(reads, matrix_of("A", a, m, n, lda).batch(batch, stride_a)));
  const std::size_t xs =
      operation.read(read_if(reads, vectors("x", x, shape.x_count, incx, stride_x)));
  Region to = vectors("y", y, shape.y_count, incy, stride_y);
  const std::size_t ys =
      by_beta.is_zero() ? operation.write(std::move(to)) : operation.update(std::move(to));
  operation.computes([=](const Views& views) {
    for (std::int64_t i = 0; i < batch; ++i) {
      compute_gemv<S, X, Y>(shape, views[as], views[xs], views[ys], i, by_alpha.in(views),
                            by_beta.in(views), reads, incx, incy);
    }
  });
  call.finish(operation);
}

template <typename S, typename X, typename Y>
void gemv_batched(BlasCall& call, cublasOperation_t trans, std::int64_t m, std::int64_t n,
                  const S* alpha, const X* const* a, std::int64_t lda, const X* const* x,
                  std::int64_t incx, const S* beta, Y* const* y, std::int64_t incy,
                  std::int64_t batch) {
  const GemvShape shape(trans, m, n, lda, incx, incy, batch);
  if (m == 0 || n == 0 || batch == 0) return;
  Operation operation(call);
  const Scalar<S> by_alpha(call, operation, "alpha", alpha), by_beta(call, operation, "beta", beta);
  const bool reads = !by_alpha.is_zero();
  const Use inputs = reads ? Use::read : Use::none;
  const auto vector_at = [](std::int64_t count, std::int64_t increment, std::size_t bytes) {
    return [=](const char* name, void* pointer) {
      return vector(name, pointer, bytes, count, increment);
    };
  };
  const Batch all(operation, batch,
                  {{"Aarray", a, inputs,
                    [=](const char* name, void* pointer) {
                      return matrix(name, pointer, sizeof(X), m, n, lda);
                    }},
                   {"xarray", x, inputs, vector_at(shape.x_count, incx, sizeof(X))},
                   {"yarray", y, by_beta.is_zero() ? Use::write : Use::update,
                    vector_at(shape.y_count, incy, sizeof(Y))}});
  operation.computes([=](const Views& views) {
    for (std::int64_t i = 0; i < batch; ++i) {
      compute_gemv<S, X, Y>(shape, views[all.region(i, 0)], views[all.region(i, 1)],
                            views[all.region(i, 2)], 0, by_alpha.in(views), by_beta.in(views),
                            reads, incx, incy);
    }
  });
  call.finish(operation);
}

// ---- triangular solves ----

template <typename T>
void trsm_batched(BlasCall& call, cublasSideMode_t side, cublasFillMode_t uplo,
                  cublasOperation_t trans, cublasDiagType_t diag, std::int64_t m, std::int64_t n,
                  const T* alpha, const T* const* a, std::int64_t lda, T* const* b,
                  std::int64_t ldb, std::int64_t batch) {
  const SidedTriangle shape(side, uplo, trans, diag, m, n, lda, ldb);
  require_size("batchCount", batch);
  if (m == 0 || n == 0 || batch == 0) return;
  Operation operation(call);
  const Scalar<T> by_alpha(call, operation, "alpha", alpha);
  const Batch all(operation, batch,
                  {{"A", a, Use::read,
                    [=](const char* name, void* pointer) {
                      return triangle_of(name, static_cast<T*>(pointer), uplo, shape.order, lda);
                    }},
                   {"B", b, Use::update, [=](const char* name, void* pointer) {
                      return matrix_of(name, static_cast<T*>(pointer), m, n, ldb);
                    }}});
  operation.computes([=](const Views& views) {
    const T value = by_alpha.in(views);
    for (std::int64_t i = 0; i < batch; ++i) {
      const Matrix<T> left(all.region(i, 0)), to(all.region(i, 1));
      shape.run(views, Blas<T>::trsm, value, left, to);
    }
  });
  call.finish(operation);
}

// ---- factorisations ----

template <typename T>
BatchOf batch_of_matrices(const char* name, const void* pointers, Use use, std::int64_t rows,
                          std::int64_t columns, std::int64_t leading) {
  return {name, pointers, use, [=](const char* one, void* pointer) {
            return matrix_of(one, static_cast<T*>(pointer), rows, columns, leading);
          }};
}

inline void require_batch(std::int64_t n, std::int64_t lda, std::int64_t batch) {
  require_size("n", n);
  require_size("batchSize", batch);
  require_leading("lda", lda, n);
}

template <typename T>
void getrf_batched(BlasCall& call, std::int64_t n, T* const* a, std::int64_t lda, int* pivots,
                   int* info, std::int64_t batch) {
  require_batch(n, lda, batch);
  if (n == 0 || batch == 0) return;
  Operation operation(call);
  const bool has_pivots = pivots != nullptr;
  const std::size_t rows =
      operation.write(read_if(has_pivots, array("PivotArray", pivots, sizeof(int), n * batch)));
  const std::size_t infos = operation.write(array("infoArray", info, sizeof(int), batch));
  const Batch all(operation, batch, {batch_of_matrices<T>("A", a, Use::update, n, n, lda)});
  operation.computes([=](const Views& views) {
    for (std::int64_t i = 0; i < batch; ++i) {
      const Matrix<T> matrix(all.region(i, 0));
      int* const own = has_pivots ? views.data<int>(rows) + i * n : nullptr;
      views.data<int>(infos)[i] = factor_lu(n, matrix.in(views), matrix.leading(views), own);
    }
  });
  call.finish(operation);
}

template <typename T>
void getrs_batched(BlasCall& call, cublasOperation_t trans, std::int64_t n, std::int64_t nrhs,
                   const T* const* a, std::int64_t lda, const int* pivots, T* const* b,
                   std::int64_t ldb, int* info, std::int64_t batch) {
  const CBLAS_TRANSPOSE transposed = operation_of("trans", trans);
  require_batch(n, lda, batch);
  require_size("nrhs", nrhs);
  require_leading("ldb", ldb, n);
  require(info != nullptr, "info is a null pointer");
  *info = 0;  // in host memory
  if (n == 0 || nrhs == 0 || batch == 0) return;
  Operation operation(call);
  const bool has_pivots = pivots != nullptr;
  Region indices = read_if(has_pivots, array("devIpiv", pivots, sizeof(int), n * batch));
  indices.addresses = true;
  const std::size_t rows = operation.read(std::move(indices));
  const Batch all(operation, batch,
                  {batch_of_matrices<T>("Aarray", a, Use::read, n, n, lda),
                   batch_of_matrices<T>("Barray", b, Use::update, n, nrhs, ldb)});
  operation.computes([=](const Views& views) {
    for (std::int64_t i = 0; i < batch; ++i) {
      const Matrix<T> matrix(all.region(i, 0)), to(all.region(i, 1));
      const int* const own = has_pivots ? views.data<int>(rows) + i * n : nullptr;
      solve_lu(transposed, n, nrhs, matrix.in(views), matrix.leading(views), own, to.in(views),
               to.leading(views));
    }
  });
  call.finish(operation);
}

template <typename T>
void getri_batched(BlasCall& call, std::int64_t n, const T* const* a, std::int64_t lda,
                   const int* pivots, T* const* c, std::int64_t ldc, int* info,
                   std::int64_t batch) {
  require_batch(n, lda, batch);
  require_leading("ldc", ldc, n);
  if (n == 0 || batch == 0) return;
  Operation operation(call);
  const bool has_pivots = pivots != nullptr;
  Region indices = read_if(has_pivots, array("PivotArray", pivots, sizeof(int), n * batch));
  indices.addresses = true;
  const std::size_t rows = operation.read(std::move(indices));
  const std::size_t infos = operation.write(array("infoArray", info, sizeof(int), batch));
  const Batch all(operation, batch,
                  {batch_of_matrices<T>("A", a, Use::read, n, n, lda),
                   batch_of_matrices<T>("C", c, Use::write, n, n, ldc)});
  operation.computes([=](const Views& views) {
    for (std::int64_t i = 0; i < batch; ++i) {
      const Matrix<T> matrix(all.region(i, 0)), to(all.region(i, 1));
      const int* const own = has_pivots ? views.data<int>(rows) + i * n : nullptr;
      views.data<int>(infos)[i] = invert_lu(n, matrix.in(views), matrix.leading(views), own,
                                            to.in(views), to.leading(views));
    }
  });
  call.finish(operation);
}

template <typename T>
void matinv_batched(BlasCall& call, std::int64_t n, const T* const* a, std::int64_t lda,
                    T* const* inverse, std::int64_t lda_inv, int* info, std::int64_t batch) {
  constexpr std::int64_t kOrderMax = 32;
  require_batch(n, lda, batch);
  require_leading("lda_inv", lda_inv, n);
  require(n <= kOrderMax, "n is {}, more than {}", n, kOrderMax);
  if (n == 0 || batch == 0) return;
  Operation operation(call);
  const std::size_t infos = operation.write(array("info", info, sizeof(int), batch));
  const Batch all(operation, batch,
                  {batch_of_matrices<T>("A", a, Use::read, n, n, lda),
                   batch_of_matrices<T>("Ainv", inverse, Use::write, n, n, lda_inv)});
  operation.computes([=](const Views& views) {
    for (std::int64_t i = 0; i < batch; ++i) {
      const Matrix<T> matrix(all.region(i, 0)), to(all.region(i, 1));
      std::vector<T> factors;
      for (std::int64_t j = 0; j < n; ++j) {
        const T* const column = matrix.in(views) + j * matrix.leading(views);
        factors.insert(factors.end(), column, column + n);
      }
      std::vector<int> pivots(static_cast<std::size_t>(n));
      const int failed = factor_lu(n, factors.data(), n, pivots.data());
      views.data<int>(infos)[i] = failed != 0 ? failed
                                              : invert_lu(n, factors.data(), n, pivots.data(),
                                                          to.in(views), to.leading(views));
    }
  });
  call.finish(operation);
}

template <typename T>
void geqrf_batched(BlasCall& call, std::int64_t m, std::int64_t n, T* const* a, std::int64_t lda,
                   T* const* tau, int* info, std::int64_t batch) {
  require_size("m", m);
  require_size("n", n);
  require_size("batchSize", batch);
  require_leading("lda", lda, m);
  require(info != nullptr, "info is a null pointer");
  *info = 0;  // in host memory
  const std::int64_t reflectors = std::min(m, n);
  if (reflectors == 0 || batch == 0) return;
  Operation operation(call);
  const Batch all(operation, batch,
                  {batch_of_matrices<T>("Aarray", a, Use::update, m, n, lda),
                   {"TauArray", tau, Use::write, [=](const char* name, void* pointer) {
                      return array(name, pointer, sizeof(T), reflectors);
                    }}});
  operation.computes([=](const Views& views) {
    for (std::int64_t i = 0; i < batch; ++i) {
      const Matrix<T> matrix(all.region(i, 0));
      factor_qr(m, n, matrix.in(views), matrix.leading(views), views.data<T>(all.region(i, 1)));
    }
  });
  call.finish(operation);
}

// C := the least squares solution of A * X = C, for matrices with at least as many rows as columns.
template <typename T>
void gels_batched(BlasCall& call, cublasOperation_t trans, std::int64_t m, std::int64_t n,
                  std::int64_t nrhs, T* const* a, std::int64_t lda, T* const* c, std::int64_t ldc,
                  int* info, int* each_info, std::int64_t batch) {
  require_size("m", m);
  require_size("n", n);
  require_size("nrhs", nrhs);
  require_size("batchSize", batch);
  require_leading("lda", lda, m);
  require_leading("ldc", ldc, m);
  require(info != nullptr, "info is a null pointer");
  if (trans != CUBLAS_OP_N || m < n) {
    throw Rejected{CUBLAS_STATUS_NOT_SUPPORTED, "only systems A * X = C that are overdetermined"};
  }
  *info = 0;  // in host memory
  if (n == 0 || nrhs == 0 || batch == 0) return;
  Operation operation(call);
  const std::size_t infos = operation.write(
      read_if(each_info != nullptr, array("devInfoArray", each_info, sizeof(int), batch)));
  const Batch all(operation, batch,
                  {batch_of_matrices<T>("Aarray", a, Use::update, m, n, lda),
                   batch_of_matrices<T>("Carray", c, Use::update, m, nrhs, ldc)});
  operation.computes([=](const Views& views) {
    std::vector<T> tau(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < batch; ++i) {
      const Matrix<T> matrix(all.region(i, 0)), to(all.region(i, 1));
      factor_qr(m, n, matrix.in(views), matrix.leading(views), tau.data());
      const int failed = solve_qr(m, n, nrhs, matrix.in(views), matrix.leading(views), tau.data(),
                                  to.in(views), to.leading(views));
      if (each_info != nullptr) views.data<int>(infos)[i] = failed;
    }
  });
  call.finish(operation);
}

}  // namespace warpcheck::libraries::cublas
