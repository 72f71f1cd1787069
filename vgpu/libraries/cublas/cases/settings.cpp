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

constexpr auto kInvalid = CUBLAS_STATUS_INVALID_VALUE;
constexpr auto kDone = CUBLAS_STATUS_SUCCESS;
constexpr int kSide = 4;  // of the matrices of try_statuses()
constexpr float kOne = 1, kZero = 0;

// The matrices that the calls of try_statuses() are given.
struct Given {
  Dense numbers = drawn<float>(kSide, kSide);
  OnDevice<float> a{numbers, full(kSide)}, b{numbers, full(kSide)}, c{numbers, full(kSide)};
  OnDevice<cuComplex> z{numbers, full(kSide)};

  [[nodiscard]] cublasStatus_t gemm(cublasHandle_t of, cublasOperation_t trans, int m, int k,
                                    const float* alpha, int lda, int ldc) const {
    return cublasSgemm(of, trans, CUBLAS_OP_N, m, kSide, k, alpha, a.device, lda, b.device, kSide,
                       &kZero, c.device, ldc);
  }
};

// Each check is one record, named `what`.
void expect_of(const char* what, cublasStatus_t wanted, cublasStatus_t found) {
  note_call(what, 0);
  expect_status(found, wanted);
}

// Sizes, leading dimensions and operations of a product.
void try_sizes_of_product(const Given& given) {
  const auto wrong = static_cast<cublasOperation_t>(7);
  expect_of("no handle", CUBLAS_STATUS_NOT_INITIALIZED,
            given.gemm(nullptr, CUBLAS_OP_N, kSide, kSide, &kOne, kSide, kSide));
  expect_of("m -1", kInvalid, given.gemm(handle, CUBLAS_OP_N, -1, kSide, &kOne, kSide, kSide));
  expect_of("k -1", kInvalid, given.gemm(handle, CUBLAS_OP_N, kSide, -1, &kOne, kSide, kSide));
  expect_of("m 0", kDone, given.gemm(handle, CUBLAS_OP_N, 0, kSide, &kOne, kSide, kSide));
  expect_of("k 0", kDone, given.gemm(handle, CUBLAS_OP_N, kSide, 0, &kOne, kSide, kSide));
  expect_of("lda 3", kInvalid, given.gemm(handle, CUBLAS_OP_N, kSide, kSide, &kOne, 3, kSide));
  expect_of("ldc 3", kInvalid, given.gemm(handle, CUBLAS_OP_N, kSide, kSide, &kOne, kSide, 3));
  expect_of("trans 7", kInvalid, given.gemm(handle, wrong, kSide, kSide, &kOne, kSide, kSide));
}

// Steps, parts and bands.
void try_vectors_and_bands(const Given& given) {
  const auto wrong_part = static_cast<cublasFillMode_t>(7);
  expect_of("incx 0", kInvalid,
            cublasSgemv(handle, CUBLAS_OP_N, kSide, kSide, &kOne, given.a.device, kSide,
                        given.b.device, 0, &kZero, given.c.device, 1));
  expect_of("uplo 7", kInvalid,
            cublasSsyr(handle, wrong_part, kSide, &kOne, given.b.device, 1, given.a.device, kSide));
  expect_of("uplo full", kInvalid,
            cublasSsyr(handle, CUBLAS_FILL_MODE_FULL, kSide, &kOne, given.b.device, 1,
                       given.a.device, kSide));
  expect_of("kl -1", kInvalid,
            cublasSgbmv(handle, CUBLAS_OP_N, kSide, kSide, -1, 1, &kOne, given.a.device, kSide,
                        given.b.device, 1, &kZero, given.c.device, 1));
  expect_of("band lda 2", kInvalid,
            cublasSgbmv(handle, CUBLAS_OP_N, kSide, kSide, 1, 1, &kOne, given.a.device, 2,
                        given.b.device, 1, &kZero, given.c.device, 1));
  expect_of("axpy of nothing", kDone, cublasSaxpy(handle, 0, &kOne, nullptr, 1, nullptr, 1));
  expect_of("axpy of -1", kDone, cublasSaxpy(handle, -1, &kOne, nullptr, 1, nullptr, 1));
  expect_of("scal by step 0", kDone, cublasSscal(handle, kSide, &kOne, given.b.device, 0));
  expect_of("copy of -1", kDone, cublasScopy(handle, -1, given.a.device, 1, given.b.device, 1));
  float result = 0;
  expect_of("asum by step 0", kDone, cublasSasum(handle, kSide, given.a.device, 0, &result));
  expect_of("nrm2 by step -1", kDone, cublasSnrm2(handle, kSide, given.a.device, -1, &result));
}

// Operations and types that go together.
void try_combinations(const Given& given) {
  const cuComplex complex_one{1, 0};
  expect_of("syrk of complex by C", kInvalid,
            cublasCsyrk(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_C, kSide, kSide, &complex_one,
                        given.z.device, kSide, &complex_one, given.z.device, kSide));
  expect_of("herk by T", kInvalid,
            cublasCherk(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, kSide, kSide, &kOne,
                        given.z.device, kSide, &kOne, given.z.device, kSide));
  expect_of("geam in place, transposed", kInvalid,
            cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, kSide, kSide, &kOne, given.a.device,
                        kSide, &kOne, given.b.device, kSide, given.a.device, kSide));
  expect_of(
      "product of half into double", CUBLAS_STATUS_NOT_SUPPORTED,
      cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, kSide, kSide, kSide, &kOne, given.a.device,
                   CUDA_R_16F, kSide, given.b.device, CUDA_R_16F, kSide, &kZero, given.c.device,
                   CUDA_R_64F, kSide, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  expect_of("pointer mode 5", kInvalid,
            cublasSetPointerMode(handle, static_cast<cublasPointerMode_t>(5)));
  expect_of("matrix of -1 rows", kInvalid, cublasSetMatrix(-1, 1, 4, &kOne, 1, given.a.device, 1));
  expect_of("elements of 0 bytes", kInvalid, cublasSetVector(1, 0, &kOne, 1, given.a.device, 1));
  expect_of("vector by step 0", kInvalid, cublasSetVector(1, 4, &kOne, 0, given.a.device, 1));
  float result = 0;
  for (const auto& [what, type, result_type] :
       {std::tuple("sum of sizes of complex", CUDA_C_32F, CUDA_R_32F),
        std::tuple("sum of sizes of half", CUDA_R_16F, CUDA_R_16F)}) {
    expect_of(
        what, CUBLAS_STATUS_NOT_SUPPORTED,
        cublasAsumEx(handle, kSide, given.a.device, type, 1, &result, result_type, CUDA_R_32F));
  }
}

}  // namespace

void try_statuses() {
  const Given given;
  cublasCreate(&handle);
  try_sizes_of_product(given);
  try_vectors_and_bands(given);
  try_combinations(given);
  try_product_statuses();
  // Null pointers come last, because a library that does not check them crashes.
  expect_of("alpha null", kInvalid,
            given.gemm(handle, CUBLAS_OP_N, kSide, kSide, nullptr, kSide, kSide));
  expect_of("dot into null", CUBLAS_STATUS_MAPPING_ERROR,
            cublasSdot(handle, kSide, given.a.device, 1, given.b.device, 1, nullptr));
  cublasDestroy(handle);
}

void try_settings() {
  try_copies();
  try_handle();
}
