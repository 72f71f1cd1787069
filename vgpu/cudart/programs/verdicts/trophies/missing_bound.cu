// Kernels of our own with the structure of defects in public code (docs/use/trophies.md): a bound
// is missing, or it is wrong by one.  Each has a clean twin, with the bound.
//
// case rows: | | 0 0
// expect rows: error out-of-bounds row
// case rows_bounded: | | 0 1
// expect rows_bounded: clean
// case scales: | | 1 0
// expect scales: error out-of-bounds scale
// case scales_bounded: | | 1 1
// expect scales_bounded: clean
// case pairs: | | 2 0
// expect pairs: error out-of-bounds bias
// case pairs_bounded: | | 2 1
// expect pairs_bounded: clean
// case bins: | | 3 0
// expect bins: error out-of-bounds bin
// case bins_bounded: | | 3 1
// expect bins_bounded: clean
// case rest: | | 4 0
// expect rest: error out-of-bounds vector
// case rest_bounded: | | 4 1
// expect rest_bounded: clean
#include <cstdio>
#include <cstdlib>

// FlashAttention: a block has rows for a multiple of 8, and the sum of each is stored, although all
// reads are bounded.
__global__ void combine(const float* parts, float* sums, int rows, bool bounded) {
  constexpr int kRows = 8;
  const int row = blockIdx.x * kRows + threadIdx.x;
  const float part = threadIdx.x < kRows && row < rows ? parts[row] : 0;
  if (threadIdx.x >= kRows) return;
  if (!bounded || row < rows) sums[row] = part;  //~ row
}

// bitsandbytes: each thread reads the scale of its first value, also where it has none.
__global__ void scaled(const unsigned char* codes, const float* scales, float* to, int n,
                       int of_scale, bool bounded) {
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
  const float scale = !bounded || i < n ? scales[i / of_scale] : 0;  //~ scale
  for (int j = i; j < i + 2 && j < n; ++j) to[j] = codes[j] * scale;
}

// bitsandbytes: of two neighbours only the second one is bounded.
__global__ void add_bias(const float* bias, float* to, int n, bool bounded) {
  const int first = threadIdx.x * 2, second = first + 1;
  const float a = !bounded || first < n ? bias[first] : 0;  //~ bias
  const float b = second < n ? bias[second] : 0;
  if (first < n) to[first] = a;
  if (second < n) to[second] = b;
}

// HeCBench, histogram: the last index is `bins`.
__global__ void accumulate(const unsigned* parts, unsigned* out, int bins, int n, bool bounded) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (bounded ? i >= bins : i > bins) return;
  unsigned total = 0;
  for (int j = 0; j < n; ++j) total += parts[i + 64 * j];
  out[i] = total;  //~ bin
}

// HeCBench, threadcpy: what remains is computed without a sign, and is large for threads behind the
// end.
__global__ void copy_vectors(const int* from, int* to, size_t n, bool bounded) {
  const size_t index = (static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x) * 2;
  const size_t remains = n - index;
  if (bounded && index >= n) return;
  if (remains < 2) {
    for (size_t i = index; i < n; ++i) to[i] = from[i];
  } else {
    *reinterpret_cast<int2*>(to + index) = *reinterpret_cast<const int2*>(from + index);  //~ vector
  }
}

int main(int, char** arguments) {
  const int kind = std::atoi(arguments[1]);
  const bool bounded = std::atoi(arguments[2]) == 1;
  constexpr int kN = 50;  // no multiple of 8, 20 or 64
  float *in, *out, *scales;
  unsigned* parts;
  cudaMalloc(&in, kN * sizeof(float));
  cudaMalloc(&out, kN * sizeof(float));
  cudaMalloc(&scales, 3 * sizeof(float));
  cudaMalloc(&parts, 4 * 64 * sizeof(unsigned));
  cudaMemset(in, 0, kN * sizeof(float));
  cudaMemset(out, 0, kN * sizeof(float));
  cudaMemset(scales, 0, 3 * sizeof(float));
  cudaMemset(parts, 0, 4 * 64 * sizeof(unsigned));
  if (kind == 0) combine<<<7, 32>>>(in, out, kN, bounded);
  if (kind == 1)
    scaled<<<1, 64>>>(reinterpret_cast<unsigned char*>(in), scales, out, kN, 20, bounded);
  if (kind == 2) add_bias<<<1, 32>>>(in, out, kN, bounded);
  if (kind == 3) accumulate<<<1, 64>>>(parts, reinterpret_cast<unsigned*>(out), kN, 4, bounded);
  if (kind == 4)
    copy_vectors<<<1, 32>>>(reinterpret_cast<int*>(in), reinterpret_cast<int*>(out), kN, bounded);
  float last;
  cudaMemcpy(&last, out + kN - 1, sizeof last, cudaMemcpyDeviceToHost);
  std::printf("%g\n", last);
  cudaFree(parts);
  cudaFree(scales);
  cudaFree(out);
  cudaFree(in);
  return 0;
}
