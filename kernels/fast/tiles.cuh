// Tiles: the part of an array that a block takes at once.  Elements of 4 or 8 bytes, moved 16 bytes
// at a time where the array is aligned and the tile is full; and shuffles of such elements.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/fast/orders.cuh"

namespace fast {

constexpr unsigned kVectorBytes = 16;

// Elements of one vector.
template <class T>
constexpr unsigned kVector = kVectorBytes / sizeof(T);

template <class T>
using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class To, class From>
__device__ __forceinline__ To same_bits(const From& value) {
  static_assert(sizeof(To) == sizeof(From) && std::is_trivially_copyable_v<From>);
  To to;
  memcpy(&to, &value, sizeof(To));
  return to;
}

template <class T>
__device__ __forceinline__ T shuffle(const T& value, unsigned lane) {
  return same_bits<T>(static_cast<Word<T>>(
      __shfl_sync(kAllLanes, same_bits<Word<T>>(value), static_cast<int>(lane))));
}
template <class T>
__device__ __forceinline__ T shuffle_up(const T& value, unsigned by) {
  return same_bits<T>(
      static_cast<Word<T>>(__shfl_up_sync(kAllLanes, same_bits<Word<T>>(value), by)));
}
template <class T>
__device__ __forceinline__ T shuffle_down(const T& value, unsigned by) {
  return same_bits<T>(
      static_cast<Word<T>>(__shfl_down_sync(kAllLanes, same_bits<Word<T>>(value), by)));
}

__host__ __device__ inline bool is_aligned(const void* place) {
  return reinterpret_cast<std::uintptr_t>(place) % kVectorBytes == 0;
}

// values = the kVector elements from `in`, which is aligned.  They are read once: caches need not
// keep them.
template <class T>
__device__ __forceinline__ void load_vector(const T* in, T* values) {
  const uint4 bytes = __ldcs(reinterpret_cast<const uint4*>(in));
  memcpy(values, &bytes, kVectorBytes);
}

template <class T>
__device__ __forceinline__ void store_vector(T* out, const T* values) {
  uint4 bytes;
  memcpy(&bytes, values, kVectorBytes);
  __stcs(reinterpret_cast<uint4*>(out), bytes);
}

// Calls `take` with each of the n elements, in no order: the threads of the grid share them.  Each
// has `vectors` of them in flight where the array is aligned.
template <unsigned threads, unsigned vectors, class T, class Take>
__device__ __forceinline__ void take_all(const T* in, std::uint64_t n, bool aligned, Take take) {
  constexpr unsigned kRow = threads * kVector<T>;
  const std::uint64_t tiled = aligned ? n / (vectors * kRow) * (vectors * kRow) : 0;
  for (std::uint64_t first = std::uint64_t{blockIdx.x} * vectors * kRow + threadIdx.x * kVector<T>;
       first < tiled; first += std::uint64_t{gridDim.x} * vectors * kRow) {
    T values[vectors][kVector<T>];
#pragma unroll
    for (unsigned row = 0; row < vectors; ++row) load_vector(in + first + row * kRow, values[row]);
#pragma unroll
    for (unsigned row = 0; row < vectors; ++row) {
#pragma unroll
      for (unsigned i = 0; i < kVector<T>; ++i) take(values[row][i]);
    }
  }
  for (std::uint64_t i = tiled + std::uint64_t{blockIdx.x} * threads + threadIdx.x; i < n;
       i += std::uint64_t{gridDim.x} * threads) {
    take(in[i]);
  }
}

// Has the second-level cache fetch a tile, a line by each thread as far as there are lines.
template <class Shape, class T>
__device__ __forceinline__ void fetch_tile(const T* in, std::uint64_t n, unsigned tile) {
  constexpr unsigned kLine = 128 / sizeof(T);
  for (unsigned i = threadIdx.x * kLine; i < Shape::kTile; i += Shape::kThreads * kLine) {
    const std::uint64_t element = std::uint64_t{tile} * Shape::kTile + i;
    if (element < n) asm volatile("prefetch.global.L2 [%0];" : : "l"(in + element));
  }
}

// An inclusive scan over the lanes of a warp.
template <class T, class Operation>
__device__ __forceinline__ T scan_warp(T value, Operation operation) {
  const unsigned lane = threadIdx.x % kWarp;
  for (unsigned by = 1; by < kWarp; by *= 2) {
    const T before = shuffle_up(value, by);
    if (lane >= by) value = operation(before, value);
  }
  return value;
}

}  // namespace fast
