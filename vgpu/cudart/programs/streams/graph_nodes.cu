// A graph that is built node by node: kernels, memset, copies, host functions, children, events,
// memory; it is updated, cloned, and its nodes are asked for.
// MUTANT: the kernel that reads does not depend on the memset.
// expect: data-race
#include "check.hpp"

__global__ void add(int* data, int amount) { data[threadIdx.x] += amount; }  //~
void count(void* calls) { ++*static_cast<int*>(calls); }

int main() {
  int *data, amount = 5, calls = 0, result[32];
  require(cudaMalloc(&data, sizeof result));
  cudaStream_t stream;
  require(cudaStreamCreate(&stream));
  cudaGraph_t graph, child;
  require(cudaGraphCreate(&graph, 0));
  require(cudaGraphCreate(&child, 0));

  cudaGraphNode_t cleared, added, child_node, copied, called, joined, allocated, freed, inner;
  cudaMemsetParams clear = {};
  clear.dst = data, clear.elementSize = 4, clear.width = 32, clear.height = 1, clear.value = 1;
  require(cudaGraphAddMemsetNode(&cleared, graph, nullptr, 0, &clear));
  void* arguments[] = {&data, &amount};
  cudaKernelNodeParams kernel = {};
  kernel.func = reinterpret_cast<void*>(add);
  kernel.gridDim = 1, kernel.blockDim = 32, kernel.kernelParams = arguments;
#ifdef MUTANT
  require(cudaGraphAddKernelNode(&added, graph, nullptr, 0, &kernel));
#else
  require(cudaGraphAddKernelNode(&added, graph, &cleared, 1, &kernel));
#endif
  require(cudaGraphAddKernelNode(&inner, child, nullptr, 0, &kernel));
  require(cudaGraphAddChildGraphNode(&child_node, graph, &added, 1, child));
  require(cudaGraphAddMemcpyNode1D(&copied, graph, &child_node, 1, result, data, sizeof result,
                                   cudaMemcpyDeviceToHost));
  cudaHostNodeParams host = {count, &calls};
  require(cudaGraphAddHostNode(&called, graph, &copied, 1, &host));
  cudaMemAllocNodeParams memory = {};
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location.type = cudaMemLocationTypeDevice;
  memory.bytesize = 1024;
  require(cudaGraphAddMemAllocNode(&allocated, graph, nullptr, 0, &memory));
  require(cudaGraphAddMemFreeNode(&freed, graph, &allocated, 1, memory.dptr));
  const cudaGraphNode_t ends[] = {called, freed};
  require(cudaGraphAddEmptyNode(&joined, graph, ends, 2));

  cudaGraphExec_t executable;
  require(cudaGraphInstantiate(&executable, graph, 0));
  require(cudaGraphLaunch(executable, stream));
  require(cudaStreamSynchronize(stream));
  bool is_right = result[0] == 11 && calls == 1;
  amount = 7;
  require(cudaGraphExecKernelNodeSetParams(executable, added, &kernel));
  clear.value = 2;
  require(cudaGraphExecMemsetNodeSetParams(executable, cleared, &clear));
  require(cudaGraphLaunch(executable, stream));
  require(cudaStreamSynchronize(stream));
  is_right &= result[31] == 14 && calls == 2;

  size_t nodes = 0, roots = 0;
  cudaGraphNodeType type;
  cudaGraph_t clone;
  require(cudaGraphGetNodes(graph, nullptr, &nodes));
  require(cudaGraphGetRootNodes(graph, nullptr, &roots));
  require(cudaGraphNodeGetType(called, &type));
  is_right &= nodes == 8 && roots == 2 && type == cudaGraphNodeTypeHost;
  require(cudaGraphClone(&clone, child));
  require(cudaGraphDestroy(clone));
  require(cudaGraphExecDestroy(executable));
  require(cudaGraphDestroy(child));
  require(cudaGraphDestroy(graph));
  require(cudaStreamDestroy(stream));
  require(cudaFree(data));
  return verdict(is_right);
}
