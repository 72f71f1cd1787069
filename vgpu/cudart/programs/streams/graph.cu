// A captured graph of two kernels and a copy, launched three times.
// MUTANT: one block too many is launched, and no thread asks whether it has an element.
// expect: out-of-bounds
#include "check.hpp"

constexpr int kElements = 128, kThreads = 64;

__global__ void add(int* values, int amount) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  values[i] += amount;  //~
}

int main() {
#ifdef MUTANT
  const int blocks = kElements / kThreads + 1;
#else
  const int blocks = kElements / kThreads;
#endif
  cudaStream_t stream;
  require(cudaStreamCreate(&stream));
  int *values, *out;
  require(cudaMalloc(&values, kElements * sizeof(int)));
  require(cudaMallocHost(&out, kElements * sizeof(int)));
  require(cudaMemset(values, 0, kElements * sizeof(int)));

  cudaGraph_t graph;
  cudaGraphExec_t executable;
  require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<blocks, kThreads, 0, stream>>>(values, 1);
  add<<<blocks, kThreads, 0, stream>>>(values, 10);
  require(cudaMemcpyAsync(out, values, kElements * sizeof(int), cudaMemcpyDeviceToHost, stream));
  require(cudaStreamEndCapture(stream, &graph));
  require(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 3; ++i) require(cudaGraphLaunch(executable, stream));
  require(cudaStreamSynchronize(stream));

  bool is_right = true;
  for (int i = 0; i < kElements; ++i) is_right &= out[i] == 33;
  require(cudaGraphExecDestroy(executable));
  require(cudaGraphDestroy(graph));
  require(cudaFreeHost(out));
  require(cudaFree(values));
  require(cudaStreamDestroy(stream));
  return verdict(is_right);
}
