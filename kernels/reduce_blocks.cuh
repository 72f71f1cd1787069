// The operations of reduce.hpp, and the pass that they share: each block reduces what its threads
// meet to one value.
#pragma once

#include <climits>
#include <cmath>
#include <cstdint>

#include "kernels/dynamic_shared.cuh"

struct Sum {
  __host__ __device__ static int identity(int) { return 0; }
  __host__ __device__ static float identity(float) { return 0; }
  __host__ __device__ static int combine(int a, int b) {
    return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
  }
  __host__ __device__ static float combine(float a, float b) { return a + b; }
};

// Without a number: NaN is the identity of an operation that leaves NaN out.
__host__ __device__ inline float no_number() { return NAN; }

struct Maximum {
  __host__ __device__ static int identity(int) { return INT_MIN; }
  __host__ __device__ static float identity(float) { return no_number(); }
  __host__ __device__ static int combine(int a, int b) { return max(a, b); }
  // The device's max leaves NaN out and knows that +0 is greater; C's need not know it.
  __host__ __device__ static float combine(float a, float b) {
#ifdef __CUDA_ARCH__
    return fmaxf(a, b);
#else
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? b : a;
    if (a == b) return std::signbit(a) ? b : a;
    return a > b ? a : b;
#endif
  }
};

struct Minimum {
  __host__ __device__ static int identity(int) { return INT_MAX; }
  __host__ __device__ static float identity(float) { return no_number(); }
  __host__ __device__ static int combine(int a, int b) { return min(a, b); }
  __host__ __device__ static float combine(float a, float b) {
#ifdef __CUDA_ARCH__
    return fminf(a, b);
#else
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? b : a;
    if (a == b) return std::signbit(a) ? a : b;
    return a < b ? a : b;
#endif
  }
};

// out[b] is the reduction of the elements that block b's threads meet, stepping through the input
// by the number of all threads.  Dynamic shared memory: one T a thread.
//
// Within the block the upper half of the values is folded onto the lower one; of an odd number the
// middle one stays where it is, so any number of threads will do.
template <class Operation, class T>
__global__ void reduce_blocks_kernel(const T* in, T* out, int n) {
  T* const share = dynamic_shared<T>();
  const unsigned thread = threadIdx.x;
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  T value = Operation::identity(T{});
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + thread;
       i < static_cast<std::uint64_t>(n); i += step) {
    value = Operation::combine(value, in[i]);
  }
  share[thread] = value;
  for (unsigned left = blockDim.x; left > 1; left = (left + 1) / 2) {
    __syncthreads();
    const unsigned upper = (left + 1) / 2;
    if (thread < left / 2) share[thread] = Operation::combine(share[thread], share[thread + upper]);
  }
  if (thread == 0) out[blockIdx.x] = share[0];
}
