// Functions that receive the types of their elements as arguments.
#include "cases.hpp"

namespace {

constexpr int m = 4, n = 8, k = 4, kCount = 2;

template <class T>
constexpr cudaDataType kType = CUDA_R_32F;
template <>
constexpr cudaDataType kType<double> = CUDA_R_64F;
template <>
constexpr cudaDataType kType<cuComplex> = CUDA_C_32F;
template <>
constexpr cudaDataType kType<cuDoubleComplex> = CUDA_C_64F;
template <>
constexpr cudaDataType kType<__half> = CUDA_R_16F;
template <>
constexpr cudaDataType kType<__nv_bfloat16> = CUDA_R_16BF;
template <>
constexpr cudaDataType kType<std::int8_t> = CUDA_R_8I;
template <>
constexpr cudaDataType kType<std::int32_t> = CUDA_R_32I;

// Selects the overloads with cublasComputeType_t; others take the compute type as cudaDataType.
using GemmEx = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                              const void*, const void*, cudaDataType, int, const void*,
                              cudaDataType, int, const void*, void*, cudaDataType, int,
                              cublasComputeType_t, cublasGemmAlgo_t);
using GemmBatchedEx = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                     int, const void*, const void* const*, cudaDataType, int,
                                     const void* const*, cudaDataType, int, const void*,
                                     void* const*, cudaDataType, int, int, cublasComputeType_t,
                                     cublasGemmAlgo_t);
using GemmStridedBatchedEx = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t,
                                            int, int, int, const void*, const void*, cudaDataType,
                                            int, long long, const void*, cudaDataType, int,
                                            long long, const void*, void*, cudaDataType, int,
                                            long long, int, cublasComputeType_t, cublasGemmAlgo_t);
