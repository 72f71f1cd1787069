#include "bench/kernels/matrix_rates.hpp"

#include <cuda_fp16.h>

namespace {

__device__ int thread_of_grid() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

// Two halves of 5 bits each.
__device__ unsigned halves(int bits) {
  const auto half = [](int x) {
    return unsigned{__half_as_ushort(__float2half(static_cast<float>(x & 31) / 8 - 2))};
  };
  return half(bits) | half(bits >> 5) << 16;
}

__global__ void bench_matrix_f16(const int* in, int* out) {
  const int i = thread_of_grid();
  unsigned a[4], b[2];
  for (int reg = 0; reg < 4; ++reg) a[reg] = halves(in[i] >> reg);
  for (int reg = 0; reg < 2; ++reg) b[reg] = halves(in[i] * 5 >> reg);
  float c[4] = {};
  for (int round = 0; round < bench::kRateRounds; ++round) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
  out[i] = static_cast<int>(c[0] + c[1] + c[2] + c[3]);
}

__global__ void bench_matrix_tf32(const int* in, int* out) {
  const int i = thread_of_grid();
  float a[4], b[2], c[4] = {};
  for (int reg = 0; reg < 4; ++reg) a[reg] = static_cast<float>(in[i] >> reg & 63) - 32;
  for (int reg = 0; reg < 2; ++reg) b[reg] = static_cast<float>(in[i] * 5 >> reg & 63) / 64;
  for (int round = 0; round < bench::kRateRounds; ++round) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])),
          "r"(__float_as_uint(a[3])), "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])));
  }
  out[i] = static_cast<int>(c[0] + c[1] + c[2] + c[3]);
}

__global__ void bench_matrix_s8(const int* in, int* out) {
  const int i = thread_of_grid();
  int a[4], b[2], c[4] = {};
  for (int reg = 0; reg < 4; ++reg) a[reg] = in[i] * (0x1030507 << reg);
  for (int reg = 0; reg < 2; ++reg) b[reg] = in[i] * (0x3050709 << reg);
  for (int round = 0; round < bench::kRateRounds; ++round) {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
  out[i] = c[0] + c[1] + c[2] + c[3];
}

__global__ void bench_matrix_f64(const int* in, int* out) {
  const int i = thread_of_grid();
  const double a = in[i] / 3.0 - 600, b = in[i] / 7.0 - 300;
  double c[2] = {};
  for (int round = 0; round < bench::kRateRounds; ++round) {
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(c[0]), "+d"(c[1])
                 : "d"(a), "d"(b));
  }
  out[i] = static_cast<int>(c[0] + c[1]);
}

}  // namespace

cudaError_t bench::matrix_rate_f16(const int* in, int* out, int /*n*/) {
  bench_matrix_f16<<<kRateBlocks, kRateThreads>>>(in, out);
  return cudaGetLastError();
}

cudaError_t bench::matrix_rate_tf32(const int* in, int* out, int /*n*/) {
  bench_matrix_tf32<<<kRateBlocks, kRateThreads>>>(in, out);
  return cudaGetLastError();
}

cudaError_t bench::matrix_rate_s8(const int* in, int* out, int /*n*/) {
  bench_matrix_s8<<<kRateBlocks, kRateThreads>>>(in, out);
  return cudaGetLastError();
}

cudaError_t bench::matrix_rate_f64(const int* in, int* out, int /*n*/) {
  bench_matrix_f64<<<kRateBlocks, kRateThreads>>>(in, out);
  return cudaGetLastError();
}
