// cublasXt: products of matrices that may be in host memory, on the one device that exists.  A call
// returns when its products are complete.  The other routines of cublasXt are refused by name.
#include <cublasXt.h>

#include "vgpu/libraries/cublas/gemm.hpp"
#include "vgpu/libraries/handles.hpp"

struct cublasXtContext {
  cublasHandle_t handle = nullptr;
  int block = 2048;
  cublasXtPinnedMemMode_t pinning = CUBLASXT_PINNING_DISABLED;
};

namespace warpcheck::libraries::cublas {
namespace {

template <typename Body>
cublasStatus_t answer_xt(const Call& made, cublasXtHandle_t handle, Body&& body) {
  const cublasXtContext* const context = handles<cublasXtContext>().find(handle);
  return answer(made, context == nullptr ? nullptr : context->handle, body, {});
}

template <typename T>
void xt_gemm(BlasCall& call, cublasOperation_t transa, cublasOperation_t transb, std::size_t m,
             std::size_t n, std::size_t k, const T* alpha, const T* a, std::size_t lda, const T* b,
             std::size_t ldb, const T* beta, T* c, std::size_t ldc) {
  const auto size = [](std::size_t value) { return static_cast<std::int64_t>(value); };
  const auto matrix = [&](const T* pointer, std::size_t leading) {
    GemmMatrix all{pointer, kTypeOf<T>, size(leading)};
    all.on_host = services().memory_at(pointer) == LibraryMemory::host;
    return all;
  };
  Gemm all = gemm_of(transa, transb, size(m), size(n), size(k), alpha, beta);
  all.a = matrix(a, lda);
  all.b = matrix(b, ldb);
  all.c = matrix(c, ldc);
  enqueue(call, all);
}

}  // namespace
}  // namespace warpcheck::libraries::cublas

using namespace warpcheck::libraries::cublas;  // NOLINT(google-build-using-namespace)
using Context = cublasXtContext;

#define MADE_HERE() (warpcheck::libraries::Call{__func__, __builtin_return_address(0)})

extern "C" {

cublasStatus_t cublasXtCreate(cublasXtHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  auto* const context = new Context;
  *handle = context;
  warpcheck::libraries::handles<Context>().add(context);
  return cublasCreate_v2(&context->handle);
}
cublasStatus_t cublasXtDestroy(cublasXtHandle_t handle) {
  return answer_xt(MADE_HERE(), handle, [&](BlasCall&) {
    warpcheck::libraries::handles<Context>().remove(handle);
    cublasDestroy_v2(handle->handle);
  });
}
// Only device 0 can be selected.
cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t handle, int count, int* devices) {
  return answer_xt(MADE_HERE(), handle, [&](BlasCall&) {
    require(count > 0 && devices != nullptr, "no device is selected");
    if (count > 1 || devices[0] != 0) throw warpcheck::libraries::Refused{"several devices"};
  });
}
cublasStatus_t cublasXtSetBlockDim(cublasXtHandle_t handle, int block) {
  return answer_xt(MADE_HERE(), handle, [&](BlasCall&) {
    require(block > 0, "blockDim is {}", block);
    handle->block = block;
  });
}
cublasStatus_t cublasXtGetBlockDim(cublasXtHandle_t handle, int* block) {
  return answer_xt(MADE_HERE(), handle, [&](BlasCall&) {
    require(block != nullptr, "blockDim is a null pointer");
    *block = handle->block;
  });
}
cublasStatus_t cublasXtSetPinningMemMode(cublasXtHandle_t handle, cublasXtPinnedMemMode_t mode) {
  return answer_xt(MADE_HERE(), handle, [&](BlasCall&) { handle->pinning = mode; });
}
cublasStatus_t cublasXtGetPinningMemMode(cublasXtHandle_t handle, cublasXtPinnedMemMode_t* mode) {
  return answer_xt(MADE_HERE(), handle, [&](BlasCall&) {
    require(mode != nullptr, "mode is a null pointer");
    *mode = handle->pinning;
  });
}

#define GEMM(p, T)                                                                                 \
  cublasStatus_t cublasXt##p##gemm(cublasXtHandle_t handle, cublasOperation_t transa,              \
                                   cublasOperation_t transb, size_t m, size_t n, size_t k,         \
                                   const T* alpha, const T* a, size_t lda, const T* b, size_t ldb, \
                                   const T* beta, T* c, size_t ldc) {                              \
    return answer_xt(MADE_HERE(), handle, [&](BlasCall& call) {                                    \
      xt_gemm(call, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                 \
    });                                                                                            \
  }
GEMM(S, float)
GEMM(D, double)
GEMM(C, cuComplex)
GEMM(Z, cuDoubleComplex)

}  // extern "C"
