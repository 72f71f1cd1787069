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

// Counters of the `slice` bins that blocks of this row of the grid count, `copies` of each in
// shared memory.
template <unsigned threads, unsigned vectors, HistogramOrder missing>
__global__ void __launch_bounds__(threads)
    histogram_keys_kernel(const std::uint32_t* in, std::uint32_t* counts, std::uint64_t n,
                          unsigned bins, unsigned slice, unsigned copies, bool aligned) {
  extern __shared__ std::uint32_t key_counters[];
  const unsigned first_bin = blockIdx.y * slice;
  const unsigned own_bins = min(slice, bins - first_bin);
  for (unsigned i = threadIdx.x; i < own_bins * copies; i += threads) key_counters[i] = 0;
  block_barrier<missing, HistogramOrder::counters_cleared>();
  std::uint32_t* const mine = key_counters + threadIdx.x % copies * own_bins;
  take_all<threads, vectors>(in, n, aligned, [&](std::uint32_t key) {
    if (key - first_bin < own_bins) atomicAdd(&mine[key - first_bin], 1U);
  });
  block_barrier<missing, HistogramOrder::counted>();
  for (unsigned bin = threadIdx.x; bin < own_bins; bin += threads) {
    std::uint32_t sum = 0;
    for (unsigned copy = 0; copy < copies; ++copy) sum += key_counters[copy * own_bins + bin];
    if (sum != 0) atomicAdd(&counts[first_bin + bin], sum);
  }
}

constexpr unsigned kSharedCounters = 12'288;  // in 48 KiB, which every block of every device has

// How many counters a block can have at most; 0: the runtime says an error.
inline unsigned shared_counters_max() {
  int device = 0;
  int bytes = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) !=
          cudaSuccess) {
    return 0;
  }
  return static_cast<unsigned>(bytes) / sizeof(std::uint32_t);
}

// counts[k] += how often k occurs, for k < bins; greater keys are left out.  Where the counters do
// not fit in shared memory the input is read once for each slice of them: that is faster than to
// count in global memory.
template <unsigned threads, unsigned vectors, HistogramOrder missing = HistogramOrder::none>
cudaError_t launch_histogram_keys(const std::uint32_t* in, std::uint32_t* counts, std::uint64_t n,
                                  unsigned bins, unsigned blocks) {
  if (n == 0 || bins == 0) return cudaSuccess;
  unsigned slice = bins;
  if (bins > kSharedCounters) {
    const unsigned counters = shared_counters_max();
    if (counters == 0) return cudaGetLastError();
    const unsigned slices = (bins + counters - 1) / counters;
    slice = (bins + slices - 1) / slices;
  }
  const unsigned copies = std::max(1U, std::min(kWarp, kSharedCounters / slice));
  const std::size_t shared_bytes = std::size_t{slice} * copies * sizeof(std::uint32_t);
  const auto kernel = histogram_keys_kernel<threads, vectors, missing>;
  const cudaError_t error = cudaFuncSetAttribute(
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
  if (error != cudaSuccess) return error;
  const auto grid =
      static_cast<unsigned>(std::min<std::uint64_t>(blocks, (n + threads - 1) / threads));
  kernel<<<dim3(grid, (bins + slice - 1) / slice), threads, shared_bytes>>>(
      in, counts, n, bins, slice, copies, is_aligned(in));
  return cudaGetLastError();
}

}  // namespace fast
