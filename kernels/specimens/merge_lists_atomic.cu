// Published defect: thread 0 resets the winner's number at the beginning of a round, and nothing
// orders that after the other threads' reading it at the end of the round before.  A winner that
// comes too late does not recognise itself: its element is not written in that round, and the last
// element never is.  On an H200 the result was wrong in 0 of 200 runs.
#include "kernels/specimens/merge_lists_atomic.hpp"

__global__ void merge_lists_atomic_published_kernel(const std::uint32_t* in, std::uint32_t* out,
                                                    int n) {
  __shared__ std::uint32_t smallest;
  __shared__ int winner;
  const int list = static_cast<int>(threadIdx.x);
  int next = list;
  for (int i = 0; i < n; ++i) {
    const std::uint32_t head = next < n ? in[next] : 0xffffffff;
    if (list == 0) {
      smallest = 0xffffffff;
      winner = 0x7fffffff;
    }
    __syncthreads();
    atomicMin(&smallest, head);
    __syncthreads();
    if (head == smallest) atomicMin(&winner, list);
    __syncthreads();
    if (list == winner) {
      out[i] = head;
      next += static_cast<int>(blockDim.x);
    }
  }
}

cudaError_t merge_lists_atomic_published(const std::uint32_t* in, std::uint32_t* out, int n,
                                         dim3 block) {
  merge_lists_atomic_published_kernel<<<1, block>>>(in, out, n);
  return cudaGetLastError();
}
