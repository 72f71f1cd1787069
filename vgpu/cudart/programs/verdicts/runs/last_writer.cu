// The last of several writers decides.  Volatile stores do not race, and no thread observes who
// came first: an order is missing, and what depends on it is an error.  Atomic stores say that any
// of the values will do: a note.
//
// case volatile: | --runs 3 | 0
// expect volatile: note data-race volatile
// expect volatile: error schedule-dependent
// says volatile: No kernel can know who came first
// case atomic: | --runs 3 | 1
// expect atomic: note data-race atomic
// expect atomic: note schedule-dependent
// says atomic: kernel by_atomics can observe the order of threads: last_writer.cu:
// case later: | --runs 3 | 2
// expect later: note data-race volatile
// expect later: error schedule-dependent
// case same: | --runs 3 | 3
// expect same: clean
#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>

using Atomic = cuda::atomic<int, cuda::thread_scope_device>;

__global__ void by_volatile(volatile int* winner) {
  *winner = blockIdx.x;  //~ volatile
}

__global__ void by_atomics(Atomic* winner) {
  winner->store(blockIdx.x, cuda::memory_order_relaxed);  //~ atomic
}

__global__ void count(int* tickets, int* taken) { taken[atomicAdd(tickets, 1)] = 1; }

int main(int, char** arguments) {
  const int kind = std::atoi(arguments[1]);
  int winner, *memory;
  cudaMalloc(&memory, 64);
  cudaMemset(memory, 0, 64);
  if (kind == 0 || kind == 2) by_volatile<<<4, 1>>>(memory);
  if (kind == 1) by_atomics<<<4, 1>>>(reinterpret_cast<Atomic*>(memory));
  if (kind == 3) by_volatile<<<1, 1>>>(memory);
  cudaMemcpy(&winner, memory, sizeof winner, cudaMemcpyDeviceToHost);
  // A kernel that can observe the order, but only after the copy.
  if (kind == 2) count<<<4, 1>>>(memory + 1, memory + 4);
  cudaDeviceSynchronize();
  std::printf("%d\n", winner);
  cudaFree(memory);
  return 0;
}
