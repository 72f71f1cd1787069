// Memory that a stream allocates is freed in another stream, and nothing orders the two calls: it
// may be freed before it exists.  Also memory of pools, of captured calls and of nodes of graphs.
// case unordered: | | 0
// expect unordered: error data-race allocation freeing
// says unordered: nothing orders cudaMallocAsync (1) and cudaFreeAsync (2)
// case pool: | | 1
// expect pool: error data-race pool freeing
// case one_stream: | | 2
// expect one_stream: clean
// case event: | | 3
// expect event: clean
// case waited: | | 4
// expect waited: clean
// case by_the_host: | | 5
// expect by_the_host: clean
// case nodes: | | 6
// expect nodes: error data-race alloc_node free_node
// says nodes: nothing orders cudaGraphAddMemAllocNode (1) and cudaGraphAddMemFreeNode (2): no path of the graph's edges leads from one to the other
// case ordered_nodes: | | 7
// expect ordered_nodes: clean
// case used_elsewhere: | | 8
// expect used_elsewhere: error data-race allocation use
// expect used_elsewhere: error data-race allocation freeing
// case node_uses: | | 9
// expect node_uses: error data-race alloc_node use_in_graph
#include <cstdio>
#include <cstdlib>

__global__ void ramp(int* p, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) p[i] = i;  //~ use use_in_graph
}

int main(int, char** arguments) {
  const int kind = atoi(arguments[1]);
  cudaStream_t a, b;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  int *work, *p = nullptr;
  cudaMalloc(&work, 4000);
  ramp<<<1, 32, 0, a>>>(work, 1000);
  cudaMemPool_t pool;
  cudaDeviceGetDefaultMemPool(&pool, 0);
  if (kind == 1) {
    cudaMallocFromPoolAsync((void**)&p, 4000, pool, a);  //~ pool
  } else if (kind < 6 || kind == 8) {
    cudaMallocAsync(&p, 4000, a);  //~ allocation
  }
  cudaEvent_t event;
  cudaEventCreate(&event);
  if (kind == 3) {
    cudaEventRecord(event, a);
    cudaStreamWaitEvent(b, event);
  }
  if (kind == 4) cudaStreamSynchronize(a);
  if (kind == 8) ramp<<<1, 32, 0, b>>>(p, 1000);
  if (kind == 5)
    cudaFree(p);
  else if (kind == 2)
    cudaFreeAsync(p, a);
  else if (p != nullptr)
    cudaFreeAsync(p, b);  //~ freeing
  if (kind == 6 || kind == 7 || kind == 9) {
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaGraphNode_t allocation, kernel, freeing;
    cudaGraphCreate(&graph, 0);
    cudaMemAllocNodeParams made = {};
    made.poolProps.allocType = cudaMemAllocationTypePinned;
    made.poolProps.location.type = cudaMemLocationTypeDevice;
    made.bytesize = 4000;
    cudaGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &made);  //~ alloc_node
    int n = 1000;
    void* values[] = {&made.dptr, &n};
    cudaKernelNodeParams launch = {};
    launch.func = (void*)ramp;
    launch.gridDim = 1;
    launch.blockDim = 32;
    launch.kernelParams = values;
    if (kind != 6) cudaGraphAddKernelNode(&kernel, graph, &allocation, kind == 7 ? 1 : 0, &launch);
    cudaGraphNode_t before[] = {allocation, kernel};
    cudaGraphAddMemFreeNode(&freeing, graph, before, kind == 6 ? 0 : 2, made.dptr);  //~ free_node
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, a);
    cudaStreamSynchronize(a);
    if (kind == 7) cudaGraphLaunch(executable, b);
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
  }
  cudaDeviceSynchronize();
  puts("ok");
  cudaEventDestroy(event);
  cudaFree(work);
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
  return 0;
}
