// Indices of 32 bits that wrap.
#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::copy_out;
using warpcheck::litmus::zeroed;

// expect: wrapped-integer
// expect: out-of-bounds global
__global__ void signed_product(int* out, int row, int columns) {
  const int index = row * columns + threadIdx.x;  //~ compute
  out[index] = 1;                                 //~ write
}
LITMUS(signed_product) { signed_product<<<1, 1>>>(zeroed<int>(64), 50'000, 50'000); }

// expect: clean
LITMUS(product_fits) { signed_product<<<1, 1>>>(zeroed<int>(64), 3, 20); }

// The wrapped index lies inside: no access is out of bounds.
// expect: wrapped-integer
__global__ void inside_by_chance(int* out, unsigned row, unsigned columns) {
  const unsigned index = row * columns + threadIdx.x;  //~ compute
  out[index] = 1;                                      //~ write
}
LITMUS(inside_by_chance) { inside_by_chance<<<1, 1>>>(zeroed<int>(64), 65'536, 65'536); }

// expect: clean
__global__ void in_64_bits(int* out, unsigned row, unsigned columns) {
  const std::size_t index = std::size_t{row} * columns + threadIdx.x;
  if (index < 64) out[index] = 1;
}
LITMUS(in_64_bits) { in_64_bits<<<1, 1>>>(zeroed<int>(64), 65'536, 65'536); }

// 2^31 and more are right as unsigned.
// expect: clean
__global__ void unsigned_offset(int* out, unsigned row, unsigned columns) {
  const unsigned index = row * columns - 2'500'000'000u + threadIdx.x;
  out[index] = 1;
}
LITMUS(unsigned_offset) { unsigned_offset<<<1, 32>>>(zeroed<int>(64), 50'000, 50'000); }

// expect: wrapped-integer
__global__ void bound(int* out, int rows, int columns) {
  const int count = rows * columns;                             //~ compute
  if (static_cast<int>(threadIdx.x) < count) out[threadIdx.x] = 1;  //~ compute
}
LITMUS(bound) { bound<<<1, 32>>>(zeroed<int>(64), 50'000, 50'000); }

// expect: clean
LITMUS(bound_fits) { bound<<<1, 32>>>(zeroed<int>(64), 4, 5); }

// The mean of two large indices.
// expect: wrapped-integer
__global__ void search(int* out, int low, int high, int limit) {
  for (int step = 0; step < 40 && low < high; ++step) {
    const int middle = (low + high) / 2;  //~ compute
    if (middle < limit) {                 //~ compute
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  out[threadIdx.x] = low;
}
LITMUS(search) { search<<<1, 1>>>(zeroed<int>(64), 1'500'000'000, 2'000'000'000, 1'900'000'000); }

// expect: clean
LITMUS(search_small) { search<<<1, 1>>>(zeroed<int>(64), 0, 1'000'000, 999'999); }

// Unsigned sums up to 2^32 have a right half.
// expect: clean
__global__ void search_unsigned(int* out, unsigned low, unsigned high) {
  const unsigned middle = (low + high) / 2;
  if (middle > low) out[threadIdx.x] = 1;
}
LITMUS(search_unsigned) {
  search_unsigned<<<1, 1>>>(zeroed<int>(64), 1'500'000'000, 2'000'000'000);
}

// A hash wraps, and takes the rest.
// expect: clean
__global__ void hashes(int* out, unsigned buckets) {
  unsigned hash = threadIdx.x;
  for (int i = 0; i < 8; ++i) hash = hash * 31 + 77'777'777;
  out[hash % buckets] = 1;
}
LITMUS(hashes) { hashes<<<1, 1>>>(zeroed<int>(64), 61); }

// expect: clean
__global__ void draws(int* out, unsigned limit) {
  unsigned state = threadIdx.x + 1;
  for (int i = 0; i < 8; ++i) state = state * 1'664'525u + 1'013'904'223u;
  if (state < limit) out[threadIdx.x] = 1;
}
LITMUS(draws) { draws<<<1, 32>>>(zeroed<int>(64), 1u << 30); }

// A word that is taken apart: what one shift drops another keeps, as where bits are rounded to fewer.
// expect: clean
__global__ void takes_apart(int* out, const unsigned* words) {
  const unsigned word = words[threadIdx.x], low = word << 16, high = word >> 16;
  const bool is_up = low > 0x80000000u || (low == 0x80000000u && (high & 1) != 0);
  out[threadIdx.x] = static_cast<int>(is_up ? high + 1 : high);
}
LITMUS(takes_apart) {
  unsigned* const words = zeroed<unsigned>(64);
  cudaMemset(words, 0x3f, 64 * sizeof(unsigned));
  takes_apart<<<1, 32>>>(zeroed<int>(64), words);
}

// expect: clean
__global__ void asks_whether_it_wraps(int* out, unsigned a, unsigned b) {
  const unsigned sum = a + b;
  out[threadIdx.x] = sum < a ? 1 : 0;
}
LITMUS(asks_whether_it_wraps) {
  asks_whether_it_wraps<<<1, 32>>>(zeroed<int>(64), 1u << 31, 1u << 31);
}

// expect: wrapped-integer
// expect: out-of-bounds global
__global__ void strides(int* out, int stride) {
  int index = static_cast<int>(threadIdx.x);
  for (int i = 0; i < 2; ++i) index += stride;  //~ compute
  out[index] = 1;                               //~ write
}
LITMUS(strides) { strides<<<1, 1>>>(zeroed<int>(64), 2'000'000'000); }

// expect: clean
LITMUS(strides_fit) { strides<<<1, 1>>>(zeroed<int>(64), 20); }

namespace {

constexpr int kMeans = 32;

// Sums and counts, of which the first count is given.
template <typename Out>
void run_means(void (*kernel)(const int*, const int*, Out*), int first_count) {
  std::vector<int> sums(kMeans, 7), counts(kMeans, 2);
  counts[0] = first_count;
  int *const in = zeroed<int>(kMeans), *const by = zeroed<int>(kMeans);
  cudaMemcpy(in, sums.data(), sizeof(int) * kMeans, cudaMemcpyHostToDevice);
  cudaMemcpy(by, counts.data(), sizeof(int) * kMeans, cudaMemcpyHostToDevice);
  Out* const out = zeroed<Out>(kMeans);
  kernel<<<1, kMeans>>>(in, by, out);
  copy_out(out, kMeans);
}

}  // namespace

// expect: not-a-number global
__global__ void means(const int* sums, const int* counts, int* out) {
  out[threadIdx.x] = sums[threadIdx.x] / counts[threadIdx.x];  //~ compute //~ write
}
LITMUS(mean_of_none) { run_means(means, 0); }

// expect: clean
LITMUS(mean_of_some) { run_means(means, 3); }

// expect: not-a-number global
__global__ void means_as_floats(const int* sums, const int* counts, float* out) {
  const int mean = sums[threadIdx.x] % counts[threadIdx.x];  //~ compute
  out[threadIdx.x] = 0.5f * static_cast<float>(mean);        //~ write
}
LITMUS(half_a_remainder_by_zero) { run_means(means_as_floats, 0); }

// A program may divide first and select afterwards.
// expect: clean
__global__ void means_where_there_are(const int* sums, const int* counts, int* out) {
  const int mean = sums[threadIdx.x] / counts[threadIdx.x];
  out[threadIdx.x] = counts[threadIdx.x] == 0 ? -1 : mean;
}
LITMUS(mean_of_none_dropped) { run_means(means_where_there_are, 0); }
