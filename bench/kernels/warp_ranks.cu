#include "bench/kernels/warp_ranks.hpp"

namespace {

constexpr int kDigits = 64, kWarps = 8, kPlaces = 4;

// As in CUB's one-sweep sort: the lanes of a digit find each other by a mask in shared memory, and
// the last of them counts for all.  __syncwarp() alone orders the accesses of a warp.
__global__ void bench_warp_ranks(const int* in, int* out) {
  __shared__ unsigned masks[kWarps][kDigits], counts[kWarps][kDigits];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (unsigned digit = lane; digit < kDigits; digit += 32) {
    masks[warp][digit] = counts[warp][digit] = 0;
  }
  __syncwarp();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned key = static_cast<unsigned>(in[i]);
  unsigned rank = 0;
  for (int place = 0; place < kPlaces; ++place) {
    const unsigned digit = (key >> (3 * place)) % kDigits;
    atomicOr(&masks[warp][digit], 1u << lane);
    __syncwarp();
    const unsigned alike = masks[warp][digit];
    __syncwarp();
    const unsigned last = 31 - __clz(static_cast<int>(alike));
    unsigned before = 0;
    if (lane == last) {
      before = atomicAdd(&counts[warp][digit], __popc(alike));
      masks[warp][digit] = 0;
    }
    rank += __shfl_sync(~0u, before, last) + __popc(alike & ((1u << lane) - 1));
    __syncwarp();
  }
  out[i] = static_cast<int>(rank);
}

}  // namespace

cudaError_t bench::warp_ranks(const int* in, int* out, int n) {
  bench_warp_ranks<<<n / 256, 256>>>(in, out);
  return cudaGetLastError();
}
