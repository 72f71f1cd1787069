// A capture that forks to a second stream and joins, with memory of the graph; launched twice.
// MUTANT: the second stream is joined too late.
// expect: data-race
#include "check.hpp"

__global__ void set(int* data, int value) { data[threadIdx.x] = value; }  //~
__global__ void sum(const int* a, const int* b, int* out) {
  out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];  //~
}

cudaGraph_t capture(cudaStream_t main, cudaStream_t side, int* a, int* b, int* out, int value) {
  cudaEvent_t forked, joined;
  require(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
  require(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
  cudaGraph_t graph;
  require(cudaStreamBeginCapture(main, cudaStreamCaptureModeThreadLocal));
  require(cudaEventRecord(forked, main));
  require(cudaStreamWaitEvent(side, forked));
  set<<<1, 64, 0, main>>>(a, value);
  set<<<1, 64, 0, side>>>(b, 2);
  require(cudaEventRecord(joined, side));
#ifndef MUTANT
  require(cudaStreamWaitEvent(main, joined));
#endif
  sum<<<1, 64, 0, main>>>(a, b, out);
#ifdef MUTANT
  require(cudaStreamWaitEvent(main, joined));
#endif
  int* scratch;
  require(cudaMallocAsync(&scratch, 64 * sizeof(int), main));
  set<<<1, 64, 0, main>>>(scratch, 3);
  require(cudaFreeAsync(scratch, main));
  cudaStreamCaptureStatus status;
  require(cudaStreamIsCapturing(main, &status));
  require(cudaStreamEndCapture(main, &graph));
  require(cudaEventDestroy(joined));
  require(cudaEventDestroy(forked));
  return graph;
}

int main() {
  cudaStream_t main, side;
  require(cudaStreamCreateWithFlags(&main, cudaStreamNonBlocking));
  require(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
  Buffer<int> a(64), b(64), out(64);
  bool is_right = true;
  cudaGraph_t graph = capture(main, side, a, b, out, 1);
  cudaGraphExec_t executable;
  require(cudaGraphInstantiateWithFlags(&executable, graph, 0));
  for (int round = 0; round < 2; ++round) {
    require(cudaGraphLaunch(executable, main));
    require(cudaStreamSynchronize(main));
    is_right &= out[round] == 3;
  }
  require(cudaGraphExecDestroy(executable));
  require(cudaGraphDestroy(graph));
  require(cudaStreamDestroy(side));
  require(cudaStreamDestroy(main));
  return verdict(is_right);
}
