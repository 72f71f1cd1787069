// Graphs that kernels of graphs launch: fired and forgotten, as siblings, and after the graph itself,
// which may go on for as long as a kernel asks for it.
// build: -arch=compute_90 -rdc=true -lcudadevrt
// alone: it is linked with the device runtime
// case forget: | | forget
// expect forget: clean
// prints forget: 0 8
// case tail: | | tail
// expect tail: clean
// prints tail: 0 0
// prints tail: 9
// case itself: | | itself
// expect itself: clean
// prints itself: rounds 5
// case early: | | early
// expect early: error data-race stored added
// case beside: | | beside
// expect beside: error data-race overwritten added
// case sibling: | | sibling
// expect sibling: error data-race x2 doubled added
// case twice: | | twice
// expect twice: clean
// prints twice: 0 1
// prints twice: 8
// case not_uploaded: | | not-uploaded
// expect not_uploaded: clean
// prints not_uploaded: 1 0
// case outside: | | outside
// expect outside: clean
// prints outside: 1 0
// case unfit: | | unfit
// expect unfit: note api-error
// prints unfit: cudaErrorInvalidValue 3 1
// case kernel_in_filled_heap: | --heap 254 | kernel
// expect kernel_in_filled_heap: clean
// prints kernel_in_filled_heap: 8
// case endless: | --limit 50 | endless
// expect endless: error deadlock repeats
// says endless: after 50 rounds of its body the condition of a while node still holds
#include <cstdio>
#include <cstring>

struct Numbers {
  int before, stored, sum, rounds;
};

__global__ void prepare(Numbers* numbers) { numbers->before = 3; }
__global__ void add(Numbers* numbers) { numbers->sum = numbers->before + numbers->stored; }  //~ added
__global__ void twice(Numbers* numbers) { numbers->sum *= 2; }  //~ doubled
__global__ void overwrite(Numbers* numbers) { numbers->sum = 7; }  //~ overwritten
__global__ void increase(Numbers* numbers) { ++numbers->sum; }
__global__ void count(Numbers* numbers, cudaGraphConditionalHandle loop) {
  if (++numbers->rounds == 0) cudaGraphSetConditional(loop, 0);
}

// A while node whose body counts, and has no end in reach.
void count_in_graph(Numbers* numbers) {
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);
  cudaGraphConditionalHandle loop;
  cudaGraphConditionalHandleCreate(&loop, graph, 1, cudaGraphCondAssignDefault);
  cudaGraphNodeParams choice{};
  choice.type = cudaGraphNodeTypeConditional;
  choice.conditional.handle = loop;
  choice.conditional.type = cudaGraphCondTypeWhile;
  choice.conditional.size = 1;
  cudaGraphNode_t node;
  cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &choice);  //~ repeats
  cudaKernelNodeParams kernel{};
  void* of_count[] = {&numbers, &loop};
  kernel.func = (void*)count;
  kernel.gridDim = kernel.blockDim = dim3(1);
  kernel.kernelParams = of_count;
  cudaGraphAddKernelNode(&node, choice.conditional.phGraph_out[0], nullptr, 0, &kernel);
  cudaGraphExec_t executable;
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, 0);
  cudaDeviceSynchronize();
}

// Each launches graph `first`, then `second`, if they are not null.
__global__ void start(Numbers* numbers, cudaGraphExec_t first, cudaStream_t first_in,
                      cudaGraphExec_t second, cudaStream_t second_in) {
  if (threadIdx.x != 0) return;
  numbers->stored = 5;
  const int error = cudaGraphLaunch(first, first_in);
  printf("%d", error != 0);
  if (second == nullptr) {
    printf(" ");
    return;
  }
  printf(" %d\n", cudaGraphLaunch(second, second_in) != 0);
}
__global__ void start_early(Numbers* numbers, cudaGraphExec_t graph) {
  cudaGraphLaunch(graph, cudaStreamGraphFireAndForget);
  numbers->stored = 5;  //~ stored
}
__global__ void start_kernel(Numbers* numbers) {
  *numbers = {3, 5, 0, 0};
  add<<<1, 1>>>(numbers);
}
__global__ void repeat(Numbers* numbers) {
  if (++numbers->rounds < 5) cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
}

constexpr auto kForDevice = cudaGraphInstantiateFlagDeviceLaunch;
cudaStream_t stream;

template <class Request>
cudaGraphExec_t graph_of(Request request, unsigned long long flags, bool upload = true) {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  request();
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&executable, graph, flags);
  if (flags != 0 && upload) cudaGraphUpload(executable, stream);
  return executable;
}

int main(int, char** arguments) {
  const auto is = [&](const char* name) { return std::strcmp(arguments[1], name) == 0; };
  Numbers *numbers, found;
  cudaMalloc(&numbers, sizeof(Numbers));
  cudaMemset(numbers, 0, sizeof(Numbers));
  cudaStreamCreate(&stream);
  if (is("endless")) {
    count_in_graph(numbers);
    return 0;
  }
  if (is("kernel")) {
    start_kernel<<<1, 1>>>(numbers);
    cudaMemcpy(&found, numbers, sizeof found, cudaMemcpyDeviceToHost);
    std::printf("%d\n", found.sum);
    return 0;
  }
  if (is("unfit")) {
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaHostNodeParams host{[](void*) {}, nullptr};
    cudaGraphCreate(&graph, 0);
    cudaGraphAddHostNode(&node, graph, nullptr, 0, &host);
    cudaGraphInstantiateParams parameters{};
    parameters.flags = kForDevice;
    cudaGraphExec_t executable;
    const auto error = cudaGraphInstantiateWithParams(&executable, graph, &parameters);
    std::printf("%s %d %d\n", cudaGetErrorName(error), parameters.result_out,
                parameters.errNode_out == node);
    return 0;
  }
  const cudaGraphExec_t added = graph_of([&] { add<<<1, 1, 0, stream>>>(numbers); }, kForDevice,
                                         !is("not-uploaded"));
  cudaGraphExec_t second = nullptr;
  if (is("sibling")) second = graph_of([&] { twice<<<1, 1, 0, stream>>>(numbers); }, kForDevice);
  if (is("tail")) second = graph_of([&] { increase<<<1, 1, 0, stream>>>(numbers); }, kForDevice);
  if (is("twice")) second = added;
  if (is("itself")) {
    const cudaGraphExec_t repeated =
        graph_of([&] { repeat<<<1, 1, 0, stream>>>(numbers); }, kForDevice);
    cudaGraphLaunch(repeated, stream);
  } else if (is("outside")) {
    start<<<1, 1, 0, stream>>>(numbers, added, cudaStreamGraphFireAndForget, nullptr, nullptr);
  } else {
    const cudaGraphExec_t graph = graph_of(
        [&] {
          prepare<<<1, 1, 0, stream>>>(numbers);
          if (is("early")) {
            start_early<<<1, 1, 0, stream>>>(numbers, added);
          } else {
            start<<<1, 32, 0, stream>>>(
                numbers, added, is("sibling") ? cudaStreamGraphFireAndForgetAsSibling : cudaStreamGraphFireAndForget, second,
                is("twice") ? cudaStreamGraphFireAndForget : cudaStreamGraphTailLaunch);
          }
          if (is("beside")) overwrite<<<1, 1, 0, stream>>>(numbers);
        },
        0);
    cudaGraphLaunch(graph, stream);
  }
  cudaMemcpyAsync(&found, numbers, sizeof found, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  if (is("itself"))
    std::printf("rounds %d\n", found.rounds);
  else
    std::printf("%d\n", found.sum);
}
