// Handles and their settings, copies between host and device, and what wrong arguments answer.
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
#define COPIES(suffix)                                                                         \
  {                                                                                            \
    float back[6] = {};                                                                        \
    CALL(cublasSetMatrix##suffix, 2, 3, kBytes, values, 2, device, 2);                         \
    CALL(cublasGetVector##suffix, 3, kBytes, device, 2, back, 1);                              \
    expect_odd(back);                                                                          \
    CALL(cublasSetVector##suffix, 6, kBytes, values, 1, device, 1);                            \
    CALL(cublasGetMatrix##suffix, 3, 2, kBytes, device, 3, back, 3);                           \
    expect_all(back);                                                                          \
    CALL(cublasSetMatrixAsync##suffix, 2, 3, kBytes, values, 2, device, 2, nullptr);           \
    CALL(cublasGetVectorAsync##suffix, 3, kBytes, device, 2, back, 1, nullptr);                \
    expect_odd(back);                                                                          \
    CALL(cublasSetVectorAsync##suffix, 6, kBytes, values, 1, device, 1, nullptr);              \
    CALL(cublasGetMatrixAsync##suffix, 3, 2, kBytes, device, 3, back, 3, nullptr);             \
    expect_all(back);                                                                          \
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
#define SETTING(name, value)                                                          \
  try_setting(                                                                        \
      #name, value, [&](auto wanted) { CALL(cublasSet##name, handle, wanted); },      \
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
  CALL(cublasDestroy, handle);
  free_at_end(workspace);
  check(cudaStreamDestroy(stream));
}

}  // namespace

void try_settings() {
  try_copies();
  try_handle();
}
