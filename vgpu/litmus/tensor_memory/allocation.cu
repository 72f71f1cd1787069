// Tensor memory is allocated and deallocated by whole columns; a warp accesses its own lanes of it
// (PTX ISA 9.7.16.1, 9.7.16.7, 9.7.16.8.1).
#include "vgpu/litmus/litmus.hpp"
#include "vgpu/litmus/tensor_memory/tensor_ptx.hpp"

using warpcheck::litmus::zeroed;

// expect: clean
__global__ void tensor_memory_of_each_warp(int* out) {
  TENSOR_KERNEL;
  if (t < 32) {
    ALLOCATE(&place, 32);
    RELINQUISH();
  }
  MEET();
  const std::uint32_t base = place;
  STORE_TENSOR(base + lanes, t);
  WAIT_STORES();
  int value;
  LOAD_TENSOR(value, base + lanes);
  WAIT_LOADS();
  out[t] = value;
  MEET();
  if (t < 32) DEALLOCATE(base, 32);
}
LITMUS(tensor_memory_of_each_warp) { tensor_memory_of_each_warp<<<1, 128>>>(zeroed<int>(128)); }

// All that was allocated must be deallocated before the kernel exits.
// expect: leak tensor
__global__ void tensor_memory_never_deallocated(int* out) {
  TENSOR_KERNEL;
  if (t < 32) ALLOCATE(&place, 32);  //~ allocate
  MEET();
  out[t] = place;
}
LITMUS(tensor_memory_never_deallocated) {
  tensor_memory_never_deallocated<<<1, 64>>>(zeroed<int>(64));
}

// The number of columns is a power of two.
// expect: trap tensor
__global__ void tensor_columns_no_power_of_two(int* out) {
  TENSOR_KERNEL;
  ALLOCATE(&place, 48);  //~ access
  out[t] = 1;
}
LITMUS(tensor_columns_no_power_of_two) {
  tensor_columns_no_power_of_two<<<1, 32>>>(zeroed<int>(32));
}

// No alloc after a thread of the block has relinquished the permit.
// expect: trap tensor
__global__ void tensor_memory_after_relinquish(int* out) {
  TENSOR_KERNEL;
  ALLOCATE(&place, 32);
  RELINQUISH();
  ALLOCATE(&place, 32);  //~ access
  out[t] = 1;
}
LITMUS(tensor_memory_after_relinquish) {
  tensor_memory_after_relinquish<<<1, 32>>>(zeroed<int>(32));
}

// Warp 1 may access lanes 32 to 63.
// expect: out-of-bounds tensor
__global__ void tensor_lanes_of_another_warp(int* out) {
  TENSOR_KERNEL;
  if (t < 32) ALLOCATE(&place, 32);
  MEET();
  if (t >= 32) STORE_TENSOR(place, t);  //~ access
  WAIT_STORES();
  MEET();
  if (t < 32) DEALLOCATE(place, 32);
  out[t] = 1;
}
LITMUS(tensor_lanes_of_another_warp) { tensor_lanes_of_another_warp<<<1, 64>>>(zeroed<int>(64)); }

// Columns 32 and up are not allocated.
// expect: out-of-bounds tensor
__global__ void tensor_columns_not_allocated(int* out) {
  TENSOR_KERNEL;
  if (t < 32) ALLOCATE(&place, 32);
  MEET();
  int value;
  LOAD_TENSOR(value, place + lanes + 32);  //~ access
  WAIT_LOADS();
  out[t] = value;
  if (t < 32) DEALLOCATE(place, 32);
}
LITMUS(tensor_columns_not_allocated) { tensor_columns_not_allocated<<<1, 32>>>(zeroed<int>(32)); }

// expect: trap tensor
__global__ void tensor_memory_deallocated_twice(int* out) {
  TENSOR_KERNEL;
  ALLOCATE(&place, 32);
  __syncwarp();
  const std::uint32_t base = place;
  DEALLOCATE(base, 32);
  DEALLOCATE(base, 32);  //~ access
  out[t] = 1;
}
LITMUS(tensor_memory_deallocated_twice) {
  tensor_memory_deallocated_twice<<<1, 32>>>(zeroed<int>(32));
}
