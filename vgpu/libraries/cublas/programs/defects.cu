// Defects in the use of cuBLAS, one an argument, and their clean twins (`clean`).  The call that a
// finding is about follows its name.
#include <cublas_v2.h>

#include <cstdio>
#include <cstring>
#include <vector>

__global__ void scale(float* x, float by) { x[threadIdx.x] *= by; }

namespace {

constexpr int n = 4;
constexpr float one = 1, zero = 0;
cublasHandle_t handle;
bool clean = false;

float* filled(int count) {
  std::vector<float> values(count, 2);
  float* pointer = nullptr;
  cudaMalloc(&pointer, count * sizeof(float));
  cudaMemcpy(pointer, values.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  return pointer;
}

float* fresh(int count) {
  float* pointer = nullptr;
  cudaMalloc(&pointer, count * sizeof(float));
  return pointer;
}

void look(const float* pointer, int count) {
  std::vector<float> values(count);
  cudaMemcpy(values.data(), pointer, count * sizeof(float), cudaMemcpyDeviceToHost);
}

void short_operand() {
  float *a = filled(clean ? 16 : 15), *b = filled(16), *c = filled(16);
  //~ short_operand
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n);
  look(c, 16);
}

void wide_leading() {
  float *a = filled(16), *x = filled(4), *y = filled(4);
  //~ wide_leading
  cublasSgemv(handle, CUBLAS_OP_N, n, n, &one, a, clean ? n : n + 1, x, 1, &zero, y, 1);
  look(y, 4);
}

void long_stride() {
  float *a = filled(32), *b = filled(32), *c = filled(32);
  //~ long_stride
  cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, 16, b, n, 16,
                            &zero, c, n, clean ? 16 : 17, 2);
  look(c, 32);
}

// Row 1 of A is not written: row 1 of C is undefined, the others are not.
void uninitialized() {
  float *a = clean ? filled(16) : fresh(16), *b = filled(16), *c = fresh(16);
  for (int column = 0; column < n; ++column) {
    cudaMemset(a + column * n, 0, sizeof(float));
    cudaMemset(a + column * n + 2, 0, 2 * sizeof(float));
  }
  //~ uninitialized
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n);
  look(c, 1);
  look(c + 2, 2);
  look(c, 16);
}

void uninitialized_result() {
  float *x = clean ? filled(8) : fresh(8), *y = filled(8), result = 0;
  //~ uninitialized_result
  cublasSdot(handle, 8, x, 1, y, 1, &result);
}

void race() {
  float *x = filled(32), *y = filled(32);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  scale<<<1, 32>>>(x, 2);
  if (clean) cudaDeviceSynchronize();
  cublasSetStream(handle, stream);
  //~ race
  cublasSaxpy(handle, 32, &one, x, 1, y, 1);
  cudaDeviceSynchronize();
}

void freed() {
  float *x = filled(8), *y = filled(8);
  if (!clean) cudaFree(x);
  //~ freed
  cublasScopy(handle, 8, x, 1, y, 1);
  cudaDeviceSynchronize();
}

void scalar_on_device() {
  float *alpha = filled(1), *x = filled(8);
  if (clean) cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
  //~ scalar_on_device
  cublasSscal(handle, 8, alpha, x, 1);
  cudaDeviceSynchronize();
}

void scalar_on_host() {
  float* x = filled(8);
  if (!clean) cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
  //~ scalar_on_host
  cublasSscal(handle, 8, &one, x, 1);
  cudaDeviceSynchronize();
}

void small_leading() {
  float *a = filled(16), *b = filled(16), *c = filled(16);
  const int lda = clean ? n : n - 1;
  //~ small_leading
  const auto status =
      cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, lda, b, n, &zero, c, n);
  std::printf("%s\n", cublasGetStatusName(status));
}

void destroyed() {
  float* x = filled(8);
  cublasHandle_t other;
  cublasCreate(&other);
  if (!clean) cublasDestroy(other);
  //~ destroyed
  cublasSscal(other, 8, &one, x, 1);
}

void refused() {
  if (!clean) cublasSetEmulationStrategy(handle, CUBLAS_EMULATION_STRATEGY_EAGER);
}

void captured() {
  float *x = filled(8), *y = filled(8);
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaStreamCreate(&stream);
  cublasSetStream(handle, stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  //~ captured
  cublasSaxpy(handle, clean ? 8 : 9, &one, x, 1, y, 1);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, stream);
  cudaStreamSynchronize(stream);
  look(y, 8);
}

struct Row {
  const char* name;
  void (*run)();
};
constexpr Row kRows[] = {{"short_operand", short_operand},
                         {"wide_leading", wide_leading},
                         {"long_stride", long_stride},
                         {"uninitialized", uninitialized},
                         {"uninitialized_result", uninitialized_result},
                         {"race", race},
                         {"freed", freed},
                         {"scalar_on_device", scalar_on_device},
                         {"scalar_on_host", scalar_on_host},
                         {"small_leading", small_leading},
                         {"destroyed", destroyed},
                         {"refused", refused},
                         {"captured", captured}};

}  // namespace

// All twins in one process, or one defect.
int main(int count, char** arguments) {
  clean = count > 1 && std::strcmp(arguments[1], "clean") == 0;
  for (const Row& row : kRows) {
    if (!clean && (count < 2 || std::strcmp(arguments[1], row.name) != 0)) continue;
    cublasCreate(&handle);
    row.run();
    cublasDestroy(handle);
  }
}