#define WITH_NAMESAKE(name, Type) \
  both_forms(TEXT(name), TEXT(name##_64), static_cast<Type*>(name), name##_64)

// Leading dimensions are multiples of four, as products of integers require.
template <class In, class Out, class S>
void try_gemm(cublasComputeType_t compute, double roundoff) {
  constexpr int kLda = 8, kLdb = 4, kLdc = 4;
  const S one = from<S>(Number(1)), zero = from<S>(Number(0));
  const Dense a = drawn<In>(m, k), b = drawn<In>(k, n * kCount);
  const OnDevice<In> on_a(a, full(kLda)), on_b(b, full(kLdb));
  const OnDevice<Out> c(Dense(m, n), full(kLdc), true),
      strided_c(Dense(m, 2 * n), full(kLdc), true), batched_c(Dense(m, 2 * n), full(kLdc), true);
  run(WITH_NAMESAKE(cublasGemmEx, GemmEx), handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one,
      on_a.device, kType<In>, kLda, on_b.device, kType<In>, kLdb, &zero, c.device, kType<Out>, kLdc,
      compute, CUBLAS_GEMM_DEFAULT);
  expect_matrix(c, a * slice_of(b, n, 0), roundoff);
  run(WITH_NAMESAKE(cublasGemmStridedBatchedEx, GemmStridedBatchedEx), handle, CUBLAS_OP_N,
      CUBLAS_OP_N, m, n, k, &one, on_a.device, kType<In>, kLda, 0, on_b.device, kType<In>, kLdb,
      kLdb * n, &zero, strided_c.device, kType<Out>, kLdc, kLdc * n, kCount, compute,
      CUBLAS_GEMM_DEFAULT);
  expect_matrix(strided_c, a * b, roundoff);
  const Pointers<void> as({on_a.device, on_a.device}), bs({on_b.device, on_b.device + kLdb * n}),
      cs({batched_c.device, batched_c.device + kLdc * n});
  run(WITH_NAMESAKE(cublasGemmBatchedEx, GemmBatchedEx), handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k,
      &one, as.device, kType<In>, kLda, bs.device, kType<In>, kLdb, &zero, cs.device, kType<Out>,
      kLdc, kCount, compute, CUBLAS_GEMM_DEFAULT);
  expect_matrix(batched_c, a * b, roundoff);
}

// S: type of the scalars; the types of the elements are arguments.
template <class In, class Out, class S, class F>
void try_named_gemm(const F& gemm) {
  const S alpha = from<S>(scalar<S>()), beta = from<S>(Number(-0.5));
  const Dense a = drawn<In>(k, m), b = drawn<In>(k, n), c = drawn<Out>(m, n);
  const OnDevice<In> on_a(a, full(k + 4)), on_b(b, full(k));
  const OnDevice<Out> on_c(c, full(m));
  run(gemm, handle, CUBLAS_OP_C, CUBLAS_OP_N, m, n, k, &alpha, on_a.device, kType<In>, k + 4,
      on_b.device, kType<In>, k, &beta, on_c.device, kType<Out>, m);
  expect_matrix(on_c, Bounded(scalar<S>()) * (adjoint(a) * b) + Bounded(-0.5) * c,
                4 * kRoundoff<S>);
}
template <class S, class F>
void try_named_update(const F& update, bool is_hermitian) {
  const S alpha = from<S>(scalar<S>()), beta = from<S>(Number(-0.5));
  for (const auto uplo : kTriangles) {
    const Dense a = drawn<cuComplex>(n, k), c = drawn<cuComplex>(n, n);
    const OnDevice<cuComplex> on_a(a, full(n)), on_c(c, triangle(uplo, n + 1));
    run(update, handle, uplo, CUBLAS_OP_N, n, k, &alpha, on_a.device, CUDA_C_32F, n, &beta,
        on_c.device, CUDA_C_32F, n + 1);
    const Dense before = is_hermitian ? hermitian(uplo, c) : c;
    expect_matrix(on_c,
                  Bounded(scalar<S>()) * (a * (is_hermitian ? adjoint(a) : transposed(a))) +
                      Bounded(-0.5) * before,
                  4 * kRoundoff<float>);
  }
}

// T: type of the elements; S: type of the scalars and of the sums.
template <class T, class S>
void try_vectors() {
  const cudaDataType type = kType<T>, computes = kType<S>;
  const double roundoff = kRoundoff<S>;
  const Dense x = drawn<T>(n), y = drawn<T>(n);
  const OnDevice<T> on_x(x, spaced(n, 2)), on_y(y, spaced(n, -1));
  const Number alpha = scalar<S>();
  const S by = from<S>(alpha);
  T result{};
  run(BOTH(cublasDotEx), handle, n, on_x.device, type, 2, on_y.device, type, -1, &result, type,
      computes);
  expect_value(result, (transposed(x) * y)(0), roundoff);
  run(BOTH(cublasDotcEx), handle, n, on_x.device, type, 2, on_y.device, type, -1, &result, type,
      computes);
  expect_value(result, (adjoint(x) * y)(0), roundoff);
  run(BOTH(cublasAxpyEx), handle, n, &by, computes, on_x.device, type, 2, on_y.device, type, -1,
      computes);
  expect_matrix(on_y, Bounded(alpha) * x + y, roundoff);
  run(BOTH(cublasScalEx), handle, n, &by, computes, on_x.device, type, 2, computes);
  expect_matrix(on_x, Bounded(alpha) * x, roundoff);
}

template <class T>
void try_values() {
  const cudaDataType type = kType<T>, real = kType<Real<T>>;
  // Sums of half precision numbers are computed in single precision.
  const cudaDataType computes = sizeof(T) == 2 ? CUDA_R_32F : real;
  const double roundoff = sizeof(T) == 2 ? kRoundoff<float> : kRoundoff<T>;
  const Dense x = drawn<T>(n), y = drawn<T>(n);
  const OnDevice<T> on_x(x, spaced(n, 2)), on_y(y, spaced(n, 1));
  Bounded squares, sum;
  std::int64_t largest = 0, smallest = 0;
  const auto size_of = [&](std::int64_t i) {
    const Number value = x(static_cast<int>(i)).value;
    return std::abs(value.real()) + std::abs(value.imag());
  };
  for (int i = 0; i < n; ++i) {
    squares = squares + real_part(x(i) * conj(x(i)));
    sum = sum + Bounded(size_of(i));
    if (size_of(i) > size_of(largest)) largest = i;
    if (size_of(i) < size_of(smallest)) smallest = i;
  }
  Real<T> result{};
  run(BOTH(cublasNrm2Ex), handle, n, on_x.device, type, 2, &result, real, computes);
  expect_value(result, square_root(squares), roundoff);
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    run(BOTH(cublasAsumEx), handle, n, on_x.device, type, 2, &result, real, computes);
    expect_value(result, sum, roundoff);
  }
  const auto index_by = [&](const auto& function) {
    int index = -1;
    std::int64_t wide = -1;
    if (is_wide) {
      note_call(function.wide_name, function.wide(handle, n, on_x.device, type, 2, &wide));
    } else {
      note_call(function.narrow_name, function.narrow(handle, n, on_x.device, type, 2, &index));
    }
    return is_wide ? wide : index;
  };
  expect_value(index_by(BOTH(cublasIamaxEx)), Number(static_cast<double>(largest + 1)), 0);
  expect_value(index_by(BOTH(cublasIaminEx)), Number(static_cast<double>(smallest + 1)), 0);
  run(BOTH(cublasSwapEx), handle, n, on_x.device, type, 2, on_y.device, type, 1);
  expect_matrix(on_x, y);
  run(BOTH(cublasCopyEx), handle, n, on_x.device, type, 2, on_y.device, type, 1);
  expect_matrix(on_y, y);
}

template <class T, class S>
void try_rotations() {
  const cudaDataType type = kType<T>, computes = kType<S>;
  const Dense x = drawn<T>(n), y = drawn<T>(n);
  const OnDevice<T> on_x(x, spaced(n, 2)), on_y(y, spaced(n, 1));
  const T c = from<T>(Number(0.5)), s = from<T>(Number(0.25));
  run(BOTH(cublasRotEx), handle, n, on_x.device, type, 2, on_y.device, type, 1, &c, &s, type,
      computes);
  const Dense first = Bounded(0.5) * x + Bounded(0.25) * y,
              second = Bounded(0.5) * y + Bounded(-0.25) * x;
  expect_matrix(on_x, first, kRoundoff<S>);
  expect_matrix(on_y, second, kRoundoff<S>);
}

// Tests only calls with the same type everywhere, because nothing else is documented for these
// functions.
template <class T>
void try_made_rotations() {
  const cudaDataType type = kType<T>;
  const Dense x = drawn<T>(n), y = drawn<T>(n);
  const OnDevice<T> on_x(x, spaced(n, 2)), on_y(y, spaced(n, 1));
  T a = 3, b = 4, c = 0, s = 0;
  run(ONLY(cublasRotgEx), handle, &a, &b, type, &c, &s, type, type);
  expect_value(a, {5, 5, 10});
  expect_value(c, {0.6, 1, 10});
  expect_value(s, {0.8, 1, 10});
  T d1 = 2, d2 = 3, x1 = 4, parameters[5] = {};
  const T y1 = 1;
  run(ONLY(cublasRotmgEx), handle, &d1, type, &d2, type, &x1, type, &y1, type, parameters, type,
      type);
  expect_value(x1, {4.375, 5, 10});
  run(BOTH(cublasRotmEx), handle, n, on_x.device, type, 2, on_y.device, type, 1, parameters, type,
      type);
  expect_matrix(on_x, x + Bounded(number(parameters[3])) * y);
  expect_matrix(on_y, Bounded(number(parameters[2])) * x + y);
}

}  // namespace

