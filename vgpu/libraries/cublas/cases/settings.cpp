// Handles and their settings, copies between host and device, and the statuses of invalid
// arguments.
#include "cases.hpp"

namespace {

void try_copies() {
  const float values[] = {1, 2, 3, 4, 5, 6};
  constexpr int kBytes = sizeof(float);
  auto* const device = static_cast<float*>(allocate(sizeof values));
  const auto expect_odd = [&](const float* back) {
    check(cudaDeviceSynchronize());
    expect("every second element", back[0] == 1 && back[1] == 3 && back[2] == 5);
  };
  const auto expect_all = [&](const float* back) {
    check(cudaDeviceSynchronize());
    for (int i = 0; i < 6; ++i) expect("an element", back[i] == values[i]);
  };
#define COPIES(suffix)                                                               \
  {                                                                                  \
    float back[6] = {};                                                              \
    CALL(cublasSetMatrix##suffix, 2, 3, kBytes, values, 2, device, 2);               \
    CALL(cublasGetVector##suffix, 3, kBytes, device, 2, back, 1);                    \
    expect_odd(back);                                                                \
    CALL(cublasSetVector##suffix, 6, kBytes, values, 1, device, 1);                  \
    CALL(cublasGetMatrix##suffix, 3, 2, kBytes, device, 3, back, 3);                 \
    expect_all(back);                                                                \
    CALL(cublasSetMatrixAsync##suffix, 2, 3, kBytes, values, 2, device, 2, nullptr); \
    CALL(cublasGetVectorAsync##suffix, 3, kBytes, device, 2, back, 1, nullptr);      \
    expect_odd(back);                                                                \
    CALL(cublasSetVectorAsync##suffix, 6, kBytes, values, 1, device, 1, nullptr);    \
    CALL(cublasGetMatrixAsync##suffix, 3, 2, kBytes, device, 3, back, 3, nullptr);   \
    expect_all(back);                                                                \
  }
  COPIES()
  COPIES(_64)
#undef COPIES
  free_at_end(device);
}

template <class T, class Set, class Get>
void try_setting(const char* what, T value, Set set, Get get) {
  T got{};
  set(value);
  get(&got);
  expect(what, got == value);
}
#define SETTING(name, value)                                                     \
  try_setting(                                                                   \
      #name, value, [&](auto wanted) { CALL(cublasSet##name, handle, wanted); }, \
      [&](auto* got) { CALL(cublasGet##name, handle, got); })

void try_handle() {
  CALL(cublasCreate, &handle);
  SETTING(PointerMode, CUBLAS_POINTER_MODE_DEVICE);
  SETTING(PointerMode, CUBLAS_POINTER_MODE_HOST);
  SETTING(AtomicsMode, CUBLAS_ATOMICS_ALLOWED);
  SETTING(MathMode, CUBLAS_TF32_TENSOR_OP_MATH);
  SETTING(SmCountTarget, 2);
  cudaStream_t stream = nullptr, got = nullptr;
  check(cudaStreamCreate(&stream));
  CALL(cublasSetStream, handle, stream);
  CALL(cublasGetStream, handle, &got);
  expect("the stream", got == stream);
  void* const workspace = allocate(1 << 16);
  CALL(cublasSetWorkspace, handle, workspace, std::size_t{1 << 16});
  int version = 0, major = 0;
  CALL(cublasGetVersion, handle, &version);
  CALL(cublasGetProperty, MAJOR_VERSION, &major);
  expect("the version", version / 10000 == major);
  note_call("cublasGetCudartVersion", cublasGetCudartVersion() >= 12000 ? 0 : 1);
  note_call("cublasGetStatusName", 0);
  expect("a name", cublasGetStatusName(CUBLAS_STATUS_INVALID_VALUE) ==
                       std::string("CUBLAS_STATUS_INVALID_VALUE"));
  note_call("cublasGetStatusString", 0);
  expect("a text", cublasGetStatusString(CUBLAS_STATUS_SUCCESS) != std::string());
  const cublasLogCallback callback = [](const char*) {};
  cublasLogCallback installed = nullptr;
  CALL(cublasSetLoggerCallback, callback);
  CALL(cublasGetLoggerCallback, &installed);
  expect("the callback", installed == callback);
  CALL(cublasSetLoggerCallback, nullptr);
  CALL(cublasLoggerConfigure, 0, 0, 0, nullptr);
  note_call("cublasXerbla", 0);
  cublasXerbla("CASES", 1);
  CALL(cublasDestroy, handle);
  free_at_end(workspace);
  check(cudaStreamDestroy(stream));
}

}  // namespace

void try_statuses() {
  constexpr int n = 4;
  const float one = 1, zero = 0;
  const cuComplex complex_one{1, 0};
  const auto wrong = static_cast<cublasOperation_t>(7);
  const auto wrong_part = static_cast<cublasFillMode_t>(7);
  const Dense numbers = drawn<float>(n, n);
  const OnDevice<float> a(numbers, full(n)), b(numbers, full(n)), c(numbers, full(n));
  const OnDevice<cuComplex> z(numbers, full(n));
  const auto gemm = [&](cublasHandle_t of, cublasOperation_t trans, int m, int k,
                        const float* alpha, int lda, int ldc) {
    return cublasSgemm(of, trans, CUBLAS_OP_N, m, n, k, alpha, a.device, lda, b.device, n, &zero,
                       c.device, ldc);
  };
  // Each check is one record, named `what`.
  const auto expect_of = [](const char* what, cublasStatus_t wanted, cublasStatus_t found) {
    note_call(what, 0);
    expect_status(found, wanted);
  };
  constexpr auto kInvalid = CUBLAS_STATUS_INVALID_VALUE;
  constexpr auto kDone = CUBLAS_STATUS_SUCCESS;
  cublasCreate(&handle);
  expect_of("no handle", CUBLAS_STATUS_NOT_INITIALIZED,
            gemm(nullptr, CUBLAS_OP_N, n, n, &one, n, n));
  expect_of("m -1", kInvalid, gemm(handle, CUBLAS_OP_N, -1, n, &one, n, n));
  expect_of("k -1", kInvalid, gemm(handle, CUBLAS_OP_N, n, -1, &one, n, n));
  expect_of("m 0", kDone, gemm(handle, CUBLAS_OP_N, 0, n, &one, n, n));
  expect_of("k 0", kDone, gemm(handle, CUBLAS_OP_N, n, 0, &one, n, n));
  expect_of("lda 3", kInvalid, gemm(handle, CUBLAS_OP_N, n, n, &one, 3, n));
  expect_of("ldc 3", kInvalid, gemm(handle, CUBLAS_OP_N, n, n, &one, n, 3));
  expect_of("trans 7", kInvalid, gemm(handle, wrong, n, n, &one, n, n));
  expect_of(
      "incx 0", kInvalid,
      cublasSgemv(handle, CUBLAS_OP_N, n, n, &one, a.device, n, b.device, 0, &zero, c.device, 1));
  expect_of("uplo 7", kInvalid, cublasSsyr(handle, wrong_part, n, &one, b.device, 1, a.device, n));
  expect_of("uplo full", kInvalid,
            cublasSsyr(handle, CUBLAS_FILL_MODE_FULL, n, &one, b.device, 1, a.device, n));
  expect_of("kl -1", kInvalid,
            cublasSgbmv(handle, CUBLAS_OP_N, n, n, -1, 1, &one, a.device, n, b.device, 1, &zero,
                        c.device, 1));
  expect_of("band lda 2", kInvalid,
            cublasSgbmv(handle, CUBLAS_OP_N, n, n, 1, 1, &one, a.device, 2, b.device, 1, &zero,
                        c.device, 1));
  expect_of("axpy of nothing", kDone, cublasSaxpy(handle, 0, &one, nullptr, 1, nullptr, 1));
  expect_of("axpy of -1", kDone, cublasSaxpy(handle, -1, &one, nullptr, 1, nullptr, 1));
  expect_of("scal by step 0", kDone, cublasSscal(handle, n, &one, b.device, 0));
  expect_of("copy of -1", kDone, cublasScopy(handle, -1, a.device, 1, b.device, 1));
  float result = 0;
  expect_of("asum by step 0", kDone, cublasSasum(handle, n, a.device, 0, &result));
  expect_of("nrm2 by step -1", kDone, cublasSnrm2(handle, n, a.device, -1, &result));
  expect_of("syrk of complex by C", kInvalid,
            cublasCsyrk(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_C, n, n, &complex_one, z.device,
                        n, &complex_one, z.device, n));
  expect_of("herk by T", kInvalid,
            cublasCherk(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, n, n, &one, z.device, n, &one,
                        z.device, n));
  expect_of("geam in place, transposed", kInvalid,
            cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, n, &one, a.device, n, &one, b.device,
                        n, a.device, n));
  expect_of("product of half into double", CUBLAS_STATUS_NOT_SUPPORTED,
            cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a.device, CUDA_R_16F, n,
                         b.device, CUDA_R_16F, n, &zero, c.device, CUDA_R_64F, n,
                         CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  expect_of("pointer mode 5", kInvalid,
            cublasSetPointerMode(handle, static_cast<cublasPointerMode_t>(5)));
  expect_of("matrix of -1 rows", kInvalid, cublasSetMatrix(-1, 1, 4, &one, 1, a.device, 1));
  expect_of("elements of 0 bytes", kInvalid, cublasSetVector(1, 0, &one, 1, a.device, 1));
  expect_of("vector by step 0", kInvalid, cublasSetVector(1, 4, &one, 0, a.device, 1));
  for (const auto& [what, type, result_type] :
       {std::tuple("sum of sizes of complex", CUDA_C_32F, CUDA_R_32F),
        std::tuple("sum of sizes of half", CUDA_R_16F, CUDA_R_16F)}) {
    expect_of(what, CUBLAS_STATUS_NOT_SUPPORTED,
              cublasAsumEx(handle, n, a.device, type, 1, &result, result_type, CUDA_R_32F));
  }
  try_product_statuses();
  // Null pointers come last, because a library that does not check them crashes.
  expect_of("alpha null", kInvalid, gemm(handle, CUBLAS_OP_N, n, n, nullptr, n, n));
  expect_of("dot into null", CUBLAS_STATUS_MAPPING_ERROR,
            cublasSdot(handle, n, a.device, 1, b.device, 1, nullptr));
  cublasDestroy(handle);
}

void try_settings() {
  try_copies();
  try_handle();
}
