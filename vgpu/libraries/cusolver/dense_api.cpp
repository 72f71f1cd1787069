// cusolverDn: factorisations, solutions, eigenvalues and singular values of dense matrices.  The
// handling of arguments and the BLAS routines are shared with vgpu/libraries/cublas.
#include <cusolverDn.h>

#include "vgpu/libraries/cublas/level3.hpp"
#include "vgpu/libraries/cusolver/decompositions.hpp"
#include "vgpu/libraries/handles.hpp"

// The state behind a handle.
struct cusolverDnContext {
  cudaStream_t stream = nullptr;
};

namespace warpcheck::libraries::cublas {
namespace {

cusolverStatus_t status_of(cublasStatus_t status) {
  switch (static_cast<int>(status)) {
    case CUBLAS_STATUS_SUCCESS: return CUSOLVER_STATUS_SUCCESS;
    case CUBLAS_STATUS_NOT_INITIALIZED: return CUSOLVER_STATUS_NOT_INITIALIZED;
    case CUBLAS_STATUS_ALLOC_FAILED: return CUSOLVER_STATUS_ALLOC_FAILED;
    case CUBLAS_STATUS_INVALID_VALUE: return CUSOLVER_STATUS_INVALID_VALUE;
    case CUBLAS_STATUS_NOT_SUPPORTED: return CUSOLVER_STATUS_NOT_SUPPORTED;
    default: return CUSOLVER_STATUS_EXECUTION_FAILED;
  }
}
const char* name_of_solver(cusolverStatus_t status) {
  switch (static_cast<int>(status)) {
    case CUSOLVER_STATUS_NOT_INITIALIZED: return "CUSOLVER_STATUS_NOT_INITIALIZED";
    case CUSOLVER_STATUS_INVALID_VALUE: return "CUSOLVER_STATUS_INVALID_VALUE";
    default: return "CUSOLVER_STATUS_NOT_SUPPORTED";
  }
}

template <typename Body>
cusolverStatus_t answer_solver(const Call& made, cusolverDnHandle_t handle, Body&& body) {
  try {
    const cusolverDnContext* const context = handles<cusolverDnContext>().find(handle);
    if (context == nullptr) {
      throw Rejected{CUBLAS_STATUS_NOT_INITIALIZED,
                     "the handle is none that cusolverDnCreate() gave, or has been destroyed"};
    }
    BlasCall call{made};
    call.stream = context->stream;
    body(call);
    return CUSOLVER_STATUS_SUCCESS;
  } catch (const Rejected& why) {
    report_failure(made, {}, name_of_solver(status_of(why.status)), why.why);
    return status_of(why.status);
  } catch (const Refused& why) {
    refuse(made.function, why.why);
    return CUSOLVER_STATUS_NOT_SUPPORTED;
  } catch (cublasStatus_t status) {  // it has already been reported
    return status_of(status);
  }
}

// Every function requests the same number of workspace elements, and leaves their values undefined.
constexpr int kWorkElements = 64;
void give_size(int* to) {
  require(to != nullptr, "the place of the size is a null pointer");
  *to = kWorkElements;
}
template <typename T>
void use_workspace(Operation& operation, T* workspace, int count = kWorkElements) {
  require(count >= kWorkElements, "the workspace has {} elements, less than {}", count,
          kWorkElements);
  Region region = array("Workspace", workspace, sizeof(T), kWorkElements);
  region.leaves_undefined = true;
  operation.write(std::move(region));
}
std::size_t info_of(Operation& operation, int* info) {
  return operation.write(array("devInfo", info, sizeof(int), 1));
}

// ---- linear systems ----

template <typename T>
void potrf(BlasCall& call, cublasFillMode_t uplo, std::int64_t n, T* a, std::int64_t lda,
           T* workspace, int count, int* info) {
  const bool is_lower = part_of(uplo) == CblasLower;
  require_size("n", n);
  require_leading("lda", lda, n);
  if (n == 0) return;
  Operation operation(call);
  const Matrix<T> matrix(operation.update(triangle_of("A", a, uplo, n, lda)));
  use_workspace(operation, workspace, count);
  const std::size_t infos = info_of(operation, info);
  operation.computes([=](const Views& views) {
    *views.data<int>(infos) = factor_cholesky(is_lower, n, matrix.in(views), matrix.leading(views));
  });
  call.finish(operation);
}

template <typename T>
void potrs(BlasCall& call, cublasFillMode_t uplo, std::int64_t n, std::int64_t nrhs, const T* a,
           std::int64_t lda, T* b, std::int64_t ldb, int* info) {
  const CBLAS_UPLO part = part_of(uplo);
  require_size("n", n);
  require_size("nrhs", nrhs);
  require_leading("lda", lda, n);
  require_leading("ldb", ldb, n);
  if (n == 0 || nrhs == 0) return;
  Operation operation(call);
  const Matrix<T> left(operation.read(triangle_of("A", a, uplo, n, lda)));
  const Matrix<T> to(operation.update(matrix_of("B", b, n, nrhs, ldb)));
  const std::size_t infos = info_of(operation, info);
  operation.computes([=](const Views& views) {
    T one{};
    assign(one, decltype(value_of(one))(1));
    const bool is_lower = part == CblasLower;
    for (const auto turned :
         {is_lower ? CblasNoTrans : CblasConjTrans, is_lower ? CblasConjTrans : CblasNoTrans}) {
      Blas<T>::trsm(CblasColMajor, CblasLeft, part, turned, CblasNonUnit, static_cast<int>(n),
                    static_cast<int>(nrhs), by(one), left.in(views), left.leading(views),
                    to.in(views), to.leading(views));
    }
    *views.data<int>(infos) = 0;
  });
  call.finish(operation);
}

template <typename T>
void getrf(BlasCall& call, std::int64_t m, std::int64_t n, T* a, std::int64_t lda, T* workspace,
           int* pivots, int* info) {
  require_size("m", m);
  require_size("n", n);
  require_leading("lda", lda, m);
  if (m == 0 || n == 0) return;
  Operation operation(call);
  const Matrix<T> matrix(operation.update(matrix_of("A", a, m, n, lda)));
  use_workspace(operation, workspace);
  const std::size_t rows = operation.write(
      read_if(pivots != nullptr, array("devIpiv", pivots, sizeof(int), std::min(m, n))));
  const std::size_t infos = info_of(operation, info);
  operation.computes([=](const Views& views) {
    *views.data<int>(infos) = factor_lu_of(m, n, matrix.in(views), matrix.leading(views),
                                           pivots == nullptr ? nullptr : views.data<int>(rows));
  });
  call.finish(operation);
}

template <typename T>
void getrs(BlasCall& call, cublasOperation_t trans, std::int64_t n, std::int64_t nrhs, const T* a,
           std::int64_t lda, const int* pivots, T* b, std::int64_t ldb, int* info) {
  const CBLAS_TRANSPOSE turned = operation_of("trans", trans);
  require_size("n", n);
  require_size("nrhs", nrhs);
  require_leading("lda", lda, n);
  require_leading("ldb", ldb, n);
  if (n == 0 || nrhs == 0) return;
  Operation operation(call);
  const Matrix<T> left(operation.read(matrix_of("A", a, n, n, lda)));
  Region indices = read_if(pivots != nullptr, array("devIpiv", pivots, sizeof(int), n));
  indices.addresses = true;
  const std::size_t rows = operation.read(std::move(indices));
  const Matrix<T> to(operation.update(matrix_of("B", b, n, nrhs, ldb)));
  const std::size_t infos = info_of(operation, info);
  operation.computes([=](const Views& views) {
    solve_lu(turned, n, nrhs, left.in(views), left.leading(views),
             pivots == nullptr ? nullptr : views.data<int>(rows), to.in(views), to.leading(views));
    *views.data<int>(infos) = 0;
  });
  call.finish(operation);
}

// ---- orthogonal factors ----

template <typename T>
void geqrf(BlasCall& call, std::int64_t m, std::int64_t n, T* a, std::int64_t lda, T* tau,
           T* workspace, int count, int* info) {
  require_size("m", m);
  require_size("n", n);
  require_leading("lda", lda, m);
  if (m == 0 || n == 0) return;
  Operation operation(call);
  const Matrix<T> matrix(operation.update(matrix_of("A", a, m, n, lda)));
  const std::size_t factors = operation.write(array("TAU", tau, sizeof(T), std::min(m, n)));
  use_workspace(operation, workspace, count);
  const std::size_t infos = info_of(operation, info);
  operation.computes([=](const Views& views) {
    factor_qr(m, n, matrix.in(views), matrix.leading(views), views.data<T>(factors));
    *views.data<int>(infos) = 0;
  });
  call.finish(operation);
}

template <typename T>
void ormqr(BlasCall& call, cublasSideMode_t side, cublasOperation_t trans, std::int64_t m,
           std::int64_t n, std::int64_t k, const T* a, std::int64_t lda, const T* tau, T* c,
           std::int64_t ldc, T* workspace, int count, int* info) {
  const bool is_left = side_of(side) == CblasLeft;
  const bool is_turned = operation_of("trans", trans) != CblasNoTrans;
  const std::int64_t order = is_left ? m : n;
  require_size("m", m);
  require_size("n", n);
  require(k >= 0 && k <= order, "k is {}, not between 0 and {}", k, order);
  require_leading("lda", lda, order);
  require_leading("ldc", ldc, m);
  if (m == 0 || n == 0 || k == 0) return;
  Operation operation(call);
  const Matrix<T> reflectors(operation.read(matrix_of("A", a, order, k, lda)));
  const std::size_t factors = operation.read(array("tau", tau, sizeof(T), k));
  const Matrix<T> to(operation.update(matrix_of("C", c, m, n, ldc)));
  use_workspace(operation, workspace, count);
  const std::size_t infos = info_of(operation, info);
  operation.computes([=](const Views& views) {
    apply_reflectors(is_left, is_turned, m, n, k, reflectors.in(views), reflectors.leading(views),
                     views.data<T>(factors), to.in(views), to.leading(views));
    *views.data<int>(infos) = 0;
  });
  call.finish(operation);
}

template <typename T>
void orgqr(BlasCall& call, std::int64_t m, std::int64_t n, std::int64_t k, T* a, std::int64_t lda,
           const T* tau, T* workspace, int count, int* info) {
  require(m >= n && n >= k && k >= 0, "m is {}, n {} and k {}", m, n, k);
  require_leading("lda", lda, m);
  if (n == 0) return;
  Operation operation(call);
  const Matrix<T> matrix(operation.update(matrix_of("A", a, m, n, lda)));
  const std::size_t factors = operation.read(array("tau", tau, sizeof(T), k));
  use_workspace(operation, workspace, count);
  const std::size_t infos = info_of(operation, info);
  operation.computes([=](const Views& views) {
    std::vector<T> q(static_cast<std::size_t>(m * n));
    for (std::int64_t j = 0; j < n; ++j) {
      assign(q[static_cast<std::size_t>(j + j * m)], decltype(value_of(T{}))(1));
    }
    apply_reflectors(true, false, m, n, k, matrix.in(views), matrix.leading(views),
                     views.data<T>(factors), q.data(), m);
    for (std::int64_t j = 0; j < n; ++j) {
      std::copy_n(q.data() + j * m, m, matrix.in(views) + j * matrix.leading(views));
    }
    *views.data<int>(infos) = 0;
  });
  call.finish(operation);
}

// ---- eigenvalues and singular values ----

template <typename T>
Number number_of(const T& value) {
  const auto number = value_of(value);
  return {static_cast<double>(std::real(number)), static_cast<double>(std::imag(number))};
}
template <typename T>
void put(T& to, Number value) {
  if constexpr (kIsComplex<T>) {
    to = {static_cast<Real<T>>(value.real()), static_cast<Real<T>>(value.imag())};
  } else {
    to = static_cast<T>(value.real());
  }
}

template <typename T>
void syevd(BlasCall& call, cusolverEigMode_t mode, cublasFillMode_t uplo, std::int64_t n, T* a,
           std::int64_t lda, Real<T>* values, T* workspace, int count, int* info) {
  const bool is_lower = part_of(uplo) == CblasLower;
  const bool has_vectors = mode == CUSOLVER_EIG_MODE_VECTOR;
  require_size("n", n);
  require_leading("lda", lda, n);
  if (n == 0) return;
  Operation operation(call);
  const Matrix<T> from(operation.read(triangle_of("A", a, uplo, n, lda)));
  Region all = matrix_of("A", a, n, n, lda);
  all.leaves_undefined = !has_vectors;
  const Matrix<T> vectors(operation.write(std::move(all)));
  const std::size_t ws = operation.write(array("W", values, sizeof(Real<T>), n));
  use_workspace(operation, workspace, count);
  const std::size_t infos = info_of(operation, info);
  operation.computes([=](const Views& views) {
    std::vector<Number> matrix(static_cast<std::size_t>(n * n));
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = is_lower ? j : 0; i < (is_lower ? n : j + 1); ++i) {
        const Number value = number_of(from.in(views)[i + j * from.leading(views)]);
        matrix[static_cast<std::size_t>(i + j * n)] = i == j ? value.real() : value;
        if (i != j) matrix[static_cast<std::size_t>(j + i * n)] = std::conj(value);
      }
    }
    const std::vector<double> found = eigenvalues(n, matrix);
    for (std::int64_t j = 0; j < n; ++j) {
      views.data<Real<T>>(ws)[j] = static_cast<Real<T>>(found[static_cast<std::size_t>(j)]);
      for (std::int64_t i = 0; has_vectors && i < n; ++i) {
        put(vectors.in(views)[i + j * vectors.leading(views)],
            matrix[static_cast<std::size_t>(i + j * n)]);
      }
    }
    *views.data<int>(infos) = 0;
  });
  call.finish(operation);
}