void try_typed() {
  constexpr double kSingle = kRoundoff<float>, kDouble = kRoundoff<double>;
  try_gemm<float, float, float>(CUBLAS_COMPUTE_32F, kSingle);
  try_gemm<float, float, float>(CUBLAS_COMPUTE_32F_FAST_TF32, 0x1p-11);
  try_gemm<double, double, double>(CUBLAS_COMPUTE_64F, kDouble);
  try_gemm<cuComplex, cuComplex, cuComplex>(CUBLAS_COMPUTE_32F, kSingle);
  try_gemm<cuDoubleComplex, cuDoubleComplex, cuDoubleComplex>(CUBLAS_COMPUTE_64F, kDouble);
  try_gemm<__half, float, float>(CUBLAS_COMPUTE_32F, kSingle);
  try_gemm<__half, __half, float>(CUBLAS_COMPUTE_32F, kSingle);
  try_gemm<__half, __half, __half>(CUBLAS_COMPUTE_16F, kRoundoff<__half>);
  try_gemm<__nv_bfloat16, __nv_bfloat16, float>(CUBLAS_COMPUTE_32F, kSingle);
  try_gemm<__nv_bfloat16, float, float>(CUBLAS_COMPUTE_32F, kSingle);
  try_gemm<std::int8_t, std::int32_t, std::int32_t>(CUBLAS_COMPUTE_32I, 0);
  try_gemm<std::int8_t, float, float>(CUBLAS_COMPUTE_32F, kSingle);
  try_named_gemm<__half, float, float>(BOTH(cublasSgemmEx));
  try_named_gemm<__half, __half, float>(BOTH(cublasSgemmEx));
  try_named_gemm<float, float, float>(BOTH(cublasSgemmEx));
  try_named_gemm<cuComplex, cuComplex, cuComplex>(BOTH(cublasCgemmEx));
  try_named_gemm<cuComplex, cuComplex, cuComplex>(BOTH(cublasCgemm3mEx));
  try_named_update<cuComplex>(BOTH(cublasCsyrkEx), false);
  try_named_update<cuComplex>(BOTH(cublasCsyrk3mEx), false);
  try_named_update<float>(BOTH(cublasCherkEx), true);
  try_named_update<float>(BOTH(cublasCherk3mEx), true);
  try_vectors<float, float>();
  try_vectors<double, double>();
  try_vectors<cuComplex, cuComplex>();
  try_vectors<cuDoubleComplex, cuDoubleComplex>();
  try_vectors<__half, float>();
  try_vectors<__nv_bfloat16, float>();
  try_values<float>();
  try_values<double>();
  try_values<cuComplex>();
  try_values<cuDoubleComplex>();
  try_values<__half>();
  try_rotations<float, float>();
  try_rotations<double, double>();
  try_rotations<__half, float>();
  try_made_rotations<float>();
  try_made_rotations<double>();
}
