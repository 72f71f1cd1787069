// Scans and reductions of 2^16 to 2^30 ints compared with CUB, the plain kernels, and a copy.
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "bench/gpu/timing.cuh"
#include "kernels/fast/reduce_fast.cuh"
#include "kernels/fast/reduce_operations.cuh"
#include "kernels/fast/scan_lookback.cuh"
#include "kernels/fast/scan_operations.cuh"
#include "kernels/reduce.hpp"
#include "kernels/scan_multi_level.hpp"

using bench::check;

namespace {

constexpr std::uint64_t kMax = std::uint64_t{1} << 30;
constexpr std::size_t kScratch = std::size_t{1} << 28;

using Scan = fast::ScanShape<256, 32, 264>;
using Reduce = fast::ReduceShape<256, 8>;

struct Arrays {
  int* in = reinterpret_cast<int*>(bench::random_words(kMax));
  int* out = bench::allocate<int>(kMax);
  int* expected = bench::allocate<int>(kMax);
  char* scratch = bench::allocate<char>(kScratch);
};

void scans(const Arrays& arrays, std::uint64_t n) {
  const double elements = static_cast<double>(n);
  const auto ints = static_cast<int>(n);
  std::size_t bytes = kScratch;
  bench::time("scan", "CUB", n, elements, [&] {
    check(cub::DeviceScan::InclusiveSum(arrays.scratch, bytes, arrays.in, arrays.expected, n));
  });
  bench::time("scan", "fast", n, elements, [&] {
    check(fast::launch_scan_lookback<int, Scan>(arrays.in, arrays.out, n, arrays.scratch,
                                                fast::Add{}));
  });
  bench::expect_equal("scan", arrays.out, arrays.expected, n);
  bench::time("scan", "plain", n, elements, [&] {
    check(scan_multi_level(arrays.in, arrays.out, reinterpret_cast<int*>(arrays.scratch), ints,
                           dim3(1024)));
  });
  bench::expect_equal("plain scan", arrays.out, arrays.expected, n);
}

template <class Operation, class T>
void reduce(const char* name, const Arrays& arrays, std::uint64_t n) {
  check(cudaMemset(arrays.scratch, 0, 16));
  bench::time(name, "fast", n, 4.0 * static_cast<double>(n), [&] {
    check(fast::launch_reduce_fast<Operation, T, Reduce>(
        reinterpret_cast<const T*>(arrays.in),
        reinterpret_cast<typename Operation::Result*>(arrays.out), n, arrays.scratch,
        6 * bench::processors()));
  });
}

void reductions(const Arrays& arrays, std::uint64_t n) {
  const double bytes_read = 4.0 * static_cast<double>(n);
  std::size_t bytes = kScratch;
  bench::time("sum", "CUB", n, bytes_read, [&] {
    check(cub::DeviceReduce::Sum(arrays.scratch, bytes, arrays.in, arrays.expected, n));
  });
  reduce<fast::Sum<int>, int>("sum", arrays, n);
  bench::expect_equal("sum", arrays.out, arrays.expected, 1);
  bench::time("sum", "plain", n, bytes_read, [&] {
    check(reduce_sum(arrays.in, arrays.out, reinterpret_cast<int*>(arrays.scratch),
                     static_cast<int>(n), dim3(256)));
  });
  bench::time("max", "CUB", n, bytes_read, [&] {
    check(cub::DeviceReduce::Max(arrays.scratch, bytes, arrays.in, arrays.expected, n));
  });
  reduce<fast::Maximum<int>, int>("max", arrays, n);
  bench::expect_equal("max", arrays.out, arrays.expected, 1);
  reduce<fast::IndexOfMaximum<int>, int>("argmax", arrays, n);
  reduce<fast::CompensatedSum, float>("kahan sum", arrays, n);
}

}  // namespace

int main() {
  const Arrays arrays;
  for (std::uint64_t n = std::uint64_t{1} << 16; n <= kMax; n *= 4) {
    bench::time("copy", "cudaMemcpyAsync", n, 8.0 * static_cast<double>(n), [&] {
      check(cudaMemcpyAsync(arrays.out, arrays.in, n * sizeof(int), cudaMemcpyDeviceToDevice));
    });
    scans(arrays, n);
    reductions(arrays, n);
  }
}