// The number of columns of U, or rows of V', that a job computes.
std::int64_t count_of(const char* name, signed char job, std::int64_t all, std::int64_t some) {
  switch (job) {
    case 'A': return all;
    case 'S': return some;
    case 'N': return 0;
    case 'O': throw Refused{fmt::format("{} 'O'", name)};
    default:
      throw Rejected{CUBLAS_STATUS_INVALID_VALUE,
                     fmt::format("{} is {}, none of A, S, O, N", name, static_cast<int>(job))};
  }
}

template <typename T>
void gesvd(BlasCall& call, signed char jobu, signed char jobvt, std::int64_t m, std::int64_t n,
           T* a, std::int64_t lda, Real<T>* s, T* u, std::int64_t ldu, T* vt, std::int64_t ldvt,
           T* workspace, int count, Real<T>* /*superdiagonal*/, int* info) {
  require_size("n", n);
  require(m >= n, "m is {}, less than n, which is {}", m, n);
  require_leading("lda", lda, m);
  const std::int64_t u_columns = count_of("jobu", jobu, m, n);
  const std::int64_t vt_rows = count_of("jobvt", jobvt, n, n);
  if (u_columns != 0) require_leading("ldu", ldu, m);
  if (vt_rows != 0) require_leading("ldvt", ldvt, n);
  if (n == 0) return;
  Operation operation(call);
  const Matrix<T> from(operation.consume(matrix_of("A", a, m, n, lda)));
  const std::size_t ss = operation.write(array("S", s, sizeof(Real<T>), n));
  const Matrix<T> us(
      operation.write(read_if(u_columns != 0, matrix_of("U", u, m, u_columns, ldu))));
  const Matrix<T> vs(operation.write(read_if(vt_rows != 0, matrix_of("VT", vt, vt_rows, n, ldvt))));
  use_workspace(operation, workspace, count);
  const std::size_t infos = info_of(operation, info);
  operation.computes([=](const Views& views) {
    std::vector<Number> matrix;
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < m; ++i) {
        matrix.push_back(number_of(from.in(views)[i + j * from.leading(views)]));
      }
    }
    const SingularValues found = singular_values(m, n, std::move(matrix));
    for (std::int64_t j = 0; j < n; ++j) {
      views.data<Real<T>>(ss)[j] = static_cast<Real<T>>(found.values[static_cast<std::size_t>(j)]);
      for (std::int64_t i = 0; i < vt_rows; ++i) {
        put(vs.in(views)[i + j * vs.leading(views)],
            std::conj(found.v[static_cast<std::size_t>(j + i * n)]));
      }
    }
    for (std::int64_t j = 0; j < u_columns; ++j) {
      for (std::int64_t i = 0; i < m; ++i) {
        put(us.in(views)[i + j * us.leading(views)], found.u[static_cast<std::size_t>(i + j * m)]);
      }
    }
    *views.data<int>(infos) = 0;
  });
  call.finish(operation);
}

}  // namespace
}  // namespace warpcheck::libraries::cublas

