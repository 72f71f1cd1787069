// Memory of graphs: used after the node that frees it, by reads, writes and copies, in the graph and outside;
// used by nodes that no edge orders.
// case read_in_graph: | | 0
// expect read_in_graph: error use-after-free use free_node
// case written_in_graph: | | 1
// expect written_in_graph: error use-after-free fill free_node
// case read_outside: | | 2
// expect read_outside: error use-after-free use free_node
// case copied_outside: | | 3
// expect copied_outside: error use-after-free copy free_node
// case captured: | | 4
// expect captured: error use-after-free use free_captured
// case ordered: | | 5
// expect ordered: clean
// case freed_later: | | 6
// expect freed_later: clean
// case captured_ordered: | | 7
// expect captured_ordered: clean
// case copied_beside: | | 8
// expect copied_beside: error data-race beside use
// says copied_beside: nothing orders the kernel of (1) and cudaGraphAddMemcpyNode1D (2): no path of the graph's edges leads from one to the other
// says copied_beside: hint: Order the two: the same stream, an event (cudaEventRecord, cudaStreamWaitEvent), or a wait of the host; nodes of a graph by an edge (cudaGraphAddDependencies)
// case copied_behind: | | 9
// expect copied_behind: clean
// case added_beside: | | 10
// expect added_beside: error data-race use
// expect added_beside: note data-race use
// says added_beside: no stream, event, edge of a graph or wait of the host leads from one to the other
#include <cstdlib>
#include <vector>

constexpr int kCount = 64;

__global__ void fill(int* p) { p[threadIdx.x] = threadIdx.x; }           //~ fill
__global__ void add(const int* p, int* out) { out[threadIdx.x] += p[threadIdx.x]; }  //~ use

using Node = cudaGraphNode_t;

Node kernel(cudaGraph_t graph, const std::vector<Node>& after, void* function, void** arguments) {
  cudaKernelNodeParams parameters{};
  parameters.func = function;
  parameters.gridDim = 1;
  parameters.blockDim = kCount;
  parameters.kernelParams = arguments;
  Node node;
  cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &parameters);
  return node;
}

void run_twice(cudaGraph_t graph, bool frees_between, int* memory) {
  cudaGraphExec_t executable;
  cudaGraphInstantiate(&executable, graph, 0);
  for (int i = 0; i < 2; ++i) {
    cudaGraphLaunch(executable, 0);
    if (frees_between) cudaFreeAsync(memory, 0);
  }
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(executable);
}

void capture(int* out, bool frees_early) {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  int* p;
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaMallocAsync(&p, kCount * sizeof(int), stream);
  fill<<<1, kCount, 0, stream>>>(p);
  if (frees_early) cudaFreeAsync(p, stream);  //~ free_captured
  add<<<1, kCount, 0, stream>>>(p, out);
  if (!frees_early) cudaFreeAsync(p, stream);
  cudaStreamEndCapture(stream, &graph);
  run_twice(graph, false, p);
}

int main(int, char** arguments) {
  const int kind = atoi(arguments[1]);
  int* out;
  cudaMalloc(&out, kCount * sizeof(int));
  cudaMemset(out, 0, kCount * sizeof(int));
  if (kind == 4 || kind == 7) {
    capture(out, kind == 4);
    return 0;
  }
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaMemAllocNodeParams parameters{};
  parameters.poolProps.allocType = cudaMemAllocationTypePinned;
  parameters.poolProps.location = {cudaMemLocationTypeDevice, 0};
  parameters.bytesize = kCount * sizeof(int);
  Node made, freed;
  cudaGraphAddMemAllocNode(&made, graph, nullptr, 0, &parameters);
  int* p = (int*)parameters.dptr;
  void* of_fill[] = {&p};
  void* of_add[] = {&p, &out};
  Node last = kernel(graph, {made}, (void*)fill, of_fill);
  const Node filled = last;
  if (kind == 5 || kind >= 8) last = kernel(graph, {last}, (void*)add, of_add);
  int copied[kCount];
  if (kind == 8 || kind == 9) {
    Node copy;
    const Node* const after = kind == 8 ? &filled : &last;
    cudaGraphAddMemcpyNode1D(&copy, graph, after, 1, copied, out, sizeof copied, cudaMemcpyDeviceToHost);  //~ beside
  }
  void* of_sum[] = {&out, &out};
  if (kind == 10) kernel(graph, {filled}, (void*)add, of_sum);
  if (kind != 6) cudaGraphAddMemFreeNode(&freed, graph, &last, 1, p);  //~ free_node
  if (kind == 0) kernel(graph, {freed}, (void*)add, of_add);
  if (kind == 1) kernel(graph, {freed}, (void*)fill, of_fill);
  run_twice(graph, kind == 6, p);
  if (kind == 2) add<<<1, kCount>>>(p, out);
  if (kind == 3) cudaMemcpy(out, p, kCount * sizeof(int), cudaMemcpyDeviceToDevice);  //~ copy
  cudaDeviceSynchronize();
  return 0;
}
