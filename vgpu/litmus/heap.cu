// The device heap is global memory: bounds, races and initialisation of what malloc() gives.
#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::copy_out;
using warpcheck::litmus::zeroed;

// expect: out-of-bounds global
__global__ void past_the_end_of_its_own(int* out, int index) {
  int* const own = new int[3];
  for (int i = 0; i < 3; ++i) own[i] = i;
  out[threadIdx.x] = own[index];             //~ read
  delete[] own;
}
LITMUS(past_the_end_of_its_own) { past_the_end_of_its_own<<<1, 64>>>(zeroed<int>(64), 3); }

// expect: clean
LITMUS(inside_its_own) { past_the_end_of_its_own<<<1, 64>>>(zeroed<int>(64), 2); }

// The heap has 8 MiB, here for 16 KiB a thread.  What does not fit is null.
// expect: out-of-bounds global
__global__ void trusts_new(int* out, int ints) {
  int* const own = new int[ints];
  own[threadIdx.x] = 1;                      //~ write
  out[threadIdx.x] = own != nullptr;
  __syncthreads();
  delete[] own;
}
LITMUS(trusts_new) { trusts_new<<<1, 513>>>(zeroed<int>(513), 4096); }

// expect: clean
LITMUS(the_heap_is_large_enough) { trusts_new<<<1, 512>>>(zeroed<int>(512), 4096); }

// expect: clean
__global__ void asks_malloc(int* out, int ints) {
  int* const own = static_cast<int*>(malloc(ints * sizeof(int)));
  if (own != nullptr) own[threadIdx.x] = 1;
  out[threadIdx.x] = own != nullptr;
  __syncthreads();
  free(own);
}
LITMUS(asks_malloc) { asks_malloc<<<1, 513>>>(zeroed<int>(513), 4096); }

// expect: clean
LITMUS(a_larger_heap) {
  cudaDeviceSetLimit(cudaLimitMallocHeapSize, 513 * 16384);
  trusts_new<<<1, 513>>>(zeroed<int>(513), 4096);
}

// expect: uninitialized-read global
__global__ void reads_fresh_memory(int* out) {
  int* const own = new int[2];
  own[0] = 1;
  if (own[threadIdx.x & 1] == 1) out[threadIdx.x] = 1;  //~ read //~ branch
  delete[] own;
}
LITMUS(reads_fresh_memory) { reads_fresh_memory<<<1, 2>>>(zeroed<int>(2)); }

// expect: clean
__global__ void reads_written_memory(int* out) {
  int* const own = new int[2];
  own[0] = own[1] = 1;
  if (own[threadIdx.x & 1] == 1) out[threadIdx.x] = 1;
  delete[] own;
}
LITMUS(reads_written_memory) { reads_written_memory<<<1, 2>>>(zeroed<int>(2)); }

// expect: data-race global
__global__ void exchanges_without_a_barrier(int* out) {
  __shared__ int* all;
  if (threadIdx.x == 0) all = new int[64];
  __syncthreads();
  all[threadIdx.x] = 1;                      //~ write
  out[threadIdx.x] = all[threadIdx.x ^ 32];  //~ read
  __syncthreads();
  if (threadIdx.x == 0) delete[] all;
}
LITMUS(exchanges_without_a_barrier) { exchanges_without_a_barrier<<<1, 64>>>(zeroed<int>(64)); }

// expect: clean
__global__ void exchanges_after_a_barrier(int* out) {
  __shared__ int* all;
  if (threadIdx.x == 0) all = new int[64];
  __syncthreads();
  all[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = all[threadIdx.x ^ 32];
  __syncthreads();
  if (threadIdx.x == 0) delete[] all;
}
LITMUS(exchanges_after_a_barrier) { exchanges_after_a_barrier<<<1, 64>>>(zeroed<int>(64)); }

// Memory that was freed says nothing of what is allocated next, whatever threads used either.
// expect: clean
__global__ void allocates_by_turns(int* out, int rounds) {
  for (int i = 1; i <= rounds; ++i) {
    int* const own = new int[i];
    for (int k = 0; k < i; ++k) own[k] = k;
    out[blockIdx.x * blockDim.x + threadIdx.x] += own[i - 1];
    delete[] own;
  }
}
LITMUS(allocates_by_turns) {
  int* const out = zeroed<int>(64);
  allocates_by_turns<<<2, 32>>>(out, 5);
  allocates_by_turns<<<1, 64>>>(out, 5);
}

// No call of the host reaches the heap.
// expect: out-of-bounds global
__global__ void gives_heap_memory(int** slot) {
  *slot = static_cast<int*>(malloc(16));     //~ allocate
  **slot = 1;
}
__global__ void takes_heap_memory(int** slot) { free(*slot); }

LITMUS(host_copies_the_heap) {               //~ host copy
  int** const slot = zeroed<int*>(1);
  gives_heap_memory<<<1, 1>>>(slot);
  int* memory = nullptr;
  cudaMemcpy(&memory, slot, sizeof memory, cudaMemcpyDeviceToHost);
  copy_out(memory, 1);
  takes_heap_memory<<<1, 1>>>(slot);
}

// expect: clean
LITMUS(host_copies_the_pointer) {
  int** const slot = zeroed<int*>(1);
  gives_heap_memory<<<1, 1>>>(slot);
  copy_out(slot, 1);
  takes_heap_memory<<<1, 1>>>(slot);
}
