// Copies that read memory of the program when they run in their stream, and not at their call: a
// source that the program changes or frees before is a defect.  Which copies do so: batches in
// stream order, registered memory, copy nodes of graphs.  Not those that take pageable memory at
// their call.  And sources that a batch may read before its turn, although a kernel before it in the
// stream writes them.
// case freed_small: | | 0 100
// expect freed_small: error data-race batch
// says freed_small: cudaMemcpyBatchAsync (1) reads memory of the host when it runs in its stream, and the program has changed or freed that memory since the call
// case freed_large: | | 0 1000000
// expect freed_large: error use-after-free batch
// says freed_large: the program has freed that memory since: it is no longer mapped
// case local: | | 1 100
// expect local: error use-after-free batch
// says local: a local variable of a function that has returned
// case changed: | | 2 100
// expect changed: error data-race batch
// case during_call: | | 3 100
// expect during_call: clean
// prints during_call: ok
// case waits: | | 4 100
// expect waits: clean
// prints waits: ok
// case pageable: | | 5 100
// expect pageable: clean
// prints pageable: ok
// case registered: | | 6 100
// expect registered: error data-race registered
// case graph: | | 7 100
// expect graph: error data-race graph
// case captured: | | 8 100
// expect captured: error use-after-free captured
// case host_function: | | 9 100
// expect host_function: clean
// prints host_function: ok
// case round_trip: | | 10 100
// expect round_trip: clean
// prints round_trip: ok
// case graph_again: | | 11 100
// expect graph_again: clean
// prints graph_again: ok
// case pitched: | | 12 100
// expect pitched: error data-race pitched
// case between_rows: | | 13 100
// expect between_rows: clean
// case local_target: | | 14 100
// expect local_target: error use-after-free batch
// case symbol: | | 15 100
// expect symbol: clean
// prints symbol: ok
// case any_after_kernel: | | 16 100
// expect any_after_kernel: error data-race put batch
// case any_after_wait: | | 17 100
// expect any_after_wait: clean
// prints any_after_wait: ok
// case in_call_after_kernel: | | 18 100
// expect in_call_after_kernel: error data-race put batch
// case any_before_kernel: | | 19 100
// expect any_before_kernel: clean
// prints any_before_kernel: ok
// case locked_after_kernel: | | 20 100
// expect locked_after_kernel: error data-race put batch
// case locked_during_call: | | 21 100
// expect locked_during_call: clean
// prints locked_during_call: ok
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void busy(int* p) {
  for (int r = 0; r < 100; ++r) p[threadIdx.x] = p[threadIdx.x] * 3 + 1;
}
__global__ void put(int* p, int value) { p[threadIdx.x] = value; }  //~ put
__device__ int variable[100];

int kind, n;
cudaStream_t stream;
int *to, *back;

void batch(void* target, const void* source, size_t bytes, cudaMemcpySrcAccessOrder order) {
  void* targets[] = {target};
  const void* sources[] = {source};
  const size_t sizes[] = {bytes};
  cudaMemcpyAttributes attributes = {};
  attributes.srcAccessOrder = order;
  size_t first = 0;
  cudaMemcpyBatchAsync(targets, sources, sizes, 1, &attributes, &first, 1, stream);  //~ batch
}

// The memory lies far from all other, so nothing takes its place when it is unmapped.
void upload_far() {
  const size_t bytes = n * sizeof(int);
  void* const wanted = reinterpret_cast<void*>(0x300000000000);
  void* const memory =
      mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < n; ++i) static_cast<int*>(memory)[i] = 7;
  batch(to, memory, bytes, cudaMemcpySrcAccessOrderStream);
  munmap(memory, bytes);
}

void upload(cudaMemcpySrcAccessOrder order) {
  std::vector<int> staging(n, 7);
  batch(to, staging.data(), n * sizeof(int), order);
  if (kind == 4) cudaStreamSynchronize(stream);
}

__attribute__((noinline)) void upload_local() {
  int staging[100];
  for (int& one : staging) one = 7;
  batch(to, staging, sizeof staging, cudaMemcpySrcAccessOrderAny);
}

__attribute__((noinline)) void download_local() {
  int staging[100];
  for (int& one : staging) one = 7;
  batch(staging, to, sizeof staging, cudaMemcpySrcAccessOrderStream);
}

__attribute__((noinline)) cudaGraphExec_t capture_local() {
  int staging[100];
  for (int& one : staging) one = 7;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaMemcpyAsync(to, staging, sizeof staging, cudaMemcpyHostToDevice, stream);  //~ captured
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphDestroy(graph);
  cudaGraphLaunch(executable, stream);
  return executable;
}

// Sources that a kernel of the stream writes.
void copy_written(cudaMemcpySrcAccessOrder order, bool waits) {
  put<<<1, n, 0, stream>>>(back, 7);
  if (waits) cudaStreamSynchronize(stream);
  batch(to, back, n * sizeof(int), order);
}

void copy_locked(bool changes) {
  int* locked;
  cudaMallocHost(&locked, n * sizeof(int));
  for (int i = 0; i < n; ++i) locked[i] = 7;
  if (!changes) put<<<1, n, 0, stream>>>(locked, 7);
  batch(to, locked, n * sizeof(int),
        changes ? cudaMemcpySrcAccessOrderDuringApiCall : cudaMemcpySrcAccessOrderAny);
  for (int i = 0; changes && i < n; ++i) locked[i] = 8;
  cudaStreamSynchronize(stream);
  cudaFreeHost(locked);
}

