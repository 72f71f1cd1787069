// Defects in the use of cuBLAS, one an argument, and their clean twins (`clean`).  The call that a
// finding is about follows its name.
#include <cublasLt.h>
#include <cublas_v2.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

__global__ void set(float* x) { *x = 2; }
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

// Of a band's last column, what would be below the matrix is not there.
void short_band() {
  float *a = filled(clean ? 11 : 10), *x = filled(4), *y = filled(4);
  //~ short_band
  cublasSgbmv(handle, CUBLAS_OP_N, n, n, 1, 1, &one, a, 3, x, 1, &zero, y, 1);
  look(y, 4);
}

void short_packed() {
  float *ap = filled(clean ? 10 : 9), *x = filled(4), *y = filled(4);
  //~ short_packed
  cublasSspmv(handle, CUBLAS_FILL_MODE_UPPER, n, &one, ap, x, 1, &zero, y, 1);
  look(y, 4);
}

void short_of_batch() {
  float *a = filled(clean ? 16 : 15), *b = filled(16), *c = filled(32);
  const float* const inputs[] = {b, a};
  float* const results[] = {c, c + 16};
  float **from, **to;
  cudaMalloc(&from, sizeof inputs);
  cudaMalloc(&to, sizeof results);
  cudaMemcpy(from, inputs, sizeof inputs, cudaMemcpyHostToDevice);
  cudaMemcpy(to, results, sizeof results, cudaMemcpyHostToDevice);
  //~ short_of_batch
  cublasStrsmBatched(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                     CUBLAS_DIAG_NON_UNIT, n, n, &one, from, n, to, n, 2);
  look(c, 32);
}

// The lower triangle is written, and in the defect not all of it.
float* lower_triangle(bool all) {
  float* const a = fresh(16);
  for (int column = 0; column < n; ++column) {
    const float values[] = {2, 2, 2, 2};
    const int rows = n - column - (column == 1 && !all ? 1 : 0);
    cudaMemcpy(a + column * n + column, values, rows * sizeof(float), cudaMemcpyHostToDevice);
  }
  return a;
}

void unwritten_triangle() {
  float *a = lower_triangle(clean), *x = filled(4);
  //~ unwritten_triangle
  cublasStrsv(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n, a, n, x, 1);
  look(x, 4);
}

void unwritten_symmetric() {
  float *a = lower_triangle(clean), *b = filled(16), *c = fresh(16);
  //~ unwritten_symmetric
  cublasSsymm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, n, n, &one, a, n, b, n, &zero, c,
              n);
  look(c, 16);
}

// A kernel beside it writes to the triangle that is read, or to the other one.
void race_in_triangle() {
  float *a = filled(16), *x = filled(4);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  set<<<1, 1>>>(clean ? a + n : a + 1);
  cublasSetStream(handle, stream);
  //~ race_in_triangle
  cublasStrmv(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n, a, n, x, 1);
  cudaDeviceSynchronize();
}

void race_in_band() {
  float *a = filled(12), *x = filled(4), *y = filled(4);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  set<<<1, 1>>>(clean ? a : a + 1);
  cublasSetStream(handle, stream);
  //~ race_in_band
  cublasSgbmv(handle, CUBLAS_OP_N, n, n, 1, 1, &one, a, 3, x, 1, &zero, y, 1);
  cudaDeviceSynchronize();
}

// D = GELU(A * B + bias), which is kept before GELU.
void matmul(int bias_count, int aux_count) {
  float *a = filled(64), *bias = filled(bias_count), *aux = fresh(aux_count), *d = fresh(64);
  const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
  const std::int64_t leading = 8;
  cublasLtHandle_t lt;
  cublasLtMatmulDesc_t product;
  cublasLtMatrixLayout_t square;
  cublasLtCreate(&lt);
  cublasLtMatrixLayoutCreate(&square, CUDA_R_32F, 8, 8, 8);
  cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                 sizeof epilogue);
  cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
  cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &aux,
                                 sizeof aux);
  cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &leading,
                                 sizeof leading);
  //~ short_bias
  cublasLtMatmul(lt, product, &one, a, square, a, square, &zero, d, square, d, square, nullptr,
                 nullptr, 0, nullptr);
  look(d, 64);
}
void short_bias() { matmul(clean ? 8 : 7, 64); }
void short_aux() { matmul(8, clean ? 64 : 63); }

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
                         {"short_band", short_band},
                         {"short_packed", short_packed},
                         {"short_of_batch", short_of_batch},
                         {"unwritten_triangle", unwritten_triangle},
                         {"unwritten_symmetric", unwritten_symmetric},
                         {"race_in_triangle", race_in_triangle},
                         {"race_in_band", race_in_band},
                         {"short_bias", short_bias},
                         {"short_aux", short_aux},
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
