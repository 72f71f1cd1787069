// Histograms by shared counters that each block adds to the global ones.
//
// A counter of bytes has as many copies as there are lanes: lane l counts in bank l, so lanes never
// wait for each other, whatever the bytes are.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>

#include "kernels/fast/tiles.cuh"

namespace fast {

enum class HistogramOrder {
  none,
  counters_cleared,  // barrier: counters are 0, before threads count
  counted,           // barrier: threads have counted, before the counters are read
};

constexpr unsigned kByteValues = 256;

template <unsigned threads, unsigned vectors, unsigned copies = kWarp>
struct HistogramShape {
  static constexpr unsigned kThreads = threads;
  static constexpr unsigned kVectors = vectors;  // in flight, of each thread
  static constexpr unsigned kCopies = copies;    // of each counter
  static_assert(copies <= kWarp && (copies & (copies - 1)) == 0);
};

template <class Shape>
__device__ __forceinline__ void count_byte(std::uint32_t* counters, unsigned byte) {
  atomicAdd(&counters[byte * Shape::kCopies + threadIdx.x % Shape::kCopies], 1U);
}

template <class Shape>
__device__ __forceinline__ void count_bytes(std::uint32_t* counters, const std::uint32_t* words) {
#pragma unroll
  for (unsigned word = 0; word < kVectorBytes / 4; ++word) {
#pragma unroll
    for (unsigned byte = 0; byte < 4; ++byte) {
      count_byte<Shape>(counters, words[word] >> 8 * byte & 0xff);
    }
  }
}

template <class Shape, HistogramOrder missing>
__global__ void __launch_bounds__(Shape::kThreads)
    histogram_bytes_kernel(const std::uint8_t* in, std::uint32_t* counts, std::uint64_t n,
                           bool aligned) {
  __shared__ std::uint32_t counters[kByteValues * Shape::kCopies];
  for (unsigned i = threadIdx.x; i < kByteValues * Shape::kCopies; i += Shape::kThreads) {
    counters[i] = 0;
  }
  block_barrier<missing, HistogramOrder::counters_cleared>();

  constexpr unsigned kRow = Shape::kThreads * kVectorBytes;
  constexpr unsigned kTile = kRow * Shape::kVectors;
  const std::uint64_t tiled = aligned ? n / kTile * kTile : 0;
  for (std::uint64_t first = std::uint64_t{blockIdx.x} * kTile + threadIdx.x * kVectorBytes;
       first < tiled; first += std::uint64_t{gridDim.x} * kTile) {
    std::uint32_t words[Shape::kVectors][kVectorBytes / 4];
#pragma unroll
    for (unsigned row = 0; row < Shape::kVectors; ++row) {
      load_vector(reinterpret_cast<const std::uint32_t*>(in + first + row * kRow), words[row]);
    }
#pragma unroll
    for (unsigned row = 0; row < Shape::kVectors; ++row) count_bytes<Shape>(counters, words[row]);
  }
  for (std::uint64_t i = tiled + std::uint64_t{blockIdx.x} * Shape::kThreads + threadIdx.x; i < n;
       i += std::uint64_t{gridDim.x} * Shape::kThreads) {
    count_byte<Shape>(counters, in[i]);
  }
  block_barrier<missing, HistogramOrder::counted>();

  for (unsigned value = threadIdx.x; value < kByteValues; value += Shape::kThreads) {
    std::uint32_t sum = 0;
    // Threads begin at different copies, so that they read different banks.
#pragma unroll
    for (unsigned i = 0; i < Shape::kCopies; ++i) {
      sum += counters[value * Shape::kCopies + (threadIdx.x + i) % Shape::kCopies];
    }
    if (sum != 0) atomicAdd(&counts[value], sum);
  }
}

// counts[v] += how often v occurs, for each of the 256 bytes.
template <class Shape, HistogramOrder missing = HistogramOrder::none>
cudaError_t launch_histogram_bytes(const std::uint8_t* in, std::uint32_t* counts, std::uint64_t n,
                                   unsigned blocks) {
  if (n == 0) return cudaSuccess;
  constexpr std::uint64_t kTile = Shape::kThreads * kVectorBytes * Shape::kVectors;
  const auto grid = static_cast<unsigned>(std::min<std::uint64_t>(blocks, (n + kTile - 1) / kTile));
  histogram_bytes_kernel<Shape, missing><<<grid, Shape::kThreads>>>(in, counts, n, is_aligned(in));
  return cudaGetLastError();
}

// Counters of keys: `copies` of each in shared memory, or the global ones where they do not fit.
template <unsigned threads, HistogramOrder missing>
__global__ void __launch_bounds__(threads)
    histogram_keys_kernel(const std::uint32_t* in, std::uint32_t* counts, std::uint64_t n,
                          unsigned bins, unsigned copies) {
  extern __shared__ std::uint32_t key_counters[];
  for (unsigned i = threadIdx.x; i < bins * copies; i += threads) key_counters[i] = 0;
  block_barrier<missing, HistogramOrder::counters_cleared>();
  std::uint32_t* const mine = copies == 0 ? counts : key_counters + threadIdx.x % copies * bins;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x; i < n;
       i += std::uint64_t{gridDim.x} * threads) {
    const std::uint32_t key = __ldcs(in + i);
    if (key < bins) atomicAdd(&mine[key], 1U);
  }
  if (copies == 0) return;
  block_barrier<missing, HistogramOrder::counted>();
  for (unsigned bin = threadIdx.x; bin < bins; bin += threads) {
    std::uint32_t sum = 0;
    for (unsigned copy = 0; copy < copies; ++copy) sum += key_counters[copy * bins + bin];
    if (sum != 0) atomicAdd(&counts[bin], sum);
  }
}

constexpr unsigned kSharedCountersMax = 12'288;  // 48 KiB, which every device has

// counts[k] += how often k occurs, for k < bins; greater keys are left out.
template <unsigned threads, HistogramOrder missing = HistogramOrder::none>
cudaError_t launch_histogram_keys(const std::uint32_t* in, std::uint32_t* counts, std::uint64_t n,
                                  unsigned bins, unsigned blocks) {
  if (n == 0 || bins == 0) return cudaSuccess;
  const unsigned copies = std::min(kWarp, kSharedCountersMax / bins);
  const auto grid =
      static_cast<unsigned>(std::min<std::uint64_t>(blocks, (n + threads - 1) / threads));
  histogram_keys_kernel<threads, missing>
      <<<grid, threads, copies * bins * sizeof(std::uint32_t)>>>(in, counts, n, bins, copies);
  return cudaGetLastError();
}

}  // namespace fast
