// A kernel that works and counts until the host tells it to stop, and a host that looks after it.
//
// The mutant's host waits for the kernel without having told it, and the kernel has nothing left to
// count.
// expect: deadlock
// varies: the host tells the kernel to stop when it has seen it work
#include <chrono>
#include <thread>

#include "check.hpp"

__global__ void work(volatile int* stop, volatile int* beat, int beats, float* out) {
  float x = static_cast<float>(threadIdx.x);
  for (int count = 0; !*stop;) {  //~
    if (count == beats) continue;
    ++count;
    x = 0.5f * x + 1.f;
    if (threadIdx.x == 0) *beat = count;
  }
  out[threadIdx.x] = x;
}

int main() {
#ifdef MUTANT
  constexpr int kBeats = 100;
#else
  constexpr int kBeats = 1 << 30;
#endif
  int* shared;
  require(cudaMallocManaged(&shared, 16384));
  volatile int *stop = shared, *beat = shared + 2048;
  *stop = *beat = 0;
  float* out;
  require(cudaMalloc(&out, 32 * sizeof(float)));
  cudaStream_t runs, others;
  require(cudaStreamCreateWithFlags(&runs, cudaStreamNonBlocking));
  require(cudaStreamCreateWithFlags(&others, cudaStreamNonBlocking));
  work<<<1, 32, 0, runs>>>(shared, shared + 2048, kBeats, out);
  int last = 0, changes = 0;
  while (changes < 3) {
    if (cudaStreamQuery(runs) != cudaErrorNotReady) return verdict(false);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const int now = *beat;
    changes += now != last;
    last = now;
#ifdef MUTANT
    if (now == kBeats) break;
#endif
  }
  int* other;
  require(cudaMalloc(&other, 1024));
  require(cudaMemsetAsync(other, 0, 1024, others));
  require(cudaStreamSynchronize(others));
#ifndef MUTANT
  *stop = 1;
#endif
  require(cudaStreamSynchronize(runs));
  for (cudaStream_t stream : {runs, others}) require(cudaStreamDestroy(stream));
  require(cudaFree(other));
  require(cudaFree(out));
  require(cudaFree(shared));
  return verdict(true);
}
