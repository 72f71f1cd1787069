// Reduction in one launch: blocks reduce what they meet, the last one to end reduces their results.
//
// Which elements meet in which order follows from the length and the grid alone, so a sum of floats
// is the same to the bit in every run, whichever block comes last.
//
// An operation has State identity(), take(state, element, index), combine(a, b) and result(state).
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>

#include "kernels/fast/tiles.cuh"

namespace fast {

enum class ReduceOrder {
  none,
  results_written,   // barrier: results of the warps, before the first warp combines them
  result_released,   // fence: the block's result, before the block counts as finished
  results_acquired,  // fence: after the last block has counted, before it reads the results
  last_known,        // barrier: who is last, before all threads ask
};

// State by state, in words that can be shuffled.
template <class State>
__device__ __forceinline__ State state_of_lane_above(const State& state, unsigned by) {
  static_assert(sizeof(State) % 4 == 0);
  constexpr unsigned kWords = sizeof(State) / 4;
  std::uint32_t words[kWords];
  memcpy(words, &state, sizeof(State));
#pragma unroll
  for (unsigned i = 0; i < kWords; ++i) words[i] = shuffle_down(words[i], by);
  State other;
  memcpy(&other, words, sizeof(State));
  return other;
}

// In lane 0 of the warp.
template <class Operation>
__device__ __forceinline__ typename Operation::State reduce_warp(typename Operation::State state) {
  for (unsigned by = kWarp / 2; by > 0; by /= 2) {
    state = Operation::combine(state, state_of_lane_above(state, by));
  }
  return state;
}

// In thread 0 of the block.
template <class Operation, unsigned threads, ReduceOrder missing>
__device__ __forceinline__ typename Operation::State reduce_block(
    typename Operation::State state, typename Operation::State* warps) {
  const unsigned lane = threadIdx.x % kWarp;
  state = reduce_warp<Operation>(state);
  if (lane == 0) warps[threadIdx.x / kWarp] = state;
  block_barrier<missing, ReduceOrder::results_written>();
  if (threadIdx.x < kWarp) {
    state = lane < threads / kWarp ? warps[lane] : Operation::identity();
    state = reduce_warp<Operation>(state);
  }
  return state;
}

template <unsigned threads, unsigned vectors>
struct ReduceShape {
  static constexpr unsigned kThreads = threads;
  static constexpr unsigned kVectors = vectors;  // in flight, of each thread
  static_assert(threads % kWarp == 0 && threads <= kWarp * kWarp);
};

// What a thread meets: a vector in each row of a tile, tile after tile, and then single elements.
// A state for each element of a vector, so that they do not wait for each other.
template <class Operation, class T, class Shape>
__device__ __forceinline__ typename Operation::State reduce_met(const T* in, std::uint64_t n,
                                                                bool aligned) {
  constexpr unsigned kRow = Shape::kThreads * kVector<T>;
  constexpr unsigned kTile = kRow * Shape::kVectors;
  typename Operation::State states[kVector<T>];
#pragma unroll
  for (unsigned i = 0; i < kVector<T>; ++i) states[i] = Operation::identity();
  const std::uint64_t tiled = aligned ? n / kTile * kTile : 0;
  for (std::uint64_t first = std::uint64_t{blockIdx.x} * kTile + threadIdx.x * kVector<T>;
       first < tiled; first += std::uint64_t{gridDim.x} * kTile) {
    T values[Shape::kVectors][kVector<T>];
#pragma unroll
    for (unsigned row = 0; row < Shape::kVectors; ++row) {
      load_vector(in + first + row * kRow, values[row]);
    }
#pragma unroll
    for (unsigned row = 0; row < Shape::kVectors; ++row) {
#pragma unroll
      for (unsigned i = 0; i < kVector<T>; ++i) {
        Operation::take(states[i], values[row][i], first + row * kRow + i);
      }
    }
  }
  for (std::uint64_t i = tiled + std::uint64_t{blockIdx.x} * Shape::kThreads + threadIdx.x; i < n;
       i += std::uint64_t{gridDim.x} * Shape::kThreads) {
    Operation::take(states[0], in[i], i);
  }
#pragma unroll
  for (unsigned i = 1; i < kVector<T>; ++i) states[0] = Operation::combine(states[0], states[i]);
  return states[0];
}

template <class Operation, class T, class Shape, ReduceOrder missing>
__global__ void __launch_bounds__(Shape::kThreads)
    reduce_fast_kernel(const T* in, std::uint64_t n, bool aligned,
                       typename Operation::State* results, unsigned* finished,
                       typename Operation::Result* out) {
  using State = typename Operation::State;
  __shared__ State warps[kWarp];
  __shared__ State last_warps[kWarp];
  __shared__ bool is_last;
  State state = reduce_block<Operation, Shape::kThreads, missing>(
      reduce_met<Operation, T, Shape>(in, n, aligned), warps);
  if (threadIdx.x == 0) {
    results[blockIdx.x] = state;
    device_fence<missing, ReduceOrder::result_released>();
    // Back to 0 with the last block, for the next launch.
    is_last = atomicInc(finished, gridDim.x - 1) == gridDim.x - 1;
    device_fence<missing, ReduceOrder::results_acquired>();
  }
  block_barrier<missing, ReduceOrder::last_known>();
  if (!is_last) return;
  state = Operation::identity();
  for (unsigned i = threadIdx.x; i < gridDim.x; i += Shape::kThreads) {
    state = Operation::combine(state, results[i]);
  }
  state = reduce_block<Operation, Shape::kThreads, missing>(state, last_warps);
  if (threadIdx.x == 0) *out = Operation::result(state);
}

constexpr std::size_t kFinishedBytes =
    16;  // the count of finished blocks, and what aligns the rest

template <class Operation>
std::size_t reduce_fast_scratch(unsigned blocks) {
  return kFinishedBytes + blocks * sizeof(typename Operation::State);
}

// `scratch` has reduce_fast_scratch() bytes, aligned to 16.  The first four are 0 before the first
// launch, and are again after each.  At most `blocks` blocks, and no more than have something to
// do.
template <class Operation, class T, class Shape, ReduceOrder missing = ReduceOrder::none>
cudaError_t launch_reduce_fast(const T* in, typename Operation::Result* out, std::uint64_t n,
                               void* scratch, unsigned blocks) {
  constexpr std::uint64_t kTile = Shape::kThreads * kVector<T> * Shape::kVectors;
  const auto useful = std::max<std::uint64_t>(1, (n + kTile - 1) / kTile);
  const auto grid = static_cast<unsigned>(std::min<std::uint64_t>(blocks, useful));
  reduce_fast_kernel<Operation, T, Shape, missing><<<grid, Shape::kThreads>>>(
      in, n, is_aligned(in),
      reinterpret_cast<typename Operation::State*>(static_cast<char*>(scratch) + kFinishedBytes),
      static_cast<unsigned*>(scratch), out);
  return cudaGetLastError();
}

}  // namespace fast