void set_sevens(void* memory) {
  for (int i = 0; i < n; ++i) static_cast<int*>(memory)[i] = 7;
}

int main(int, char** arguments) {
  kind = atoi(arguments[1]);
  n = atoi(arguments[2]);
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int* work;
  cudaMalloc(&work, 4096);
  cudaMemset(work, 0, 4096);
  cudaMalloc(&to, n * sizeof(int));
  cudaMalloc(&back, n * sizeof(int));
  cudaMemset(to, 0, n * sizeof(int));
  cudaDeviceSynchronize();
  std::vector<int> host(n, 7);
  busy<<<1, 128, 0, stream>>>(work);
  if (kind == 0) n > 100 ? upload_far() : upload(cudaMemcpySrcAccessOrderStream);
  if (kind == 1) upload_local();
  if (kind == 2) {
    batch(to, host.data(), n * sizeof(int), cudaMemcpySrcAccessOrderStream);
    host[n / 2] = 8;
  }
  if (kind == 3) upload(cudaMemcpySrcAccessOrderDuringApiCall);
  if (kind == 4) upload(cudaMemcpySrcAccessOrderStream);
  if (kind == 5) {
    cudaMemcpyAsync(to, host.data(), n * sizeof(int), cudaMemcpyHostToDevice, stream);
    host.assign(n, 8);
  }
  if (kind == 6) {
    cudaHostRegister(host.data(), n * sizeof(int), 0);
    const size_t bytes = n * sizeof(int);
    cudaMemcpyAsync(to, host.data(), bytes, cudaMemcpyHostToDevice, stream);  //~ registered
    host[0] = 8;
    cudaStreamSynchronize(stream);
    cudaHostUnregister(host.data());
  }
  cudaGraphExec_t executable = nullptr;
  if (kind == 7 || kind == 11) {
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphCreate(&graph, 0);
    cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, to, host.data(), n * sizeof(int),  //~ graph
                             cudaMemcpyHostToDevice);
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphDestroy(graph);
    if (kind == 11) host.assign(n, 8);    // before it is launched
    cudaGraphLaunch(executable, stream);
    if (kind == 11) cudaStreamSynchronize(stream);
    host.assign(n, kind == 11 ? 7 : 8);
    if (kind == 11) cudaGraphLaunch(executable, stream);
  }
  if (kind == 8) executable = capture_local();
  if (kind == 9) {  // what runs before it in the stream writes the source
    host.assign(n, 1);
    cudaLaunchHostFunc(stream, set_sevens, host.data());
    batch(to, host.data(), n * sizeof(int), cudaMemcpySrcAccessOrderStream);
  }
  if (kind == 10) {
    cudaMemsetAsync(back, 0, n * sizeof(int), stream);
    host.assign(n, 1);
    batch(back, host.data(), n * sizeof(int), cudaMemcpySrcAccessOrderDuringApiCall);
    busy<<<1, 128, 0, stream>>>(work);
    std::vector<int> sevens(n, 7);
    batch(to, sevens.data(), n * sizeof(int), cudaMemcpySrcAccessOrderDuringApiCall);
    batch(host.data(), to, n * sizeof(int), cudaMemcpySrcAccessOrderStream);
    batch(to, host.data(), n * sizeof(int), cudaMemcpySrcAccessOrderStream);
    cudaStreamSynchronize(stream);
  }
  if (kind == 12 || kind == 13) {
    cudaHostRegister(host.data(), n * sizeof(int), 0);
    cudaMemcpy2DAsync(to, 40, host.data(), 40, 20, 10, cudaMemcpyHostToDevice, stream);  //~ pitched
    host[kind == 12 ? 12 : 17] = 8;
    cudaStreamSynchronize(stream);
    cudaHostUnregister(host.data());
  }
  if (kind == 14) download_local();
  if (kind == 15) {
    cudaMemcpyToSymbolAsync(variable, host.data(), sizeof variable, 0, cudaMemcpyHostToDevice,
                            stream);
    host.assign(n, 8);
    cudaMemcpyFromSymbolAsync(to, variable, sizeof variable, 0, cudaMemcpyDeviceToDevice, stream);
  }
  if (kind == 16 || kind == 17) copy_written(cudaMemcpySrcAccessOrderAny, kind == 17);
  if (kind == 18) copy_written(cudaMemcpySrcAccessOrderDuringApiCall, false);
  if (kind == 19) {
    copy_written(cudaMemcpySrcAccessOrderAny, true);
    put<<<1, n, 0, stream>>>(back, 8);
  }
  if (kind == 20 || kind == 21) copy_locked(kind == 21);
  cudaStreamSynchronize(stream);
  std::vector<int> result(n);
  cudaMemcpy(result.data(), to, n * sizeof(int), cudaMemcpyDeviceToHost);
  bool ok = true;
  for (int x : result) ok = ok && x == 7;
  puts(ok ? "ok" : "FAILED");
  if (executable != nullptr) cudaGraphExecDestroy(executable);
  cudaFree(work);
  cudaFree(to);
  cudaFree(back);
  cudaStreamDestroy(stream);
  return 0;
}
