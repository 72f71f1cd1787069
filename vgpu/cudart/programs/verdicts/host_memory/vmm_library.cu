// Mappings that lie side by side are one array, also for an operand of a library, for copy nodes of
// graphs, for batches and for fills: an array over the seam is computed right, and nothing is
// found.  An operand that runs past the last mapping is out of bounds.
// build: -arch=compute_80 -lcublas -lcufft -lcuda
// case product: | | 0
// expect product: clean
// prints product: sum 4096 of 4096
// case past_the_end: | | 1
// expect past_the_end: error out-of-bounds product
// case result: | | 2
// expect result: clean
// prints result: sum 4096 of 4096
// case fourier: | | 3
// expect fourier: clean
// prints fourier: sum 4096 of 4096
// case nodes: | | 4
// expect nodes: clean
// prints nodes: sum 4096 of 4096
// case batch: | | 5
// expect batch: clean
// prints batch: sum 4096 of 4096
// case unwritten: | | 6
// expect unwritten: error uninitialized-read product unwritten
// case fill_node: | | 7
// expect fill_node: clean
// prints fill_node: sum 0 of 4096
// case race: | | 8
// expect race: error data-race stored product
#include <cublas_v2.h>
#include <cuda.h>
#include <cufft.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void fill(float* x, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = 1;  //~ stored
}

void multiply(cublasHandle_t handle, const float* a, const float* x, float* y) {
  const float one = 1, zero = 0;
  const cublasOperation_t as_is = CUBLAS_OP_N;
  const int n = 64;
  cublasSgemm(handle, as_is, as_is, n, 1, n, &one, a, n, x, n, &zero, y, n);  //~ product
}

constexpr size_t kPiece = 2 << 20;

int main(int, char** arguments) {
  const int kind = atoi(arguments[1]);
  cudaFree(0);
  CUdeviceptr base;
  cuMemAddressReserve(&base, 2 * kPiece, 0, 0, 0);
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemAccessDesc access = {properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  for (int i = 0; i < 2; ++i) {
    CUmemGenericAllocationHandle handle;
    cuMemCreate(&handle, kPiece, &properties, 0);
    cuMemMap(base + i * kPiece, kPiece, 0, handle, 0);
    cuMemRelease(handle);
    cuMemSetAccess(base + i * kPiece, kPiece, &access, 1);
  }
  float* a = (float*)(base + kPiece) - 2048;  // 64 x 64 floats over the seam
  float* ones = (float*)base;
  float* c = (float*)(base + kPiece + 65536);
  if (kind != 6) fill<<<1, 256>>>(a, 4096);
  if (kind == 6) fill<<<1, 256>>>(a, 2112);  // the second half of the columns is unwritten
  fill<<<1, 256>>>(ones, 64);
  std::vector<float> host(4096, 1);
  int n = 64;
  cublasHandle_t handle;
  cublasCreate(&handle);
  const float one = 1, zero = 0;
  if (kind == 0 || kind == 6) {
    multiply(handle, a, ones, c);
    cudaMemcpy(host.data(), c, 64 * sizeof(float), cudaMemcpyDeviceToHost);  //~ unwritten
  }
  if (kind == 1) {
    float* end = (float*)(base + 2 * kPiece) - 2048;
    cudaMemset(end, 0, 8192);
    multiply(handle, end, ones, c);
    n = 0;
  }
  if (kind == 2) {  // every element is 1 * 1 + 0, in place of the old ones
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 64, 64, 1, &one, ones, 64, ones, 1, &zero, a, 64);
    n = 4096;
    cudaMemcpy(host.data(), a, n * sizeof(float), cudaMemcpyDeviceToHost);
  }
  if (kind == 3) {
    cufftHandle plan;
    cufftPlan1d(&plan, 2048, CUFFT_C2C, 1);
    cufftExecC2C(plan, (cufftComplex*)a, (cufftComplex*)a, CUFFT_FORWARD);
    cufftDestroy(plan);
    cudaMemcpy(host.data(), a, 2 * sizeof(float), cudaMemcpyDeviceToHost);  // 2048 + 2048i
    n = 2;
  }
  if (kind == 4 || kind == 5 || kind == 7) {
    float* flat;
    cudaMalloc(&flat, 4096 * sizeof(float));
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    if (kind == 5) {
      void* targets[] = {flat};
      const void* sources[] = {a};
      const size_t sizes[] = {4096 * sizeof(float)};
      cudaMemcpyAttributes attributes = {};
      attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
      size_t first = 0;
      cudaMemcpyBatchAsync(targets, sources, sizes, 1, &attributes, &first, 1, stream);
    } else {
      cudaGraph_t graph;
      cudaGraphExec_t executable;
      cudaGraphNode_t fills, node;
      cudaGraphCreate(&graph, 0);
      cudaMemsetParams zeros = {};
      zeros.dst = a;
      zeros.elementSize = 4;
      zeros.width = 4096;
      zeros.height = 1;
      if (kind == 7) cudaGraphAddMemsetNode(&fills, graph, nullptr, 0, &zeros);
      cudaGraphAddMemcpyNode1D(&node, graph, &fills, kind == 7, flat, a, 4096 * sizeof(float),
                               cudaMemcpyDeviceToDevice);
      cudaGraphInstantiate(&executable, graph, 0);
      cudaGraphLaunch(executable, stream);
      cudaStreamSynchronize(stream);
      cudaGraphExecDestroy(executable);
      cudaGraphDestroy(graph);
    }
    cudaStreamSynchronize(stream);
    n = 4096;
    cudaMemcpy(host.data(), flat, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaStreamDestroy(stream);
    cudaFree(flat);
  }
  if (kind == 8) {  // nothing orders the two streams
    cudaDeviceSynchronize();
    cudaStream_t stream, other;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cublasSetStream(handle, stream);
    multiply(handle, a, ones, c);
    fill<<<1, 256, 0, other>>>(a + 2048, 2048);
    cudaDeviceSynchronize();
    n = 0;
  }
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += host[i];
  printf("sum %g of 4096\n", sum);
  cublasDestroy(handle);
  return 0;
}
