// wgmma needs sm_90a.
#include <cuda_fp16.h>

#include <cstdint>

#include "bench/kernels/matrix_rates.hpp"

namespace {

constexpr int kSide = 64, kDepth = 16;

// Describes a matrix in shared memory without swizzling: PTX ISA 9.0, 9.7.15.5.1.2.2.
__device__ std::uint64_t descriptor(const __half* matrix) {
  constexpr std::uint64_t kLeading = 128 >> 4, kStride = 256 >> 4;
  return (__cvta_generic_to_shared(matrix) & 0x3ffff) >> 4 | kLeading << 16 | kStride << 32;
}

__global__ void bench_warpgroup(const int* in, int* out) {
  __shared__ alignas(128) __half a[kSide * kDepth], b[kSide * kDepth];
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < kSide * kDepth; i += bench::kRateThreads) {
    a[i] = __float2half(static_cast<float>(in[i] & 31) / 8 - 2);
    b[i] = __float2half(static_cast<float>(in[i] >> 5 & 31) / 8 - 2);
  }
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  const std::uint64_t of_a = descriptor(a), of_b = descriptor(b);
  float c[32] = {};
  for (int round = 0; round < bench::kRateRounds; ++round) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
        "%32, %33, 1, 1, 1, 0, 0;"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]),
          "+f"(c[7]), "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]),
          "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]),
          "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]),
          "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31])
        : "l"(of_a), "l"(of_b));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  float sum = 0;
  for (const float element : c) sum += element;
  out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<int>(sum);
}

}  // namespace

cudaError_t bench::warpgroup_rate(const int* in, int* out, int /*n*/) {
  bench_warpgroup<<<kRateBlocks, kRateThreads>>>(in, out);
  return cudaGetLastError();
}
