// Functions of the legacy API that are not BLAS routines.
#define LEGACY
#include "cases.hpp"

void try_legacy_settings() {
  CALL(cublasInit);
  int version = 0;
  CALL(cublasGetVersion, &version);
  expect("the version", version >= 12000);
  void* device = nullptr;
  CALL(cublasAlloc, 4, 8, &device);
  check(cudaMemset(device, 0, 32));
  CALL(cublasFree, device);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream));
  CALL(cublasSetKernelStream, stream);
  CALL(cublasSetKernelStream, nullptr);
  check(cudaStreamDestroy(stream));
  CALL(cublasGetError);
  try_legacy_level_1();
  try_legacy_level_2();
  try_legacy_level_3();
  CALL(cublasShutdown);
}
