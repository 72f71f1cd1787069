#include "bench/kernels/tables.hpp"

namespace {

constexpr int kReads = 8;

__constant__ int table[256];

__global__ void bench_gather(const int* in, int* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  int at = i, sum = 0;
  for (int read = 0; read < kReads; ++read) {
    const int value = in[at];
    sum += value;
    at = (value * 61 + i) & (n - 1);
  }
  out[i] = sum;
}

__global__ void bench_constant_table(const int* in, int* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned key = static_cast<unsigned>(in[i]);
  int sum = 0;
  for (int read = 0; read < kReads; ++read) {
    sum += table[key % 256];
    key = key * 5 + static_cast<unsigned>(read);
  }
  out[i] = sum;
}

}  // namespace

cudaError_t bench::gather(const int* in, int* out, int n) {
  bench_gather<<<n / 256, 256>>>(in, out, n);
  return cudaGetLastError();
}

cudaError_t bench::constant_table(const int* in, int* out, int n) {
  bench_constant_table<<<n / 256, 256>>>(in, out);
  return cudaGetLastError();
}
