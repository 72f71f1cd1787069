// Inclusive scans by one block over shared memory, for any number of threads.
#pragma once

#include "kernels/dynamic_shared.cuh"

// Scan of one value a thread, after Hillis and Steele, "Data Parallel Algorithms", CACM 29(12),
// 1986: log2(threads) rounds, in each of which a thread adds what stands 1, 2, 4, ... places
// before it.  Two buffers: a round reads one and writes the other, so one barrier a round is
// enough.  `buffer` holds 2 * blockDim.x elements.  Every thread of the block must call.
template <class T>
__device__ T scan_of_threads(T value, T* buffer) {
  const unsigned thread = threadIdx.x;
  T* from = buffer;
  T* to = buffer + blockDim.x;
  from[thread] = value;
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    __syncthreads();
    to[thread] = thread >= distance ? from[thread - distance] + from[thread] : from[thread];
    T* const written = to;
    to = from;
    from = written;
  }
  return from[thread];
}

// Scan in place of `count` elements, after Brent and Kung, "A Regular Layout for Parallel
// Adders", IEEE Trans. Computers C-31(3), 1982: a tree gathers sums of 2, 4, 8, ... elements at
// their last positions, then distributes them to the positions between.  The distribution begins
// at a quarter of the power of two at or above `count`, whatever `count` is.  Needs blockDim.x >=
// count / 2.  Every thread of the block must call; the barriers before and after are inside.
template <class T>
__device__ void scan_in_place(T* values, unsigned count) {
  unsigned stride = 1;
  for (; stride < count; stride *= 2) {
    __syncthreads();
    const unsigned last = (threadIdx.x + 1) * stride * 2 - 1;
    if (last < count) values[last] += values[last - stride];
  }
  for (stride /= 4; stride > 0; stride /= 2) {
    __syncthreads();
    const unsigned last = (threadIdx.x + 1) * stride * 2 - 1;
    if (last + stride < count) values[last + stride] += values[last];
  }
  __syncthreads();
}
