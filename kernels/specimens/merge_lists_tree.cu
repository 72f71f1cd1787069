// Published defects, three in one kernel; each is also built alone, the others mended.
//   - No barrier at the end of a round: thread 0 moves the winning list on, and the list's own
//     thread may have looked for its next element before.
//   - Where a subtree wins, the list at its root is recorded, not the list that won it.
//   - The tree halves the number of lists, rounding down: of an odd number the last is never seen.
// On an H200 the missing barrier alone made 200 of 200 results wrong.
#include "kernels/specimens/merge_lists_tree.hpp"

enum Defects : unsigned {
  kNoBarrier = 1,
  kWrongWinner = 2,
  kPowerOfTwo = 4,
};

extern __shared__ std::uint32_t share[];

template <unsigned defects>
__global__ void merge_lists_tree_published_kernel(const std::uint32_t* in, std::uint32_t* out,
                                                  int n) {
  const int list = static_cast<int>(threadIdx.x);
  const int lists = static_cast<int>(blockDim.x);
  std::uint32_t* const smallest = share;
  int* const winner = reinterpret_cast<int*>(smallest + lists);
  int* const next = winner + lists;
  next[list] = list;
  for (int i = 0; i < n; ++i) {
    const int at = next[list];
    smallest[list] = at < n ? in[at] : 0xffffffff;
    winner[list] = list;
    __syncthreads();
    for (int width = lists; width > 1;) {
      const int mid = (defects & kPowerOfTwo) != 0 ? width / 2 : (width + 1) / 2;
      const int other = list + mid;
      if (list < width / 2 && smallest[other] < smallest[list]) {
        smallest[list] = smallest[other];
        winner[list] = (defects & kWrongWinner) != 0 ? other : winner[other];
      }
      width = mid;
      __syncthreads();
    }
    if (list == 0) {
      out[i] = smallest[0];
      next[winner[0]] += lists;
    }
    if ((defects & kNoBarrier) == 0) __syncthreads();
  }
}

namespace {

template <unsigned defects>
cudaError_t launch(const std::uint32_t* in, std::uint32_t* out, int n, dim3 block) {
  const std::size_t shared_bytes = 3 * block.x * sizeof(std::uint32_t);
  merge_lists_tree_published_kernel<defects><<<1, block, shared_bytes>>>(in, out, n);
  return cudaGetLastError();
}

}  // namespace

cudaError_t merge_lists_tree_published(const std::uint32_t* in, std::uint32_t* out, int n,
                                       dim3 block) {
  return launch<kNoBarrier | kWrongWinner | kPowerOfTwo>(in, out, n, block);
}

cudaError_t merge_lists_tree_no_barrier_published(const std::uint32_t* in, std::uint32_t* out,
                                                  int n, dim3 block) {
  return launch<kNoBarrier>(in, out, n, block);
}

cudaError_t merge_lists_tree_wrong_winner_published(const std::uint32_t* in, std::uint32_t* out,
                                                    int n, dim3 block) {
  return launch<kWrongWinner>(in, out, n, block);
}

cudaError_t merge_lists_tree_power_of_two_published(const std::uint32_t* in, std::uint32_t* out,
                                                    int n, dim3 block) {
  return launch<kPowerOfTwo>(in, out, n, block);
}
