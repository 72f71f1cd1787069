// Graphs whose shape depends on what kernels find: conditional nodes; beside them copies to and
// from variables, attributes of nodes, objects that a graph keeps alive, a picture, and a batch of
// copies.
//
// A run without an argument is right.  With one it has that defect:
// clang-format off
// nvcc: -rdc=true -lcudadevrt
// defect branches: data-race; nothing orders these two kernel launches: no stream, event, edge of a graph or wait of the host leads from one to the other
// defect body_bounds: out-of-bounds; (1) is outside every allocation
// clang-format on
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "../check.hpp"

__device__ int bonus;

__global__ void count_down(cudaGraphConditionalHandle loop, int* left) {
  *left -= 1;
  cudaGraphSetConditional(loop, *left > 0);
}

__global__ void add(int* sum, int amount, int at) {
  sum[at] += amount + bonus;  //~ branches body_bounds
}

__global__ void choose(cudaGraphConditionalHandle chosen, int value) {
  cudaGraphSetConditional(chosen, value);
}

cudaGraphNode_t add_kernel(cudaGraph_t graph, const cudaGraphNode_t* after, int amount, int* sum,
                           int at = 0) {
  void* arguments[] = {&sum, &amount, &at};
  cudaKernelNodeParams parameters{};
  parameters.func = reinterpret_cast<void*>(add);
  parameters.gridDim = parameters.blockDim = dim3(1);
  parameters.kernelParams = arguments;
  cudaGraphNode_t node;
  require(cudaGraphAddKernelNode(&node, graph, after, after == nullptr ? 0 : 1, &parameters));
  return node;
}

cudaGraphNode_t add_choice(cudaGraph_t graph, const cudaGraphNode_t* after,
                           cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type,
                           unsigned bodies, cudaGraph_t* out) {
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeConditional;
  parameters.conditional.handle = handle;
  parameters.conditional.type = type;
  parameters.conditional.size = bodies;
  cudaGraphNode_t node;
  require(cudaGraphAddNode(&node, graph, after, nullptr, after == nullptr ? 0 : 1, &parameters));
  for (unsigned i = 0; i < bodies; ++i) out[i] = parameters.conditional.phGraph_out[i];
  return node;
}

void note_end(void* ended) { ++*static_cast<int*>(ended); }

bool keeps_attribute(cudaGraphNode_t node) {
  cudaLaunchAttributeValue value{}, back{};
  value.priority = -1;
  require(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributePriority, &value));
  require(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributePriority, &back));
  return back.priority == -1;
}

bool has_picture(cudaGraph_t graph, const std::string& file) {
  require(cudaGraphDebugDotPrint(graph, file.c_str(), 0));
  std::string text;
  std::getline(std::ifstream(file), text);
  std::remove(file.c_str());
  return text == "digraph dot {";
}

// Returns the sum for five rounds of the loop.
int run(cudaGraphExec_t executable, cudaStream_t stream, int* left, int* sum) {
  const int start[2] = {5, 0};
  void* targets[] = {left, sum};
  const void* sources[] = {&start[0], &start[1]};
  const std::size_t sizes[] = {sizeof(int), sizeof(int)};
  std::size_t at[] = {0};
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
  require(cudaMemcpyBatchAsync(targets, sources, sizes, 2, &attributes, at, 1, stream));
  require(cudaGraphLaunch(executable, stream));
  int result = 0;
  require(cudaMemcpyAsync(&result, sum, sizeof(int), cudaMemcpyDeviceToHost, stream));
  require(cudaStreamSynchronize(stream));
  return result;
}

int main(int count, char** arguments) {
  const auto has = [&](const char* defect) {
    return count > 1 && std::strcmp(arguments[1], defect) == 0;
  };
  int *left, *sum, ended = 0;
  const int two = 2;
  require(cudaMalloc(&left, sizeof(int)));
  require(cudaMalloc(&sum, sizeof(int)));
  cudaStream_t stream;
  require(cudaStreamCreate(&stream));

  cudaGraph_t graph, body, cases[3], branch[2];
  require(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t set;
  require(cudaGraphAddMemcpyNodeToSymbol(&set, graph, nullptr, 0, bonus, &two, sizeof(int), 0,
                                         cudaMemcpyHostToDevice));
  cudaGraphConditionalHandle loop, chosen, never;
  require(cudaGraphConditionalHandleCreate(&loop, graph, 1, cudaGraphCondAssignDefault));
  require(cudaGraphConditionalHandleCreate(&chosen, graph, 0, 0));
  require(cudaGraphConditionalHandleCreate(&never, graph, 0, cudaGraphCondAssignDefault));
  // While: adds 10 + bonus five times.
  const cudaGraphNode_t during = add_choice(graph, &set, loop, cudaGraphCondTypeWhile, 1, &body);
  const cudaGraphNode_t first = add_kernel(body, nullptr, 10, sum, has("body_bounds") ? 4096 : 0);
  if (has("branches")) add_kernel(body, nullptr, 1, sum);  // beside the first
  require(
      cudaStreamBeginCaptureToGraph(stream, body, &first, nullptr, 1, cudaStreamCaptureModeGlobal));
  count_down<<<1, 1, 0, stream>>>(loop, left);
  require(cudaStreamEndCapture(stream, nullptr));
  // Switch: the second of three.
  require(cudaStreamBeginCaptureToGraph(stream, graph, &during, nullptr, 1,
                                        cudaStreamCaptureModeGlobal));
  choose<<<1, 1, 0, stream>>>(chosen, 1);
  cudaStreamCaptureStatus status;
  const cudaGraphNode_t* last;
  std::size_t last_count;
  require(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &last, nullptr, &last_count));
  const cudaGraphNode_t chooses = *last;
  require(cudaStreamEndCapture(stream, nullptr));
  const cudaGraphNode_t switches =
      add_choice(graph, &chooses, chosen, cudaGraphCondTypeSwitch, 3, cases);
  for (int i = 0; i < 3; ++i) add_kernel(cases[i], nullptr, 1000 * i, sum);
  // If, else.
  add_choice(graph, &switches, never, cudaGraphCondTypeIf, 2, branch);
  add_kernel(branch[0], nullptr, 100000, sum);
  add_kernel(branch[1], nullptr, 20000, sum);

  bool is_right = keeps_attribute(first) && has_picture(graph, std::string(arguments[0]) + ".dot");
  cudaUserObject_t object;
  require(cudaUserObjectCreate(&object, &ended, note_end, 1, cudaUserObjectNoDestructorSync));
  require(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  cudaGraphExec_t executable;
  require(cudaGraphInstantiate(&executable, graph, 0));
  require(cudaGraphDestroy(graph));
  is_right &= ended == 0;  // the executable graph has it, too
  for (int i = 0; i < 2; ++i) {
    is_right &= run(executable, stream, left, sum) == 5 * 12 + 1002 + 20002;
  }
  require(cudaGraphExecDestroy(executable));
  is_right &= ended == 1;
  require(cudaFree(left));
  require(cudaFree(sum));
  return verdict(is_right);
}
