#include "kernels/merge_lists.hpp"

#include "kernels/merge_lists_tree.cuh"

__global__ void merge_lists_atomic_kernel(const std::uint32_t* in, std::uint32_t* out, int n) {
  __shared__ std::uint32_t smallest;
  __shared__ int winner;
  const int list = static_cast<int>(threadIdx.x);
  const int lists = static_cast<int>(blockDim.x);
  int next = list;
  for (int i = 0; i < n; ++i) {
    if (list == 0) {
      smallest = 0xffffffff;
      winner = lists;
    }
    __syncthreads();
    // Exhausted lists take no part: an element may well equal what `smallest` begins with.
    const std::uint32_t head = next < n ? in[next] : 0;
    if (next < n) atomicMin(&smallest, head);
    __syncthreads();
    if (next < n && head == smallest) atomicMin(&winner, list);
    __syncthreads();
    if (list == winner) {
      out[i] = head;
      next += lists;
    }
    __syncthreads();  // `winner` has been read before it is reset
  }
}

__global__ void merge_lists_tree_kernel(const std::uint32_t* in, std::uint32_t* out, int n) {
  merge_lists_by_tree(in, n, [out](int i, std::uint32_t element) { out[i] = element; });
}

cudaError_t merge_lists_atomic(const std::uint32_t* in, std::uint32_t* out, int n, dim3 block) {
  merge_lists_atomic_kernel<<<1, block>>>(in, out, n);
  return cudaGetLastError();
}

cudaError_t merge_lists_tree(const std::uint32_t* in, std::uint32_t* out, int n, dim3 block) {
  const std::size_t shared_bytes = merge_by_tree_shared_bytes<std::uint32_t>(block.x);
  merge_lists_tree_kernel<<<1, block, shared_bytes>>>(in, out, n);
  return cudaGetLastError();
}
