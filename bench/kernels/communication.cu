#include "bench/kernels/communication.hpp"

namespace {

constexpr int kGroup = bench::kCommunicationGroup;
constexpr int kHead = bench::kCommunicationHead;
constexpr int kGridBlocks = 16;  // of grid_barrier_sum
enum Place { kResult, kTicket, kLock, kArrived };

// The sum of a block's values in thread 0.
template <typename Values>
__device__ int block_sum(Values values, int own) {
  const int t = static_cast<int>(threadIdx.x);
  values[t] = own;
  for (int half = kGroup / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) values[t] = values[t] + values[t + half];
  }
  __syncthreads();
  return values[0];
}

__device__ int own_value(const int* in) { return in[blockIdx.x * kGroup + threadIdx.x]; }

__global__ void bench_last_block_sum(const int* in, int* out) {
  __shared__ int values[kGroup];
  __shared__ bool is_last;
  const int t = static_cast<int>(threadIdx.x), blocks = static_cast<int>(gridDim.x);
  int sum = block_sum(static_cast<int*>(values), own_value(in));
  if (t == 0) {
    out[kHead + blockIdx.x] = sum;
    __threadfence();
    is_last = atomicAdd(&out[kTicket], 1) == blocks - 1;
    __threadfence();
  }
  __syncthreads();
  if (!is_last) return;
  sum = 0;
  for (int i = t; i < blocks; i += kGroup) sum += out[kHead + i];
  sum = block_sum(static_cast<int*>(values), sum);
  if (t != 0) return;
  out[kResult] = sum;
  out[kTicket] = 0;
}

__global__ void bench_volatile_sum(const int* in, int* out) {
  __shared__ int values[kGroup];
  __shared__ bool is_last;
  volatile int* const sums = out;
  const int t = static_cast<int>(threadIdx.x), blocks = static_cast<int>(gridDim.x);
  int sum = block_sum(static_cast<volatile int*>(values), own_value(in));
  if (t == 0) {
    sums[kHead + blockIdx.x] = sum;
    __threadfence();
    is_last = atomicAdd(&out[kTicket], 1) == blocks - 1;
  }
  __syncthreads();
  if (!is_last) return;
  sum = 0;
  for (int i = t; i < blocks; i += kGroup) sum += sums[kHead + i];
  sum = block_sum(static_cast<volatile int*>(values), sum);
  if (t != 0) return;
  out[kResult] = sum;
  out[kTicket] = 0;
}

__global__ void bench_locked_sum(const int* in, int* out) {
  __shared__ int values[kGroup];
  const int sum = block_sum(static_cast<int*>(values), own_value(in));
  if (threadIdx.x != 0) return;
  while (atomicCAS(&out[kLock], 0, 1) != 0) {
  }
  __threadfence();
  out[kResult] += sum;
  __threadfence();
  atomicExch(&out[kLock], 0);
}

// out[kHead + b]: 1 as soon as out[kResult] holds the sum of the blocks up to b.
__global__ void bench_chained_sum(const int* in, int* out) {
  __shared__ int values[kGroup];
  const int sum = block_sum(static_cast<int*>(values), own_value(in));
  if (threadIdx.x != 0) return;
  volatile int* const done = out + kHead;
  if (blockIdx.x != 0) {
    while (done[blockIdx.x - 1] == 0) {
    }
    __threadfence();
  }
  out[kResult] += sum;
  __threadfence();
  done[blockIdx.x] = 1;
}

__global__ void bench_grid_barrier_sum(const int* in, int* out, int rounds) {
  __shared__ int values[kGroup];
  const int t = static_cast<int>(threadIdx.x);
  int total = 0;
  for (int round = 0; round < rounds; ++round) {
    const int sum =
        block_sum(static_cast<int*>(values), in[(round * kGridBlocks + blockIdx.x) * kGroup + t]);
    if (t == 0) {
      out[kHead + round % 2 * kGridBlocks + blockIdx.x] = sum;
      __threadfence();
      atomicAdd(&out[kArrived], 1);
      while (atomicAdd(&out[kArrived], 0) < (round + 1) * kGridBlocks) {
      }
      __threadfence();
    }
    __syncthreads();
    for (int i = 0; i < kGridBlocks; ++i) total += out[kHead + round % 2 * kGridBlocks + i];
  }
  if (blockIdx.x == 0 && t == 0) out[kResult] = total;
}

}  // namespace

cudaError_t bench::last_block_sum(const int* in, int* out, int n) {
  bench_last_block_sum<<<n / kGroup, kGroup>>>(in, out);
  return cudaGetLastError();
}

cudaError_t bench::volatile_sum(const int* in, int* out, int n) {
  bench_volatile_sum<<<n / kGroup, kGroup>>>(in, out);
  return cudaGetLastError();
}

cudaError_t bench::locked_sum(const int* in, int* out, int n) {
  bench_locked_sum<<<n / kGroup, kGroup>>>(in, out);
  return cudaGetLastError();
}

cudaError_t bench::chained_sum(const int* in, int* out, int n) {
  bench_chained_sum<<<n / kGroup, kGroup>>>(in, out);
  return cudaGetLastError();
}

cudaError_t bench::grid_barrier_sum(const int* in, int* out, int n) {
  bench_grid_barrier_sum<<<kGridBlocks, kGroup>>>(in, out, n / kGroup / kGridBlocks);
  return cudaGetLastError();
}
