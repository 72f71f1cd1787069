// tcgen05 needs sm_100a.
#include <cuda_fp16.h>

#include <cstdint>

#include "bench/kernels/matrix_rates.hpp"

namespace {

constexpr int kRows = 128, kColumns = 64, kDepth = 16;

__device__ unsigned address_of(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// Describes a matrix without swizzling, its two chunks of k one after the other (PTX ISA 9.0,
// 9.7.16.4.1).
__device__ std::uint64_t descriptor(const __half* matrix, int rows) {
  const std::uint64_t chunk = rows * 16, group = 8 * 16, version = 1;
  return address_of(matrix) >> 4 | chunk >> 4 << 16 | group >> 4 << 32 | version << 46;
}

// One thread begins all products; the block waits for them together.
__global__ void bench_tensor(const int* in, int* out) {
  // Sums in f32, factors in f16 (9.7.16.4.2).
  constexpr unsigned kDescription = 1u << 4 | kColumns / 8 << 17 | kRows / 16 << 24;
  __shared__ alignas(128) __half a[kRows * kDepth], b[kColumns * kDepth];
  __shared__ unsigned tensor;
  __shared__ alignas(8) std::uint64_t done;
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < kRows * kDepth; i += bench::kRateThreads) {
    a[i] = __float2half(static_cast<float>(in[i] & 31) / 8 - 2);
    if (i < kColumns * kDepth) b[i] = __float2half(static_cast<float>(in[i] >> 5 & 31) / 8 - 2);
  }
  if (t < 32) {
    asm volatile(
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;\n"
        "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::"r"(address_of(&tensor))
        : "memory");
  }
  if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address_of(&done)) : "memory");
  asm volatile("fence.proxy.async.shared::cta;\ntcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  const unsigned sums = tensor;
  if (t == 0) {
    for (int round = 0; round < bench::kRateRounds; ++round) {
      asm volatile(
          "{.reg .pred p; setp.ne.s32 p, %4, 0;\n"
          "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;}" ::"r"(sums),
          "l"(descriptor(a, kRows)), "l"(descriptor(b, kColumns)), "r"(kDescription), "r"(round)
          : "memory");
    }
    asm volatile(
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(
            address_of(&done))
        : "memory");
  }
  for (int ends = 0; !ends;) {
    asm volatile(
        "{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.b32 %0, 1, 0, p;}"
        : "=r"(ends)
        : "r"(address_of(&done))
        : "memory");
  }
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  unsigned sum;
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];\ntcgen05.wait::ld.sync.aligned;"
               : "=r"(sum)
               : "r"(sums + (t / 32 * 32 << 16)));
  out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<int>(__uint_as_float(sum));
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  if (t < 32) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" ::"r"(sums));
}

}  // namespace

cudaError_t bench::tensor_rate(const int* in, int* out, int /*n*/) {
  bench_tensor<<<kRateBlocks, kRateThreads>>>(in, out);
  return cudaGetLastError();
}
