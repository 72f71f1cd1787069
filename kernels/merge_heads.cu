#include "kernels/merge_heads.hpp"

namespace {

constexpr int kListsMax = 1024;
constexpr unsigned kEnd = 0xffffffff;  // the head of a list that is used up

// Of all threads of the block.  A list that is used up may win against elements equal to kEnd; it
// stands for one of them then.
struct Exchange {
  unsigned heads[kListsMax];
  int winner;
};

__device__ void merge(Exchange& all, const unsigned* in, unsigned* out, int n) {
  const int lists = static_cast<int>(blockDim.x);
  const int own = static_cast<int>(threadIdx.x);
  int next = own;
  for (int i = 0; i < n; ++i) {
    all.heads[own] = next < n ? in[next] : kEnd;
    __syncthreads();
    if (own == 0) {
      int winner = 0;
      for (int list = 1; list < lists; ++list) {
        if (all.heads[list] < all.heads[winner]) winner = list;
      }
      out[i] = all.heads[winner];
      all.winner = winner;
    }
    __syncthreads();
    if (own == all.winner) next += lists;
  }
}

__global__ void merge_heads_shared_kernel(const unsigned* in, unsigned* out, int n) {
  __shared__ Exchange all;
  merge(all, in, out, n);
}

__global__ void merge_heads_new_kernel(const unsigned* in, unsigned* out, int n) {
  __shared__ Exchange* all;
  if (threadIdx.x == 0) all = new Exchange;
  __syncthreads();
  if (all == nullptr) __trap();  // the heap is full
  merge(*all, in, out, n);
  __syncthreads();
  if (threadIdx.x == 0) delete all;
}

}  // namespace

cudaError_t merge_heads_shared(const unsigned* in, unsigned* out, int n, int lists) {
  merge_heads_shared_kernel<<<1, static_cast<unsigned>(lists)>>>(in, out, n);
  return cudaGetLastError();
}

cudaError_t merge_heads_new(const unsigned* in, unsigned* out, int n, int lists) {
  merge_heads_new_kernel<<<1, static_cast<unsigned>(lists)>>>(in, out, n);
  return cudaGetLastError();
}
