// Objects on the device's heap: new and delete, arrays with destructors, placement new, a heap
// that is made larger, and one that runs out.
// MUTANT: an array is deleted twice.
// expect: invalid-free
#include <new>

#include "check.hpp"

__device__ int alive;

struct Counted {
  int value;
  __device__ explicit Counted(int v = 1) : value(v) { atomicAdd(&alive, 1); }
  __device__ ~Counted() { atomicSub(&alive, 1); }
};

__global__ void objects(int* sums) {
  Counted* const one = new Counted(threadIdx.x);
  Counted* const many = new Counted[10];
  alignas(Counted) unsigned char place[sizeof(Counted)];
  Counted* const here = new (place) Counted(100);
  int sum = one->value + here->value;
  for (int i = 0; i < 10; ++i) sum += many[i].value;
  here->~Counted();
  delete one;
  delete[] many;
  sums[threadIdx.x] = sum;
}

__global__ void buffers(int* wanted_too_much) {
  int* const buffer = new int[64];
  buffer[threadIdx.x] = 1;
  void* const huge = malloc(size_t{1} << 40);
  if (huge == nullptr) atomicAdd(wanted_too_much, buffer[threadIdx.x]);
  delete[] buffer;  //~
#ifdef MUTANT
  if (threadIdx.x == 7) delete[] buffer;  //~
#endif
}

int main() {
  require(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
  size_t heap_bytes;
  require(cudaDeviceGetLimit(&heap_bytes, cudaLimitMallocHeapSize));
  int* sums;
  require(cudaMallocManaged(&sums, 33 * sizeof(int)));
  sums[32] = 0;
  objects<<<1, 32>>>(sums);
  buffers<<<1, 32>>>(sums + 32);
  require(cudaDeviceSynchronize());
  int still_alive;
  require(cudaMemcpyFromSymbol(&still_alive, alive, sizeof alive));
  bool is_right = heap_bytes >= 16 << 20 && still_alive == 0 && sums[32] == 32;
  for (int i = 0; i < 32; ++i) is_right &= sums[i] == i + 110;
  require(cudaFree(sums));
  return verdict(is_right);
}
