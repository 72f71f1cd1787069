#include "kernels/reduce.hpp"

#include <vector>

#include "kernels/reduce_blocks.cuh"

namespace {

// A block of one pass: each thread begins with two elements, so that even blocks of one thread
// leave fewer values than there were.
constexpr std::int64_t kElementsPerThread = 2;

int blocks_for(int n, dim3 block) {
  const std::int64_t width = kElementsPerThread * block.x;
  return n == 0 ? 1 : static_cast<int>((n + width - 1) / width);
}

template <class Operation, class T>
cudaError_t finish_on_device(const T* in, T* out, T* scratch, int n, dim3 block) {
  for (;;) {
    const int blocks = blocks_for(n, block);
    T* const results = blocks == 1 ? out : scratch;
    reduce_blocks_kernel<Operation><<<blocks, block, block.x * sizeof(T)>>>(in, results, n);
    if (blocks == 1) return cudaGetLastError();
    scratch += blocks;
    in = results;
    n = blocks;
  }
}

template <class Operation, class T>
cudaError_t finish_on_host(const T* in, T* out, T* scratch, int n, dim3 grid, dim3 block) {
  reduce_blocks_kernel<Operation><<<grid, block, block.x * sizeof(T)>>>(in, scratch, n);
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) return error;
  std::vector<T> results(grid.x);
  const cudaError_t error =
      cudaMemcpy(results.data(), scratch, results.size() * sizeof(T), cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) return error;
  *out = Operation::identity(T{});
  for (const T result : results) *out = Operation::combine(*out, result);
  return cudaSuccess;
}

}  // namespace

std::size_t reduce_scratch(int n, dim3 block) {
  std::size_t elements = 0;
  for (int blocks = blocks_for(n, block); blocks > 1; blocks = blocks_for(blocks, block)) {
    elements += static_cast<std::size_t>(blocks);
  }
  return elements;
}

#define DEFINE_REDUCTIONS(T)                                                            \
  cudaError_t reduce_sum(const T* in, T* out, T* scratch, int n, dim3 block) {          \
    return finish_on_device<Sum>(in, out, scratch, n, block);                           \
  }                                                                                     \
  cudaError_t reduce_max(const T* in, T* out, T* scratch, int n, dim3 block) {          \
    return finish_on_device<Maximum>(in, out, scratch, n, block);                       \
  }                                                                                     \
  cudaError_t reduce_min(const T* in, T* out, T* scratch, int n, dim3 block) {          \
    return finish_on_device<Minimum>(in, out, scratch, n, block);                       \
  }                                                                                     \
  cudaError_t reduce_sum_host_finish(const T* in, T* out, T* scratch, int n, dim3 grid, \
                                     dim3 block) {                                      \
    return finish_on_host<Sum>(in, out, scratch, n, grid, block);                       \
  }                                                                                     \
  cudaError_t reduce_max_host_finish(const T* in, T* out, T* scratch, int n, dim3 grid, \
                                     dim3 block) {                                      \
    return finish_on_host<Maximum>(in, out, scratch, n, grid, block);                   \
  }                                                                                     \
  cudaError_t reduce_min_host_finish(const T* in, T* out, T* scratch, int n, dim3 grid, \
                                     dim3 block) {                                      \
    return finish_on_host<Minimum>(in, out, scratch, n, grid, block);                   \
  }

DEFINE_REDUCTIONS(int)
DEFINE_REDUCTIONS(float)
