// Chains of kernels that may begin before those before them have completed (programmatic dependent
// launches), in a stream and in graphs.
//
// A run without an argument is right.  With one it has that defect:
// clang-format off
// defect reads_early: data-race; the kernel of (1) lets that of (2) begin early (programmatic dependent launch), and (2) does not come after cudaGridDependencySynchronize()
// defect never_waits: data-race; the kernel of (2) may begin before what that of (1) has written is visible (programmatic dependent launch): it never calls cudaGridDependencySynchronize()
// defect lets_first: data-race; programmatic dependent launches: a kernel between the two lets the next one begin before it has waited for that of (1), and (2) does not come after cudaGridDependencySynchronize()
// defect gap: data-race; programmatic dependent launches: a kernel between the two does not call cudaGridDependencySynchronize(), so waiting for it is no wait for that of (1)
// defect begun: data-race; nothing orders these two kernel launches: no stream, event, edge of a graph or wait of the host leads from one to the other
// defect captured: data-race; the kernel of (1) lets that of (2) begin early (programmatic dependent launch), and (2) does not come after cudaGridDependencySynchronize()
// defect edge: data-race; the kernel of (1) lets that of (2) begin early (programmatic dependent launch), and (2) does not come after cudaGridDependencySynchronize()
// clang-format on
#include <cstring>

#include "../check.hpp"

constexpr int kBlocks = 4, kThreads = 64, kCount = kBlocks * kThreads;
enum Defect { none, reads_early, never_waits, lets_first, gap, begun, captured, edge, defects };

// What a kernel of a chain does when.
struct Stage {
  bool lets_first, waits, lets_last;
};

__global__ void first(int* data, bool lets) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  data[i] = i;  //~ reads_early never_waits lets_first gap begun captured edge
  if (lets) cudaTriggerProgrammaticLaunchCompletion();
}

__global__ void between(int* other, Stage stage) {
  if (stage.lets_first) cudaTriggerProgrammaticLaunchCompletion();
  // One thread waits for its block.
  if (stage.waits && threadIdx.x == 0) cudaGridDependencySynchronize();
  __syncthreads();
  other[blockIdx.x * kThreads + threadIdx.x] = 1;
  if (stage.lets_last) cudaTriggerProgrammaticLaunchCompletion();
}

// Reads what `first` has written, before or after it waits, and overwrites what it has read itself.
__global__ void last(const int* data, int* out, bool early) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  int value = 0;
  if (early) value = data[i];  //~ reads_early lets_first begun captured edge
  cudaGridDependencySynchronize();
  if (!early) value = data[i];  //~ gap
  out[i] = 2 * value;
}

// Reads what the next one overwrites before it waits.
__global__ void reads(const int* out, int* sum) {
  if (blockIdx.x == 0) atomicAdd(sum, out[threadIdx.x]);  //~ never_waits
}
__global__ void overwrites(int* out) {
  out[blockIdx.x * kThreads + threadIdx.x] = 5;
  cudaGridDependencySynchronize();
}

