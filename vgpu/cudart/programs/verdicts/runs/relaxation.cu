// A chaotic relaxation: distances along a chain, which threads read and write while others do.  The
// host repeats it until nothing changes, so the result is the same under every schedule; the number
// of rounds is not.  Atomic and volatile loads of what other threads write are meant to observe
// their order: what depends on it is a note, as with an atomicMin() that returns the old value.  A
// race by plain accesses is an error, whatever the result.
//
// case relaxed: | --runs 3 | 0
// expect relaxed: note data-race store load
// expect relaxed: note schedule-dependent
// says relaxed: kernel relaxed can observe the order of threads: relaxation.cu:
// prints relaxed: right
// case unoptimised: -G | --runs 3 | 0
// expect unoptimised: note schedule-dependent
// case volatile: | --runs 3 | 1
// expect volatile: note data-race volatile
// expect volatile: note schedule-dependent
// prints volatile: right
// case minimum: | --runs 3 | 2
// expect minimum: note schedule-dependent
// prints minimum: right
// case plain: | --runs 3 | 3
// expect plain: error data-race plain
// expect plain: note data-race flag
// expect plain: error schedule-dependent
// case ordered: | --runs 3 | 4
// expect ordered: clean
#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>

using Atomic = cuda::atomic<int, cuda::thread_scope_device>;
constexpr int kNodes = 100;
constexpr auto kRelaxed = cuda::memory_order_relaxed;

__device__ int node() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void relaxed(Atomic* distance, Atomic* again) {
  const int i = node();
  if (i == 0 || i >= kNodes) return;
  const int next = distance[i - 1].load(kRelaxed) + 1;  //~ load
  if (distance[i].load(kRelaxed) > next) {
    distance[i].store(next, kRelaxed);  //~ store
    again->store(1, kRelaxed);
  }
}

__global__ void by_volatile(volatile int* distance, volatile int* again) {
  const int i = node();
  if (i == 0 || i >= kNodes) return;
  const int next = distance[i - 1] + 1;  //~ volatile
  if (distance[i] > next) {
    distance[i] = next;  //~ volatile
    *again = 1;
  }
}

__global__ void minimum(Atomic* distance, Atomic* again) {
  const int i = node();
  if (i == 0 || i >= kNodes) return;
  const int next = distance[i - 1].load(kRelaxed) + 1;
  if (distance[i].fetch_min(next, kRelaxed) > next) again->store(1, kRelaxed);
}

__global__ void plain(int* distance, int* again) {
  const int i = node();
  if (i == 0 || i >= kNodes) return;
  const int next = distance[i - 1] + 1;  //~ plain
  if (distance[i] > next) {
    distance[i] = next;  //~ plain
    *again = 1;          //~ flag
  }
}

// From one array to the other.
__global__ void ordered(const int* from, int* to, int* again) {
  const int i = node();
  if (i >= kNodes) return;
  const int next = i == 0 ? 0 : from[i - 1] + 1;
  to[i] = min(from[i], next);
  if (to[i] != from[i]) atomicMax(again, 1);
}

int main(int, char** arguments) {
  const int kind = std::atoi(arguments[1]);
  int host[kNodes], *distance, *other, *again;
  for (int i = 0; i < kNodes; ++i) host[i] = i == 0 ? 0 : 1 << 30;
  cudaMalloc(&distance, sizeof host);
  cudaMalloc(&other, sizeof host);
  cudaMalloc(&again, sizeof(int));
  cudaMemcpy(distance, host, sizeof host, cudaMemcpyHostToDevice);
  int goes_on;
  do {
    cudaMemset(again, 0, sizeof(int));
    Atomic* const as_atomics = reinterpret_cast<Atomic*>(distance);
    Atomic* const flag = reinterpret_cast<Atomic*>(again);
    if (kind == 0) relaxed<<<2, 64>>>(as_atomics, flag);
    if (kind == 1) by_volatile<<<2, 64>>>(distance, again);
    if (kind == 2) minimum<<<2, 64>>>(as_atomics, flag);
    if (kind == 3) plain<<<2, 64>>>(distance, again);
    if (kind == 4) {
      ordered<<<2, 64>>>(distance, other, again);
      int* const swapped = distance;
      distance = other;
      other = swapped;
    }
    cudaMemcpy(&goes_on, again, sizeof goes_on, cudaMemcpyDeviceToHost);
  } while (goes_on != 0);
  cudaMemcpy(host, distance, sizeof host, cudaMemcpyDeviceToHost);
  bool right = true;
  for (int i = 0; i < kNodes; ++i) right = right && host[i] == i;
  std::printf("%s\n", right ? "right" : "wrong");
  cudaFree(again);
  cudaFree(other);
  cudaFree(distance);
  return 0;
}
