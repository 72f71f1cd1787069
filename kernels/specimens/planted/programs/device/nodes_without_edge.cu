// data-race: an edge of the graph
#include "planted_program.hpp"

__global__ void doubled(const int* in, int* out) {
  out[threadIdx.x] = 2 * in[threadIdx.x];  //@
}

int main() {
  Buffers buffers;
  int* middle = nullptr;
  cudaMalloc(&middle, buffers.bytes());
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  const int* from = buffers.in;
  void* first_arguments[] = {&from, &middle};
  const int* then = middle;
  void* second_arguments[] = {&then, &buffers.out};
  cudaKernelNodeParams node{};
  node.func = reinterpret_cast<void*>(doubled);
  node.gridDim = dim3(1);
  node.blockDim = dim3(kElements);
  node.kernelParams = first_arguments;
  cudaGraphNode_t first, second;
  cudaGraphAddKernelNode(&first, graph, nullptr, 0, &node);
  node.kernelParams = second_arguments;
  cudaGraphAddKernelNode(&second, graph, nullptr, 0, &node);
  cudaGraphExec_t run;
  cudaGraphInstantiate(&run, graph, 0);
  cudaGraphLaunch(run, nullptr);
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(run);
  cudaGraphDestroy(graph);
  cudaFree(middle);
  return buffers.status([](int i) { return 4 * input_at(i); });
}
