// Streams of several priorities that wait for each other by events; times, queries, flags,
// identities.
// MUTANT: a stream does not wait for the one whose results it reads.
// expect: data-race
#include "check.hpp"

__global__ void fill(int* data, int value) { data[threadIdx.x] = value + threadIdx.x; }  //~
__global__ void sum(const int* a, const int* b, int* out) {
  out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];  //~
}

int main() {
  int least, greatest, priority;
  unsigned flags;
  require(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t first, second;
  require(cudaStreamCreateWithPriority(&first, cudaStreamNonBlocking, greatest));
  require(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  require(cudaStreamGetPriority(first, &priority));
  require(cudaStreamGetFlags(second, &flags));
  unsigned long long id, other_id;
  require(cudaStreamGetId(first, &id));
  require(cudaStreamGetId(second, &other_id));
  cudaEvent_t begin, filled, end;
  require(cudaEventCreate(&begin));
  require(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming));
  require(cudaEventCreateWithFlags(&end, cudaEventBlockingSync));
  Buffer<int> a(64), b(64), out(64);
  require(cudaEventRecord(begin, first));
  fill<<<1, 64, 0, first>>>(a, 5);
  require(cudaEventRecord(filled, first));
  fill<<<1, 64, 0, second>>>(b, 7);
#ifndef MUTANT
  require(cudaStreamWaitEvent(second, filled));
#endif
  sum<<<1, 64, 0, second>>>(a, b, out);
  require(cudaEventRecord(end, second));
  while (cudaEventQuery(end) == cudaErrorNotReady) {
  }
  require(cudaEventSynchronize(end));
  float milliseconds = -1;
  require(cudaEventElapsedTime(&milliseconds, begin, end));
  bool is_right = milliseconds >= 0 && priority == greatest && flags == cudaStreamNonBlocking;
  is_right &= id != other_id && cudaStreamQuery(second) == cudaSuccess;
  require(cudaStreamSynchronize(first));
  for (int i = 0; i < 64; ++i) is_right &= out[i] == 12 + 2 * i;
  for (cudaEvent_t each : {begin, filled, end}) require(cudaEventDestroy(each));
  require(cudaStreamDestroy(second));
  require(cudaStreamDestroy(first));
  return verdict(is_right);
}
