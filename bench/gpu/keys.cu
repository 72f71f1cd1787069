// Histograms of 1 MiB to 4 GiB of bytes and of 2^28 keys, and sorts of 2^16 to 2^30 keys, compared
// with CUB and the plain kernels.
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>

#include "bench/gpu/timing.cuh"
#include "kernels/fast/histogram_fast.cuh"
#include "kernels/fast/radix_sort_onesweep.cuh"
#include "kernels/histogram.hpp"

using bench::check;

namespace {

constexpr std::uint64_t kMax = std::uint64_t{1} << 30;
constexpr std::size_t kScratch = std::size_t{6} << 30;

using Word = std::uint32_t;
using Histogram = fast::HistogramShape<512, 8>;
using Sort = fast::SortShape<384, 24, 4, 2, 264>;
using SortPairs = fast::SortShape<384, 18, 4, 2, 264>;

struct Arrays {
  Word* in = bench::random_words(kMax);
  Word* out = bench::allocate<Word>(kMax);
  Word* expected = bench::allocate<Word>(kMax);
  Word* values = bench::allocate<Word>(kMax);
  Word* expected_values = bench::allocate<Word>(kMax);
  char* scratch = bench::allocate<char>(kScratch);
};

void histograms(const Arrays& arrays, std::uint64_t n) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(arrays.in);
  const double work = static_cast<double>(n);
  std::size_t scratch = kScratch;
  bench::time("histogram", "CUB", n, work, [&] {
    check(cub::DeviceHistogram::HistogramEven(arrays.scratch, scratch, bytes,
                                              reinterpret_cast<int*>(arrays.expected), 257, 0, 256,
                                              static_cast<long long>(n)));
  });
  bench::time("histogram", "fast", n, work, [&] {
    check(cudaMemsetAsync(arrays.out, 0, 256 * sizeof(Word)));
    check(fast::launch_histogram_bytes<Histogram>(bytes, arrays.out, n, 2 * bench::processors()));
  });
  bench::expect_equal("histogram", arrays.out, arrays.expected, 256);
  if (n >= std::uint64_t{1} << 31) return;  // the plain one counts its elements in an int
  bench::time("histogram", "plain", n, work, [&] {
    check(cudaMemsetAsync(arrays.out, 0, 256 * sizeof(Word)));
    check(histogram_shared(bytes, arrays.out, static_cast<int>(n), dim3(2112), dim3(256)));
  });
  bench::expect_equal("plain histogram", arrays.out, arrays.expected, 256);
}

__global__ void remainders_kernel(const Word* words, Word* keys, std::uint64_t n, Word bins) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    keys[i] = words[i] % bins;
  }
}

// Sizes are numbers of bins.
void key_histograms(const Arrays& arrays, unsigned bins) {
  constexpr std::uint64_t n = std::uint64_t{1} << 28;
  const double work = static_cast<double>(n);
  std::size_t scratch = kScratch;
  remainders_kernel<<<1024, 256>>>(arrays.in, arrays.values, n, bins);
  bench::time("histogram of keys", "CUB", bins, work, [&] {
    check(cub::DeviceHistogram::HistogramEven(
        arrays.scratch, scratch, arrays.values, reinterpret_cast<int*>(arrays.expected),
        static_cast<int>(bins) + 1, Word{0}, Word{bins}, static_cast<long long>(n)));
  });
  bench::time("histogram of keys", "fast", bins, work, [&] {
    check(cudaMemsetAsync(arrays.out, 0, bins * sizeof(Word)));
    check(fast::launch_histogram_keys<1024, 2>(arrays.values, arrays.out, n, bins,
                                               2 * bench::processors()));
  });
  bench::expect_equal("histogram of keys", arrays.out, arrays.expected, bins);
}

void sorts(const Arrays& arrays, std::uint64_t n) {
  const double keys = static_cast<double>(n);
  std::size_t scratch = kScratch;
  const auto code = fast::KeyCode<Word>::unsigned_numbers();
  const unsigned blocks = 8 * bench::processors();
  bench::time("sort", "CUB", n, keys, [&] {
    check(cub::DeviceRadixSort::SortKeys(arrays.scratch, scratch, arrays.in, arrays.expected, n));
  });
  bench::time("sort", "fast", n, keys, [&] {
    check(fast::launch_radix_sort_onesweep<Word, fast::NoValue, Sort>(
        {arrays.in, nullptr, arrays.out, nullptr}, n, arrays.scratch, code, blocks));
  });
  bench::expect_equal("sort", arrays.out, arrays.expected, n);
  if (n > std::uint64_t{1} << 28) return;
  bench::time("sort by key", "CUB", n, keys, [&] {
    check(cub::DeviceRadixSort::SortPairs(arrays.scratch, scratch, arrays.in, arrays.expected,
                                          arrays.in, arrays.expected_values, n));
  });
  bench::time("sort by key", "fast", n, keys, [&] {
    check(fast::launch_radix_sort_onesweep<Word, Word, SortPairs>(
        {arrays.in, arrays.in, arrays.out, arrays.values}, n, arrays.scratch, code, blocks));
  });
  bench::expect_equal("sort by key", arrays.out, arrays.expected, n);
  bench::expect_equal("sort by key", arrays.values, arrays.expected_values, n);
}

}  // namespace

int main() {
  const Arrays arrays;
  for (std::uint64_t n = std::uint64_t{1} << 20; n <= 4 * kMax; n *= 4) histograms(arrays, n);
  for (unsigned bins = 2; bins <= 65'536; bins *= 8) key_histograms(arrays, bins);
  for (std::uint64_t n = std::uint64_t{1} << 16; n <= kMax; n *= 4) sorts(arrays, n);
}
