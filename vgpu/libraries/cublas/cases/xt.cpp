// cublasXt: products of matrices in host memory and in device memory.
#include <cublasXt.h>

#include "cases.hpp"

namespace {

cublasXtHandle_t xt;
constexpr int m = 5, n = 4, k = 3;

template <class T>
std::vector<T> on_host(const Dense& values) {
  std::vector<T> all;
  for (const Bounded& value : values.all) all.push_back(from<T>(value.value));
  return all;
}

template <class T, class F>
void try_gemm(const char* name, F gemm) {
  const T alpha = from<T>(scalar<T>()), beta = from<T>(Number(-0.5));
  const Dense a = drawn<T>(k, m), b = drawn<T>(k, n), c = drawn<T>(m, n);
  const OnDevice<T> b_on_device(b, full(k));
  const std::vector<T> host_a = on_host<T>(a), host_b = on_host<T>(b);
  for (const bool is_mixed : {false, true}) {
    std::vector<T> result = on_host<T>(c);
    note_call(name,
              gemm(xt, CUBLAS_OP_C, CUBLAS_OP_N, m, n, k, &alpha, host_a.data(), k,
                   is_mixed ? b_on_device.device : host_b.data(), k, &beta, result.data(), m));
    std::vector<Number> found;
    for (const T& value : result) found.push_back(number(value));
    const Dense wanted = Bounded(scalar<T>()) * (adjoint(a) * b) + Bounded(-0.5) * c;
    expect_numbers(found, wanted.all, kRoundoff<T>, kRoundoff<T>);
  }
}

}  // namespace

void try_xt() {
  int device = 0, block = 0;
  cublasXtPinnedMemMode_t mode = CUBLASXT_PINNING_ENABLED;
  CALL(cublasXtCreate, &xt);
  CALL(cublasXtDeviceSelect, xt, 1, &device);
  CALL(cublasXtSetBlockDim, xt, 64);
  CALL(cublasXtGetBlockDim, xt, &block);
  expect("the block", block == 64);
  CALL(cublasXtSetPinningMemMode, xt, CUBLASXT_PINNING_DISABLED);
  CALL(cublasXtGetPinningMemMode, xt, &mode);
  expect("the mode", mode == CUBLASXT_PINNING_DISABLED);
  try_gemm<float>("cublasXtSgemm", cublasXtSgemm);
  try_gemm<double>("cublasXtDgemm", cublasXtDgemm);
  try_gemm<cuComplex>("cublasXtCgemm", cublasXtCgemm);
  try_gemm<cuDoubleComplex>("cublasXtZgemm", cublasXtZgemm);
  CALL(cublasXtDestroy, xt);
}
