// Functions of the driver API that do what functions of the runtime do: copies in batches,
// attributes of kernel nodes, user objects.
//
// build: -arch=compute_80 -lcuda
// case run:
// expect run: clean
// prints run: copied 0 42 43
// prints run: priority 0 0 0
// prints run: destroyed 1
// case unordered: -DUNORDERED
// expect unordered: error data-race store copy
#include <cuda.h>
#include <cstdio>

__global__ void store(int* p, int value) {
  *p = value;  //~ store
}

static int destroyed = 0;

int main() {
  cudaFree(0);
  int *a, *b, *c, *d, h[2] = {};
  cudaMalloc(&a, 4);
  cudaMalloc(&b, 4);
  cudaMalloc(&c, 4);
  cudaMalloc(&d, 4);
  cudaStream_t stream, other;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  store<<<1, 1, 0, stream>>>(b, 43);
#ifdef UNORDERED
  store<<<1, 1, 0, other>>>(a, 42);
#else
  store<<<1, 1, 0, stream>>>(a, 42);
#endif
  CUdeviceptr targets[] = {(CUdeviceptr)c, (CUdeviceptr)d};
  CUdeviceptr sources[] = {(CUdeviceptr)a, (CUdeviceptr)b};
  size_t sizes[] = {4, 4}, first = 0;
  CUmemcpyAttributes attributes = {};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  CUresult copied;
  copied = cuMemcpyBatchAsync(targets, sources, sizes, 2, &attributes, &first, 1, stream);  //~ copy
  cudaStreamSynchronize(stream);
  cudaStreamSynchronize(other);
  cudaMemcpy(&h[0], c, 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(&h[1], d, 4, cudaMemcpyDeviceToHost);
  printf("copied %d %d %d\n", copied, h[0], h[1]);

  CUgraph graph;
  cuGraphCreate(&graph, 0);
  int value = 7;
  void* arguments[] = {&a, &value};
  cudaKernelNodeParams parameters = {};
  parameters.func = (void*)store;
  parameters.gridDim = parameters.blockDim = dim3(1);
  parameters.kernelParams = arguments;
  cudaGraphNode_t node;
  cudaGraphAddKernelNode(&node, graph, nullptr, 0, &parameters);
  CUkernelNodeAttrValue wanted = {}, found = {};
  const int set = cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &wanted);
  const int got = cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &found);
  printf("priority %d %d %d\n", set, got, found.priority);

  CUuserObject object;
  cuUserObjectCreate(
      &object, nullptr, [](void*) { ++destroyed; }, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
  cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE);
  cuGraphDestroy(graph);
  cudaDeviceSynchronize();
  printf("destroyed %d\n", destroyed);
  return 0;
}