template <typename... Parameters, typename... Arguments>
void launch(cudaStream_t stream, void (*kernel)(Parameters...), Arguments... arguments) {
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = kBlocks;
  config.blockDim = kThreads;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  require(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
}

// In another stream, when all blocks of `first` have begun.
void run_beside(cudaStream_t stream, int* data, int* other, int* out, bool reads) {
  cudaStream_t second;
  cudaEvent_t begun;
  require(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  require(cudaEventCreateWithFlags(&begun, cudaEventDisableTiming));
  cudaLaunchAttribute attributes[3] = {};
  attributes[0].id = cudaLaunchAttributeLaunchCompletionEvent;
  attributes[0].val.launchCompletionEvent.event = begun;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim = {1, 1, 1};
  attributes[2].id = cudaLaunchAttributePreferredClusterDimension;
  attributes[2].val.preferredClusterDim = {2, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = kBlocks;
  config.blockDim = kThreads;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = 3;
  require(cudaLaunchKernelEx(&config, first, data, false));
  require(cudaStreamWaitEvent(second, begun));
  if (reads) {
    last<<<kBlocks, kThreads, 0, second>>>(data, out, true);
  } else {
    between<<<kBlocks, kThreads, 0, second>>>(other, Stage{});
  }
  require(cudaStreamSynchronize(second));
  require(cudaStreamSynchronize(stream));
  require(cudaEventDestroy(begun));
  require(cudaStreamDestroy(second));
}

void run(cudaStream_t stream, cudaGraph_t graph) {
  cudaGraphExec_t executable;
  require(cudaGraphInstantiate(&executable, graph, 0));
  require(cudaGraphLaunch(executable, stream));
  require(cudaStreamSynchronize(stream));
  require(cudaGraphExecDestroy(executable));
  require(cudaGraphDestroy(graph));
}

// Two nodes, and an edge by which the second need not wait.
void run_with_edge(cudaStream_t stream, int* data, int* out, bool early) {
  cudaGraph_t graph;
  require(cudaGraphCreate(&graph, 0));
  bool lets = true;
  void *first_arguments[] = {&data, &lets}, *last_arguments[] = {&data, &out, &early};
  cudaKernelNodeParams node = {};
  node.gridDim = kBlocks;
  node.blockDim = kThreads;
  node.func = reinterpret_cast<void*>(first);
  node.kernelParams = first_arguments;
  cudaGraphNode_t from, to;
  require(cudaGraphAddKernelNode(&from, graph, nullptr, 0, &node));
  node.func = reinterpret_cast<void*>(last);
  node.kernelParams = last_arguments;
  require(cudaGraphAddKernelNode(&to, graph, nullptr, 0, &node));
  cudaGraphEdgeData data_of_edge = {};
  data_of_edge.from_port = cudaGraphKernelNodePortProgrammatic;
  data_of_edge.type = cudaGraphDependencyTypeProgrammatic;
  require(cudaGraphAddDependencies(graph, &from, &to, &data_of_edge, 1));
  run(stream, graph);
}

int main(int count, char** arguments) {
  const char* const names[] = {"none", "reads_early", "never_waits", "lets_first",
                               "gap",  "begun",       "captured",    "edge"};
  Defect defect = none;
  for (int i = 0; i < defects; ++i) {
    if (count > 1 && std::strcmp(arguments[1], names[i]) == 0) defect = static_cast<Defect>(i);
  }
  int *data, *other, *out, *sum;
  for (int** memory : {&data, &other, &out, &sum})
    require(cudaMalloc(memory, kCount * sizeof(int)));
  require(cudaMemset(sum, 0, sizeof(int)));
  cudaStream_t stream;
  require(cudaStreamCreate(&stream));

  first<<<kBlocks, kThreads, 0, stream>>>(data, true);
  launch(stream, last, data, out, defect == reads_early);
  require(cudaStreamSynchronize(stream));

  // It lets nobody begin; who waits at all is believed to know.
  first<<<kBlocks, kThreads, 0, stream>>>(data, false);
  launch(stream, last, data, out, true);
  require(cudaStreamSynchronize(stream));
  first<<<kBlocks, kThreads, 0, stream>>>(data, false);
  if (defect == never_waits) {
    launch(stream, reads, data, sum);
  } else {
    reads<<<kBlocks, kThreads, 0, stream>>>(data, sum);
  }
  require(cudaStreamSynchronize(stream));
  reads<<<kBlocks, kThreads, 0, stream>>>(out, sum);
  launch(stream, overwrites, out);
  require(cudaStreamSynchronize(stream));

  first<<<kBlocks, kThreads, 0, stream>>>(data, true);
  launch(stream, between, other, Stage{true, true, false});
  launch(stream, last, data, out, defect == lets_first);
  require(cudaStreamSynchronize(stream));

  // Who waits before it lets the next one begin hands on that all before it have completed.
  first<<<kBlocks, kThreads, 0, stream>>>(data, true);
  launch(stream, between, other, Stage{false, true, true});
  launch(stream, last, data, out, true);
  require(cudaStreamSynchronize(stream));

  first<<<kBlocks, kThreads, 0, stream>>>(data, true);
  launch(stream, between, other, Stage{true, defect != gap, false});
  launch(stream, last, data, out, false);
  require(cudaStreamSynchronize(stream));

  run_beside(stream, data, other, out, defect == begun);

  cudaGraph_t graph;
  require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  first<<<kBlocks, kThreads, 0, stream>>>(data, true);
  launch(stream, last, data, out, defect == captured);
  require(cudaStreamEndCapture(stream, &graph));
  run(stream, graph);
  run_with_edge(stream, data, out, defect == edge);

  int found[kCount];
  require(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
  bool is_right = true;
  for (int i = 0; i < kCount; ++i) is_right &= found[i] == 2 * i;
  require(cudaStreamDestroy(stream));
  for (int* memory : {data, other, out, sum}) require(cudaFree(memory));
  return verdict(is_right);
}