using namespace warpcheck::libraries::cublas;  // NOLINT(google-build-using-namespace)
using Context = cusolverDnContext;

#define HERE() (warpcheck::libraries::Call{__func__, __builtin_return_address(0)})
#define SOLVER(name, ...) cusolverStatus_t cusolverDn##name(cusolverDnHandle_t handle, __VA_ARGS__)
#define ANSWER(...) return answer_solver(HERE(), handle, [&](BlasCall& call) { __VA_ARGS__; })
#define SIZE(place) return answer_solver(HERE(), handle, [&](BlasCall&) { give_size(place); })

extern "C" {

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  if (handle == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  // cusolverDnCreate() on a GPU creates the device's context, so this creates it too.
  warpcheck::libraries::services().memory_at(nullptr);
  *handle = new Context;
  warpcheck::libraries::handles<Context>().add(*handle);
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  return answer_solver(HERE(), handle,
                       [&](BlasCall&) { warpcheck::libraries::handles<Context>().remove(handle); });
}
SOLVER(SetStream, cudaStream_t stream) {
  return answer_solver(HERE(), handle, [&](BlasCall&) { handle->stream = stream; });
}
SOLVER(GetStream, cudaStream_t* stream) {
  return answer_solver(HERE(), handle, [&](BlasCall&) {
    require(stream != nullptr, "the place of the stream is a null pointer");
    *stream = handle->stream;
  });
}
cusolverStatus_t cusolverGetVersion(int* version) {
  if (version == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  *version = CUSOLVER_VERSION;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverGetProperty(libraryPropertyType type, int* value) {
  constexpr int kVersion[] = {CUSOLVER_VER_MAJOR, CUSOLVER_VER_MINOR, CUSOLVER_VER_PATCH};
  if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  *value = kVersion[type];
  return CUSOLVER_STATUS_SUCCESS;
}

// The functions of one element type.  Functions for orthogonal and symmetric matrices have other
// names for complex types.
#define OF_TYPE(p, T, R, orm, org, syev)                                                           \
  SOLVER(p##potrf_bufferSize, cublasFillMode_t, int, T*, int, int* size) { SIZE(size); }           \
  SOLVER(p##potrf, cublasFillMode_t uplo, int n, T* a, int lda, T* work, int count, int* info) {   \
    ANSWER(potrf(call, uplo, n, a, lda, work, count, info));                                       \
  }                                                                                                \
  SOLVER(p##potrs, cublasFillMode_t uplo, int n, int nrhs, const T* a, int lda, T* b, int ldb,     \
         int* info) {                                                                              \
    ANSWER(potrs(call, uplo, n, nrhs, a, lda, b, ldb, info));                                      \
  }                                                                                                \
  SOLVER(p##getrf_bufferSize, int, int, T*, int, int* size) { SIZE(size); }                        \
  SOLVER(p##getrf, int m, int n, T* a, int lda, T* work, int* pivots, int* info) {                 \
    ANSWER(getrf(call, m, n, a, lda, work, pivots, info));                                         \
  }                                                                                                \
  SOLVER(p##getrs, cublasOperation_t trans, int n, int nrhs, const T* a, int lda,                  \
         const int* pivots, T* b, int ldb, int* info) {                                            \
    ANSWER(getrs(call, trans, n, nrhs, a, lda, pivots, b, ldb, info));                             \
  }                                                                                                \
  SOLVER(p##geqrf_bufferSize, int, int, T*, int, int* size) { SIZE(size); }                        \
  SOLVER(p##geqrf, int m, int n, T* a, int lda, T* tau, T* work, int count, int* info) {           \
    ANSWER(geqrf(call, m, n, a, lda, tau, work, count, info));                                     \
  }                                                                                                \
  SOLVER(p##orm##_bufferSize, cublasSideMode_t, cublasOperation_t, int, int, int, const T*, int,   \
         const T*, const T*, int, int* size) {                                                     \
    SIZE(size);                                                                                    \
  }                                                                                                \
  SOLVER(p##orm, cublasSideMode_t side, cublasOperation_t trans, int m, int n, int k, const T* a,  \
         int lda, const T* tau, T* c, int ldc, T* work, int count, int* info) {                    \
    ANSWER(ormqr(call, side, trans, m, n, k, a, lda, tau, c, ldc, work, count, info));             \
  }                                                                                                \
  SOLVER(p##org##_bufferSize, int, int, int, const T*, int, const T*, int* size) { SIZE(size); }   \
  SOLVER(p##org, int m, int n, int k, T* a, int lda, const T* tau, T* work, int count,             \
         int* info) {                                                                              \
    ANSWER(orgqr(call, m, n, k, a, lda, tau, work, count, info));                                  \
  }                                                                                                \
  SOLVER(p##syev##_bufferSize, cusolverEigMode_t, cublasFillMode_t, int, const T*, int, const R*,  \
         int* size) {                                                                              \
    SIZE(size);                                                                                    \
  }                                                                                                \
  SOLVER(p##syev, cusolverEigMode_t mode, cublasFillMode_t uplo, int n, T* a, int lda, R* w,       \
         T* work, int count, int* info) {                                                          \
    ANSWER(syevd(call, mode, uplo, n, a, lda, w, work, count, info));                              \
  }                                                                                                \
  SOLVER(p##gesvd_bufferSize, int, int, int* size) { SIZE(size); }                                 \
  SOLVER(p##gesvd, signed char jobu, signed char jobvt, int m, int n, T* a, int lda, R* s, T* u,   \
         int ldu, T* vt, int ldvt, T* work, int count, R* rwork, int* info) {                      \
    ANSWER(gesvd(call, jobu, jobvt, m, n, a, lda, s, u, ldu, vt, ldvt, work, count, rwork, info)); \
  }
OF_TYPE(S, float, float, ormqr, orgqr, syevd)
OF_TYPE(D, double, double, ormqr, orgqr, syevd)
OF_TYPE(C, cuComplex, float, unmqr, ungqr, heevd)
OF_TYPE(Z, cuDoubleComplex, double, unmqr, ungqr, heevd)

}  // extern "C"
