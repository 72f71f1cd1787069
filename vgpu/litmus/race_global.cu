// Data races in global memory between blocks.
#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::copy_out;
using warpcheck::litmus::zeroed;

// expect: data-race global
__global__ void blocks_count_without_atomics(int* counter) {
  if (threadIdx.x == 0) *counter += 1;       //~ read //~ write
}
LITMUS(blocks_count_without_atomics) { blocks_count_without_atomics<<<4, 32>>>(zeroed<int>(1)); }

// expect: clean
__global__ void blocks_count_with_atomics(int* counter) {
  if (threadIdx.x == 0) atomicAdd(counter, 1);
}
LITMUS(blocks_count_with_atomics) { blocks_count_with_atomics<<<4, 32>>>(zeroed<int>(1)); }

// A barrier orders the threads of a block, not blocks.
// expect: data-race global
__global__ void barrier_does_not_order_blocks(int* data) {
  data[blockIdx.x] = 1;                      //~ write
  __syncthreads();
  data[blockIdx.x + 8] = data[blockIdx.x ^ 1];  //~ read
}
LITMUS(barrier_does_not_order_blocks) {
  barrier_does_not_order_blocks<<<2, 1>>>(zeroed<int>(16));
}

// expect: clean
__global__ void first_half(int* data) { data[blockIdx.x] = 1; }
__global__ void second_half(int* data) { data[blockIdx.x + 8] = data[blockIdx.x ^ 1]; }
LITMUS(kernels_are_ordered) {
  int* const data = zeroed<int>(16);
  first_half<<<2, 1>>>(data);
  second_half<<<2, 1>>>(data);
  copy_out(data, 16);
}

// The last block of a slot and its successor are as unordered as any two.
// expect: data-race global
__global__ void later_blocks_overwrite(int* data) {
  data[threadIdx.x] = blockIdx.x;            //~ write
}
LITMUS(later_blocks_overwrite) { later_blocks_overwrite<<<64, 32>>>(zeroed<int>(32)); }

// expect: clean
__global__ void blocks_write_their_own(int* data) {
  data[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x;
}
LITMUS(blocks_write_their_own) { blocks_write_their_own<<<64, 32>>>(zeroed<int>(2048)); }

// expect: clean
__global__ void all_read(const int* in, int* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = in[threadIdx.x % 3];
}
LITMUS(all_read) { all_read<<<8, 64>>>(zeroed<int>(3), zeroed<int>(512)); }
