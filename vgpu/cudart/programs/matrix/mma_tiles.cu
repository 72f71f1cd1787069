// A product by ldmatrix and mma.sync, with tiles that cp.async brings to swizzled shared memory,
// as libraries of templates generate it.
// arch: compute_80
// MUTANT: the tile of the next step is fetched into the one that is being read.
// expect: data-race
#include <cuda_fp16.h>

#include "check.hpp"

constexpr int kM = 32, kN = 16, kK = 16;  // of a block of two warps; each has 16 x 16

__device__ unsigned address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
// Rows of 16 halves are two chunks of 8, which change places in every other group of four rows.
__device__ int swizzled(int row, int chunk) { return row * 16 + (chunk ^ (row / 4 & 1)) * 8; }

__global__ void multiply(const __half* a, const __half* b, float* c, int n, int k) {
  __shared__ alignas(16) __half rows[2][kM * kK], columns[2][kN * kK];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const int row0 = blockIdx.y * kM, column0 = blockIdx.x * kN;
  const auto copy = [](void* to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address(to)), "l"(from));  //~
  };
  const auto fetch = [&](int step) {
#ifdef MUTANT
    const int stage = 0;
#else
    const int stage = step % 2;
#endif
    copy(rows[stage] + swizzled(t / 2, t % 2), a + (row0 + t / 2) * k + step * kK + t % 2 * 8);
    if (t < 32)
      copy(columns[stage] + swizzled(t / 2, t % 2),
           b + (column0 + t / 2) * k + step * kK + t % 2 * 8);
    asm volatile("cp.async.commit_group;");
  };
  float sums[2][4] = {};
  fetch(0);
  for (int step = 0; step < k / kK; ++step) {
    if (step + 1 < k / kK) fetch(step + 1);
    if (step + 1 < k / kK) {
      asm volatile("cp.async.wait_group 1;" ::: "memory");
    } else {
      asm volatile("cp.async.wait_group 0;" ::: "memory");
    }
    __syncthreads();
#ifdef MUTANT
    const int stage = 0;
#else
    const int stage = step % 2;
#endif
    unsigned x[4], y[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"  //~
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(address(rows[stage] + swizzled(warp * 16 + lane % 16, lane / 16))));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"  //~
                 : "=r"(y[0]), "=r"(y[1]), "=r"(y[2]), "=r"(y[3])
                 : "r"(address(columns[stage] + swizzled(lane % 8 + lane / 16 * 8, lane / 8 % 2))));
    for (int half = 0; half < 2; ++half) {
      float* const s = sums[half];
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
          "{%8, %9}, "
          "{%0, %1, %2, %3};"
          : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
          : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[2 * half]), "r"(y[2 * half + 1]));
    }
    __syncthreads();
  }
  for (int half = 0; half < 2; ++half) {
    for (int i = 0; i < 4; ++i) {
      const int row = row0 + warp * 16 + lane / 4 + i / 2 * 8;
      c[row * n + column0 + half * 8 + lane % 4 * 2 + i % 2] = sums[half][i];
    }
  }
}

int main() {
  const int m = 64, n = 32, k = 48;
  Buffer<__half> a(m * k), b(n * k);
  Buffer<float> c(m * n);
  for (int i = 0; i < m * k; ++i) a[i] = __float2half(i % 5 - 2);
  for (int i = 0; i < n * k; ++i) b[i] = __float2half(i % 7 - 3);
  multiply<<<dim3(n / kN, m / kM), 64>>>(a, b, c, n, k);
  finish();
  bool is_right = true;
  for (int i = 0; i < m * n; ++i) {
    float sum = 0;
    for (int j = 0; j < k; ++j)
      sum += __half2float(a[i / n * k + j]) * __half2float(b[i % n * k + j]);
    is_right &= c[i] == sum;
  }
  return verdict(is_right);
}
