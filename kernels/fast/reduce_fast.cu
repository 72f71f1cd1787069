#include "kernels/fast/reduce_fast.cuh"

#include "kernels/fast/reduce_operations.cuh"

namespace fast {
namespace {

using LargeReduce = ReduceShape<256, 8>;  // the fastest on an H200 (bench/gpu)
using SmallReduce = ReduceShape<64, 2>;

template <class Operation, class T>
cudaError_t launch_small(const T* in, typename Operation::Result* out, std::uint64_t n,
                         void* scratch, unsigned blocks) {
  return launch_reduce_fast<Operation, T, SmallReduce>(in, out, n, scratch, blocks);
}

}  // namespace

std::size_t reduce_fast_scratch(unsigned blocks) {
  return reduce_fast_scratch<IndexOfMaximum<float>>(blocks);
}

cudaError_t sum_fast(const int* in, int* out, std::uint64_t n, void* scratch, unsigned blocks,
                     Size size) {
  return size == Size::large
             ? launch_reduce_fast<Sum<int>, int, LargeReduce>(in, out, n, scratch, blocks)
             : launch_small<Sum<int>>(in, out, n, scratch, blocks);
}

cudaError_t sum_fast(const float* in, float* out, std::uint64_t n, void* scratch, unsigned blocks) {
  return launch_small<Sum<float>>(in, out, n, scratch, blocks);
}

cudaError_t maximum_fast(const float* in, float* out, std::uint64_t n, void* scratch,
                         unsigned blocks) {
  return launch_small<Maximum<float>>(in, out, n, scratch, blocks);
}

cudaError_t minimum_fast(const int* in, int* out, std::uint64_t n, void* scratch, unsigned blocks) {
  return launch_small<Minimum<int>>(in, out, n, scratch, blocks);
}

cudaError_t index_of_maximum_fast(const float* in, std::uint64_t* out, std::uint64_t n,
                                  void* scratch, unsigned blocks) {
  return launch_small<IndexOfMaximum<float>>(in, out, n, scratch, blocks);
}

cudaError_t kahan_sum_fast(const float* in, float* out, std::uint64_t n, void* scratch,
                           unsigned blocks) {
  return launch_small<CompensatedSum>(in, out, n, scratch, blocks);
}

}  // namespace fast
