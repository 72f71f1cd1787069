#include "kernels/specimens/planted/order_in_results.hpp"

__global__ void order_adds_kernel(const float* in, float* out) {
  atomicAdd(out, in[threadIdx.x]);  // order: adds
}

// Two lines, each with an order of its own.
__global__ void order_adds_twice_kernel(const float* in, float* out) {
  __shared__ float products, sum;
  if (threadIdx.x == 0) products = sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[threadIdx.x]);                               // order: sum
  atomicAdd(&products, in[threadIdx.x] * (1 + in[threadIdx.x]));  // order: products
  __syncthreads();
  if (threadIdx.x == 0) out[0] = sum + products;
}

__global__ void order_adds_by_swaps_kernel(const float* in, float* out) {
  int* const bits = reinterpret_cast<int*>(out);
  for (int old = 0, seen = 0;; old = seen) {
    const int sum = __float_as_int(__int_as_float(old) + in[threadIdx.x]);
    seen = atomicCAS(bits, old, sum);  // order: swaps
    if (seen == old) return;
  }
}

__global__ void order_exchanges_kernel(const float* in, float* out) {
  atomicExch(out, in[threadIdx.x]);  // order: exchanges
}

__global__ void order_stores_volatile_kernel(const float* in, float* out) {
  *static_cast<volatile float*>(out) = in[threadIdx.x];  // order: stores
}

__global__ void order_appends_kernel(const float* in, float* out) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  const int at = atomicAdd(&count, 1);  // order: count
  out[at] = in[threadIdx.x];            // order: place
}

__global__ void order_counts_lanes_kernel(const float* in, float* out) {
  if (in[threadIdx.x] > 0) out[threadIdx.x] = 1;
  out[threadIdx.x] += static_cast<float>(__popc(__activemask()));  // order: lanes
}

__global__ void order_appends_and_sorts_kernel(const float* in, float* out, int n) {
  __shared__ int count;
  __shared__ float list[64];
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  list[atomicAdd(&count, 1)] = in[threadIdx.x];
  __syncthreads();
  int rank = 0;
  const float mine = list[threadIdx.x];
  for (int i = 0; i < n; ++i) rank += list[i] < mine || (list[i] == mine && i < int(threadIdx.x));
  out[rank] = mine;
}

__global__ void order_counts_kernel(const float* in, float* out) {
  __shared__ int counts[2];
  if (threadIdx.x < 2) counts[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&counts[in[threadIdx.x] > 0], 1);
  __syncthreads();
  if (threadIdx.x < 2) out[threadIdx.x] = static_cast<float>(counts[threadIdx.x]);
}

__global__ void order_takes_maximum_kernel(const float* in, float* out) {
  int* const bits = reinterpret_cast<int*>(out);
  for (int old = atomicAdd(bits, 0); __int_as_float(old) < in[threadIdx.x];) {
    const int seen = atomicCAS(bits, old, __float_as_int(in[threadIdx.x]));
    if (seen == old) return;
    old = seen;
  }
}

#define LAUNCH_ORDER(name, ...)                                  \
  cudaError_t name(const float* in, float* out, int n) {         \
    if (n != 0) name##_kernel<<<1, n>>>(in, out, ##__VA_ARGS__); \
    return cudaGetLastError();                                   \
  }

LAUNCH_ORDER(order_adds)
LAUNCH_ORDER(order_adds_twice)
LAUNCH_ORDER(order_adds_by_swaps)
LAUNCH_ORDER(order_exchanges)
LAUNCH_ORDER(order_stores_volatile)
LAUNCH_ORDER(order_appends)
LAUNCH_ORDER(order_counts_lanes)
LAUNCH_ORDER(order_appends_and_sorts, n)
LAUNCH_ORDER(order_counts)
LAUNCH_ORDER(order_takes_maximum)
