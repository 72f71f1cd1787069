// Pointers to memory of a thread, or of a block, that others use.
#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::copy_out;
using warpcheck::litmus::unwritten;
using warpcheck::litmus::zeroed;

namespace {

__device__ __noinline__ void store_through(int* place, int value) { *place = value; }

}  // namespace

// expect: out-of-bounds local
__global__ void reads_local_of_another_thread(int* out) {
  __shared__ int* pointers[32];
  int own = 0;
  store_through(&own, static_cast<int>(threadIdx.x));
  pointers[threadIdx.x] = &own;  //~ write
  __syncthreads();
  out[threadIdx.x] = *pointers[31 - threadIdx.x];  //~ read
}
LITMUS(reads_local_of_another_thread) {
  int* const out = unwritten<int>(32);
  reads_local_of_another_thread<<<1, 32>>>(out);
  copy_out(out, 32);
}

// expect: clean
__global__ void reads_own_local_through_shared(int* out) {
  __shared__ int* pointers[32];
  int own = 0;
  store_through(&own, static_cast<int>(threadIdx.x));
  pointers[threadIdx.x] = &own;
  __syncthreads();
  out[threadIdx.x] = *pointers[threadIdx.x];
}
LITMUS(reads_own_local_through_shared) {
  int* const out = unwritten<int>(32);
  reads_own_local_through_shared<<<1, 32>>>(out);
  copy_out(out, 32);
}

// expect: out-of-bounds local
__global__ void writes_local_of_another_block(int** pointer, int* ready, int* out) {
  int own[4] = {};
  store_through(own, static_cast<int>(blockIdx.x));
  if (blockIdx.x == 0) {
    *pointer = own;  //~ write
    __threadfence();
    atomicExch(ready, 1);
  } else {
    while (atomicAdd(ready, 0) == 0) {
    }
    __threadfence();
    (*pointer)[2] = 7;  //~ write
  }
  out[blockIdx.x] = own[2];
}
LITMUS(writes_local_of_another_block) {
  int* const out = unwritten<int>(2);
  writes_local_of_another_block<<<2, 1>>>(zeroed<int*>(1), zeroed<int>(1), out);
  copy_out(out, 2);
}

// Only compared.
// expect: clean
__global__ void compares_pointers_of_threads(int* out) {
  __shared__ int* pointers[32];
  int own = 0;
  store_through(&own, static_cast<int>(threadIdx.x));
  pointers[threadIdx.x] = &own;
  __syncthreads();
  out[threadIdx.x] = (pointers[31 - threadIdx.x] == &own) + own;
}
LITMUS(compares_pointers_of_threads) {
  int* const out = unwritten<int>(32);
  compares_pointers_of_threads<<<1, 32>>>(out);
  copy_out(out, 32);
}

// expect: out-of-bounds shared
// expect: data-race global
__global__ void reads_shared_of_the_first_block(int** pointer, int* out) {
  __shared__ int own;
  if (threadIdx.x == 0) own = static_cast<int>(blockIdx.x);
  __syncthreads();
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) *pointer = &own;  //~ write
    return;
  }
  __syncthreads();
  if (threadIdx.x == 0) *out = **pointer;  //~ read
}
LITMUS(reads_shared_of_the_first_block) {
  reads_shared_of_the_first_block<<<2, 32>>>(zeroed<int*>(1), unwritten<int>(1));
  cudaDeviceSynchronize();
}

// Each block uses its own pointer.
// expect: clean
__global__ void reads_own_shared_through_global(int** pointers, int* out) {
  __shared__ int own;
  if (threadIdx.x == 0) own = static_cast<int>(blockIdx.x);
  if (threadIdx.x == 0) pointers[blockIdx.x] = &own;
  __syncthreads();
  if (threadIdx.x == 31) out[blockIdx.x] = *pointers[blockIdx.x];
}
LITMUS(reads_own_shared_through_global) {
  int* const out = unwritten<int>(2);
  reads_own_shared_through_global<<<2, 32>>>(zeroed<int*>(2), out);
  copy_out(out, 2);
}

// A launch finds what an earlier one has stored, but stores its own first.
// expect: clean
__global__ void replaces_the_pointer(int** pointers, int* out) {
  int own = 0;
  store_through(&own, 3);
  pointers[threadIdx.x] = &own;
  out[threadIdx.x] = *pointers[threadIdx.x];
}
LITMUS(replaces_the_pointer) {
  auto** const pointers = zeroed<int*>(32);
  int* const out = unwritten<int>(32);
  replaces_the_pointer<<<1, 32>>>(pointers, out);
  replaces_the_pointer<<<1, 32>>>(pointers, out);
  copy_out(out, 32);
}
