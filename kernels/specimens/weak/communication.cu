// In the manner of the CUDA programming guide's example for __threadfence() (last block), of
// single-pass scans with look-back, and of the ticket locks and queues of "GPU Concurrency: Weak
// Behaviours and Programming Assumptions" (Alglave et al., ASPLOS 2015).
#include "kernels/specimens/weak/communication.hpp"

namespace {

template <Fences fences>
__device__ void fence() {
  if (fences == Fences::both) __threadfence();
}

template <Fences fences>
__global__ void message_passing_kernel(const int* in, int* out, int n,
                                       volatile SharedByBlocks* shared) {
  if (blockIdx.x == 0) {
    for (int i = 0; i < n; ++i) shared->data[i] = in[i];
    fence<fences>();
    shared->flag[0] = 1;
    return;
  }
  while (shared->flag[0] == 0) {
  }
  fence<fences>();
  for (int i = 0; i < n; ++i) out[i] = shared->data[i];
}

template <Fences fences>
__global__ void look_back_scan_kernel(const int* in, int* out, volatile SharedByBlocks* shared) {
  const unsigned block = blockIdx.x;
  int sum = in[block];
  if (block != 0) {
    while (shared->flag[block - 1] == 0) {
    }
    fence<fences>();
    sum += shared->data[block - 1];
  }
  shared->data[block] = sum;
  fence<fences>();
  shared->flag[block] = 1;
  out[block] = sum;
}

template <Fences fences>
__global__ void ticket_lock_kernel(const int* in, volatile int* out, SharedByBlocks* shared) {
  volatile int* const serving = &shared->serving;
  const int ticket = atomicAdd(&shared->next, 1);
  while (*serving != ticket) {
  }
  fence<fences>();
  *out = *out + in[blockIdx.x];
  fence<fences>();
  *serving = ticket + 1;
}

template <Fences fences>
__global__ void work_queue_kernel(const int* in, int* out, int n, SharedByBlocks* shared) {
  volatile int* const items = shared->data;
  volatile int* const tail = &shared->tail;
  if (blockIdx.x == 0) {
    for (int i = 0; i < n; ++i) {
      items[i] = in[i];
      fence<fences>();
      *tail = i + 1;
    }
    return;
  }
  for (int i = atomicAdd(&shared->head, 1); i < n; i = atomicAdd(&shared->head, 1)) {
    while (*tail <= i) {
    }
    fence<fences>();
    out[i] = 2 * items[i];
  }
}

template <Fences fences>
__global__ void last_block_kernel(const int* in, int* out, SharedByBlocks* shared) {
  volatile int* const partial = shared->data;
  partial[blockIdx.x] = in[blockIdx.x];
  fence<fences>();
  if (atomicAdd(&shared->count, 1) + 1 != gridDim.x) return;
  fence<fences>();
  int sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += partial[i];
  *out = sum;
}

}  // namespace

cudaError_t message_passing(const int* in, int* out, int n, SharedByBlocks* shared, Fences fences) {
  const auto kernel = fences == Fences::none ? message_passing_kernel<Fences::none>
                                             : message_passing_kernel<Fences::both>;
  kernel<<<2, 1>>>(in, out, n, shared);
  return cudaGetLastError();
}

cudaError_t look_back_scan(const int* in, int* out, int n, SharedByBlocks* shared, Fences fences) {
  const auto kernel = fences == Fences::none ? look_back_scan_kernel<Fences::none>
                                             : look_back_scan_kernel<Fences::both>;
  kernel<<<n, 1>>>(in, out, shared);
  return cudaGetLastError();
}

cudaError_t ticket_lock(const int* in, int* out, int n, SharedByBlocks* shared, Fences fences) {
  const auto kernel =
      fences == Fences::none ? ticket_lock_kernel<Fences::none> : ticket_lock_kernel<Fences::both>;
  kernel<<<n, 1>>>(in, out, shared);
  return cudaGetLastError();
}

cudaError_t work_queue(const int* in, int* out, int n, int consumers, SharedByBlocks* shared,
                       Fences fences) {
  const auto kernel =
      fences == Fences::none ? work_queue_kernel<Fences::none> : work_queue_kernel<Fences::both>;
  kernel<<<1 + consumers, 1>>>(in, out, n, shared);
  return cudaGetLastError();
}

cudaError_t last_block(const int* in, int* out, int n, SharedByBlocks* shared, Fences fences) {
  const auto kernel =
      fences == Fences::none ? last_block_kernel<Fences::none> : last_block_kernel<Fences::both>;
  kernel<<<n, 1>>>(in, out, shared);
  return cudaGetLastError();
}
