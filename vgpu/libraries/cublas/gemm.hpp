// C := alpha * op(A) * op(B) + beta * C in all its forms: for one pair or a batch, strided or by
// arrays of pointers, with elements of any type.
#pragma once

#include "vgpu/libraries/cublas/types.hpp"

namespace warpcheck::libraries::cublas {

struct GemmMatrix {
  const void* pointer = nullptr;  // for a batch by pointers: to an array of them, on the device
  cudaDataType type = CUDA_R_32F;
  std::int64_t leading = 0;
  std::int64_t stride = 0;  // elements from one matrix of a batch to the next
  bool on_host = false;     // in host memory, for which the call waits
};

enum class BatchBy : std::uint8_t { one, strides, pointers };

struct Gemm {
  cublasOperation_t transa = CUBLAS_OP_N, transb = CUBLAS_OP_N;
  std::int64_t m = 0, n = 0, k = 0;
  const void *alpha = nullptr, *beta = nullptr;
  cudaDataType scalars = CUDA_R_32F;
  cudaDataType computes = CUDA_R_32F;  // CUDA_R_32I: exactly
  GemmMatrix a{}, b{}, c{};
  std::int64_t batch = 1;
  BatchBy by = BatchBy::one;
};

void enqueue(BlasCall& call, const Gemm& gemm);
// Throws if enqueue() would throw.
void require_valid(const Gemm& gemm);

// Sets the types that follow from a compute type and the element types; throws if the documentation
// of cublasGemmEx has no such row.
void set_types(Gemm& gemm, cublasComputeType_t compute);

template <typename T>
Gemm gemm_of(cublasOperation_t transa, cublasOperation_t transb, std::int64_t m, std::int64_t n,
             std::int64_t k, const T* alpha, const T* beta) {
  Gemm gemm{transa, transb, m, n, k, alpha, beta, kTypeOf<T>};
  // Sums of half precision are computed in single precision.
  gemm.computes = std::is_same_v<T, __half> ? CUDA_R_32F : kTypeOf<T>;
  return gemm;
}

template <typename T>
void gemm(BlasCall& call, cublasOperation_t transa, cublasOperation_t transb, std::int64_t m,
          std::int64_t n, std::int64_t k, const T* alpha, const T* a, std::int64_t lda, const T* b,
          std::int64_t ldb, const T* beta, T* c, std::int64_t ldc) {
  Gemm all = gemm_of(transa, transb, m, n, k, alpha, beta);
  all.a = {a, kTypeOf<T>, lda};
  all.b = {b, kTypeOf<T>, ldb};
  all.c = {c, kTypeOf<T>, ldc};
  enqueue(call, all);
}
// A GPU uses another algorithm for it.
template <typename T>
void gemm3m(BlasCall& call, cublasOperation_t transa, cublasOperation_t transb, std::int64_t m,
            std::int64_t n, std::int64_t k, const T* alpha, const T* a, std::int64_t lda,
            const T* b, std::int64_t ldb, const T* beta, T* c, std::int64_t ldc) {
  gemm(call, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

template <typename T>
void gemm_strided_batched(BlasCall& call, cublasOperation_t transa, cublasOperation_t transb,
                          std::int64_t m, std::int64_t n, std::int64_t k, const T* alpha,
                          const T* a, std::int64_t lda, std::int64_t stride_a, const T* b,
                          std::int64_t ldb, std::int64_t stride_b, const T* beta, T* c,
                          std::int64_t ldc, std::int64_t stride_c, std::int64_t batch) {
  Gemm all = gemm_of(transa, transb, m, n, k, alpha, beta);
  all.a = {a, kTypeOf<T>, lda, stride_a};
  all.b = {b, kTypeOf<T>, ldb, stride_b};
  all.c = {c, kTypeOf<T>, ldc, stride_c};
  all.batch = batch;
  all.by = BatchBy::strides;
  enqueue(call, all);
}

template <typename T>
void gemm_batched(BlasCall& call, cublasOperation_t transa, cublasOperation_t transb,
                  std::int64_t m, std::int64_t n, std::int64_t k, const T* alpha, const T* const* a,
                  std::int64_t lda, const T* const* b, std::int64_t ldb, const T* beta, T* const* c,
                  std::int64_t ldc, std::int64_t batch) {
  Gemm all = gemm_of(transa, transb, m, n, k, alpha, beta);
  all.a = {a, kTypeOf<T>, lda};
  all.b = {b, kTypeOf<T>, ldb};
  all.c = {c, kTypeOf<T>, ldc};
  all.batch = batch;
  all.by = BatchBy::pointers;
  enqueue(call, all);
}

// Enqueues groups of batches.  Each group has its own sizes and scalars, all in host memory.  The
// groups' arrays of pointers are stored one after the other.
//   group(i): the i-th group, without its pointers and its count
template <typename Size, typename Group>
void enqueue_groups(BlasCall& call, Size groups, const Size* counts, const void* const* a,
                    const void* const* b, void* const* c, Group group) {
  require_size("group_count", groups);
  if (call.pointer_mode != CUBLAS_POINTER_MODE_HOST) {
    throw Rejected{CUBLAS_STATUS_NOT_SUPPORTED, "groups take their scalars from the host alone"};
  }
  std::vector<Gemm> all;
  std::int64_t first = 0;
  for (Size i = 0; i < groups; ++i) {
    Gemm gemm = group(i);
    gemm.a.pointer = a + first;
    gemm.b.pointer = b + first;
    gemm.c.pointer = c + first;
    gemm.batch = counts[i];
    gemm.by = BatchBy::pointers;
    require_valid(gemm);
    first += counts[i];
    all.push_back(gemm);
  }
  for (const Gemm& gemm : all) enqueue(call, gemm);
}

template <typename T, typename Size>
void gemm_grouped_batched(BlasCall& call, const cublasOperation_t* transa,
                          const cublasOperation_t* transb, const Size* m, const Size* n,
                          const Size* k, const T* alpha, const T* const* a, const Size* lda,
                          const T* const* b, const Size* ldb, const T* beta, T* const* c,
                          const Size* ldc, Size groups, const Size* counts) {
  const auto pointers = [](auto array) { return reinterpret_cast<const void* const*>(array); };
  enqueue_groups(call, groups, counts, pointers(a), pointers(b), reinterpret_cast<void* const*>(c),
                 [&](Size i) {
                   Gemm gemm = gemm_of(transa[i], transb[i], m[i], n[i], k[i], alpha + i, beta + i);
                   gemm.a = {nullptr, kTypeOf<T>, lda[i]};
                   gemm.b = {nullptr, kTypeOf<T>, ldb[i]};
                   gemm.c = {nullptr, kTypeOf<T>, ldc[i]};
                   return gemm;
                 });
}

// ---- types as arguments ----

template <typename Size>
void gemm_grouped_batched_ex(BlasCall& call, const cublasOperation_t* transa,
                             const cublasOperation_t* transb, const Size* m, const Size* n,
                             const Size* k, const void* alpha, const void* const* a,
                             cudaDataType a_type, const Size* lda, const void* const* b,
                             cudaDataType b_type, const Size* ldb, const void* beta, void* const* c,
                             cudaDataType c_type, const Size* ldc, Size groups, const Size* counts,
                             cublasComputeType_t compute) {
  enqueue_groups(call, groups, counts, a, b, c, [&](Size i) {
    Gemm gemm{transa[i], transb[i], m[i], n[i], k[i]};
    gemm.a = {nullptr, a_type, lda[i]};
    gemm.b = {nullptr, b_type, ldb[i]};
    gemm.c = {nullptr, c_type, ldc[i]};
    set_types(gemm, compute);
    const auto at = static_cast<std::size_t>(i) * bytes_of(gemm.scalars);
    gemm.alpha = static_cast<const std::byte*>(alpha) + at;
    gemm.beta = static_cast<const std::byte*>(beta) + at;
    return gemm;
  });
}

inline void gemm_ex(BlasCall& call, cublasOperation_t transa, cublasOperation_t transb,
                    std::int64_t m, std::int64_t n, std::int64_t k, const void* alpha,
                    const void* a, cudaDataType a_type, std::int64_t lda, const void* b,
                    cudaDataType b_type, std::int64_t ldb, const void* beta, void* c,
                    cudaDataType c_type, std::int64_t ldc, cublasComputeType_t compute,
                    cublasGemmAlgo_t /*algo*/) {
  Gemm all{transa, transb, m, n, k, alpha, beta};
  all.a = {a, a_type, lda};
  all.b = {b, b_type, ldb};
  all.c = {c, c_type, ldc};
  set_types(all, compute);
  enqueue(call, all);
}

inline void gemm_strided_batched_ex(BlasCall& call, cublasOperation_t transa,
                                    cublasOperation_t transb, std::int64_t m, std::int64_t n,
                                    std::int64_t k, const void* alpha, const void* a,
                                    cudaDataType a_type, std::int64_t lda, std::int64_t stride_a,
                                    const void* b, cudaDataType b_type, std::int64_t ldb,
                                    std::int64_t stride_b, const void* beta, void* c,
                                    cudaDataType c_type, std::int64_t ldc, std::int64_t stride_c,
                                    std::int64_t batch, cublasComputeType_t compute,
                                    cublasGemmAlgo_t /*algo*/) {
  Gemm all{transa, transb, m, n, k, alpha, beta};
  all.a = {a, a_type, lda, stride_a};
  all.b = {b, b_type, ldb, stride_b};
  all.c = {c, c_type, ldc, stride_c};
  all.batch = batch;
  all.by = BatchBy::strides;
  set_types(all, compute);
  enqueue(call, all);
}

inline void gemm_batched_ex(BlasCall& call, cublasOperation_t transa, cublasOperation_t transb,
                            std::int64_t m, std::int64_t n, std::int64_t k, const void* alpha,
                            const void* const* a, cudaDataType a_type, std::int64_t lda,
                            const void* const* b, cudaDataType b_type, std::int64_t ldb,
                            const void* beta, void* const* c, cudaDataType c_type, std::int64_t ldc,
                            std::int64_t batch, cublasComputeType_t compute,
                            cublasGemmAlgo_t /*algo*/) {
  Gemm all{transa, transb, m, n, k, alpha, beta};
  all.a = {a, a_type, lda};
  all.b = {b, b_type, ldb};
  all.c = {c, c_type, ldc};
  all.batch = batch;
  all.by = BatchBy::pointers;
  set_types(all, compute);
  enqueue(call, all);
}

// cublasSgemmEx, cublasCgemmEx: T is the type of the scalars and of the sums.
template <typename T>
void typed_gemm_ex(BlasCall& call, cublasOperation_t transa, cublasOperation_t transb,
                   std::int64_t m, std::int64_t n, std::int64_t k, const T* alpha, const void* a,
                   cudaDataType a_type, std::int64_t lda, const void* b, cudaDataType b_type,
                   std::int64_t ldb, const T* beta, void* c, cudaDataType c_type,
                   std::int64_t ldc) {
  gemm_ex(call, transa, transb, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type,
          ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

}  // namespace warpcheck::libraries::cublas
