// What the benchmarks of this folder share: medians with their spread, as lines of CSV, and data.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace bench {

constexpr int kRuns = 30;

inline void check(cudaError_t error, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
  if (error == cudaSuccess) return;
  std::printf("%s:%d: %s\n", file, line, cudaGetErrorString(error));
  std::exit(1);
}

template <class T>
T* allocate(std::size_t elements) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, elements * sizeof(T) + 16));
  return static_cast<T*>(memory);
}

inline unsigned processors() {
  int count = 0;
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
  return static_cast<unsigned>(count);
}

// Prints family, contender, size, median and the 10th and 90th percentile in milliseconds, and how
// much of `work` that is in a second, in units of 10^9.
template <class Launch>
double time(const char* family, const char* contender, std::uint64_t size, double work,
            Launch launch) {
  cudaEvent_t start;
  cudaEvent_t end;
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&end));
  for (int i = 0; i < 3; ++i) launch();
  std::vector<float> times(kRuns);
  for (float& milliseconds : times) {
    check(cudaEventRecord(start));
    launch();
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    check(cudaEventElapsedTime(&milliseconds, start, end));
  }
  check(cudaGetLastError());
  std::sort(times.begin(), times.end());
  const double median = (times[kRuns / 2 - 1] + times[kRuns / 2]) / 2;
  std::printf("%s,%s,%llu,%.5f,%.5f,%.5f,%.2f\n", family, contender,
              static_cast<unsigned long long>(size), median, times[kRuns / 10],
              times[kRuns - 1 - kRuns / 10], work / median * 1e-6);
  std::fflush(stdout);
  return median;
}

// Words without a pattern, the same every time (SplitMix64).
static __global__ void fill_kernel(std::uint32_t* words, std::uint64_t n) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    std::uint64_t z = (i + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    words[i] = static_cast<std::uint32_t>(z ^ (z >> 31));
  }
}

static __global__ void differ_kernel(const std::uint32_t* a, const std::uint32_t* b,
                                     std::uint64_t n, unsigned* differ) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    if (a[i] != b[i]) *differ = 1;
  }
}

inline std::uint32_t* random_words(std::uint64_t n) {
  auto* const words = allocate<std::uint32_t>(n);
  fill_kernel<<<1024, 256>>>(words, n);
  return words;
}

// Ends the program where the arrays are not the same.
inline void expect_equal(const char* what, const void* a, const void* b, std::uint64_t words) {
  static unsigned* const differ = allocate<unsigned>(1);
  check(cudaMemset(differ, 0, sizeof(unsigned)));
  differ_kernel<<<1024, 256>>>(static_cast<const std::uint32_t*>(a),
                               static_cast<const std::uint32_t*>(b), words, differ);
  unsigned result = 0;
  check(cudaMemcpy(&result, differ, sizeof result, cudaMemcpyDeviceToHost));
  if (result == 0) return;
  std::printf("%s: %llu words differ from the reference\n", what,
              static_cast<unsigned long long>(words));
  std::exit(1);
}

}  // namespace bench
