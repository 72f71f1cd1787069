// A worker that the host feeds through a ring of two slots in mapped memory, while it asks whether
// the worker has ended.
//
// The mutant's worker says that it has answered before its answer is out.
// expect: data-race
// varies: the host polls and sends while the worker runs
#include "check.hpp"

constexpr unsigned kSlots = 2, kItems = 20, kWords = 64;

struct Ring {
  volatile unsigned sent;
  unsigned pad[31];
  volatile unsigned answered;
  unsigned more[31];
  int in[kSlots][kWords], out[kItems][kWords];
};

__global__ void work(Ring* ring) {
  for (unsigned item = 0; item < kItems; ++item) {
    if (threadIdx.x == 0) {
      while (ring->sent <= item) {
      }
      __threadfence_system();
    }
    __syncthreads();
    ring->out[item][threadIdx.x] = 2 * ring->in[item % kSlots][threadIdx.x];  //~
#ifndef MUTANT
    __threadfence_system();
#endif
    __syncthreads();
    if (threadIdx.x == 0) ring->answered = item + 1;
  }
}

int main() {
  Ring* ring;
  require(cudaHostAlloc(&ring, sizeof(Ring), cudaHostAllocMapped));
  ring->sent = ring->answered = 0;
  cudaStream_t stream;
  require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  work<<<1, kWords, 0, stream>>>(ring);
  bool is_right = true;
  const auto take = [&](unsigned item) {
    while (ring->answered <= item) {
      if (cudaStreamQuery(stream) != cudaErrorNotReady && ring->answered <= item) return;
    }
    for (unsigned i = 0; i < kWords; ++i) {
      is_right &= ring->out[item][i] == static_cast<int>(2 * (item + i));
    }
  };
  for (unsigned item = 0; item < kItems; ++item) {
    if (item >= kSlots) take(item - kSlots);
    for (unsigned i = 0; i < kWords; ++i) ring->in[item % kSlots][i] = static_cast<int>(item + i);
    __sync_synchronize();
    ring->sent = item + 1;
  }
  for (unsigned item = kItems - kSlots; item < kItems; ++item) take(item);
  require(cudaStreamSynchronize(stream));
  require(cudaStreamDestroy(stream));
  require(cudaFreeHost(ring));
  return verdict(is_right);
}
