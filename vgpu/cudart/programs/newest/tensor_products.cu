// Products whose sums stand in tensor memory: halves, bfloat16, tf32, bytes and 8-bit floats, each
// with four instructions of 32 bytes of k, against sums of the host.
// arch: compute_100a
// MUTANT: the sums are loaded before the phase that the commit completes.
// expect: data-race, use-after-free
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>

#include "check.hpp"

constexpr int kRows = 128, kColumns = 64, kRowBytes = 128;
constexpr int kChunk = 16;  // bytes of k in a core matrix of 8 rows

__device__ unsigned address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// Chunks of k one after the other; in a chunk, groups of 8 rows one after the other.
__device__ std::uint64_t descriptor(const char* tile, int rows) {
  const std::uint64_t chunk = rows * kChunk, group = 8 * kChunk, version = 1;
  return address(tile) >> 4 | chunk >> 4 << 16 | group >> 4 << 32 | version << 46;
}

__device__ void fill(char* tile, const char* matrix, int rows) {
  for (int i = threadIdx.x; i < rows * kRowBytes; i += blockDim.x) {
    const int row = i / kRowBytes, byte = i % kRowBytes;
    tile[byte / kChunk * rows * kChunk + row * kChunk + byte % kChunk] = matrix[i];
  }
}

// The formats of the sums and of both operands (PTX ISA, 9.7.16.4.2, instruction descriptor).
__device__ constexpr unsigned instruction(unsigned sums, unsigned operands) {
  return sums << 4 | operands << 7 | operands << 10 | kColumns / 8 << 17 | kRows / 16 << 24;
}

#define PRODUCT(name, kind, formats)                                                             \
  struct name {                                                                                  \
    static __device__ void multiply(unsigned sums, std::uint64_t a, std::uint64_t b, int adds) { \
      asm volatile(                                                                              \
          "{.reg .pred p; setp.ne.s32 p, %4, 0;\n"                                               \
          "tcgen05.mma.cta_group::1.kind::" kind " [%0], %1, %2, %3, p;}" ::"r"(sums),           \
          "l"(a), "l"(b), "r"(formats), "r"(adds)                                                \
          : "memory");                                                                           \
    }                                                                                            \
  }
PRODUCT(Halves, "f16", instruction(1, 0));  //~
PRODUCT(Bfloats, "f16", instruction(1, 1));
PRODUCT(Tf32, "tf32", instruction(1, 2));
PRODUCT(Bytes, "i8", instruction(2, 1));
PRODUCT(ShortFloats, "f8f6f4", instruction(1, 0));

template <typename Product>
__global__ void multiply(const char* a, const char* b, unsigned* sums) {
  __shared__ alignas(128) char a_tile[kRows * kRowBytes], b_tile[kColumns * kRowBytes];
  __shared__ unsigned tensor;
  __shared__ alignas(8) std::uint64_t done;
  const int t = threadIdx.x;
  fill(a_tile, a, kRows);
  fill(b_tile, b, kColumns);
  if (t < 32) {
    asm volatile(
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;\n"
        "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::"r"(address(&tensor))
        : "memory");
  }
  if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(&done)) : "memory");
  asm volatile("fence.proxy.async.shared::cta;\ntcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  const unsigned base = tensor;
  if (t == 0) {
    for (int k = 0; k < kRowBytes / kChunk; k += 2) {
      Product::multiply(base, descriptor(a_tile + k * kRows * kChunk, kRows),
                        descriptor(b_tile + k * kColumns * kChunk, kColumns), k);
    }
    asm volatile(
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(
            address(&done))
        : "memory");
  }
#ifndef MUTANT
  for (int ends = 0; !ends;) {
    asm volatile(
        "{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.b32 %0, 1, 0, p;}"
        : "=r"(ends)
        : "r"(address(&done))
        : "memory");
  }
#endif
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  for (int column = 0; column < kColumns; column += 2) {
    unsigned low, high;
    asm volatile(
        "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%0, %1}, [%2];\n"
        "tcgen05.wait::ld.sync.aligned;"
        : "=r"(low), "=r"(high)
        : "r"(base + (t / 32 * 32 << 16) + column));  //~
    sums[t * kColumns + column] = low;
    sums[t * kColumns + column + 1] = high;
  }
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  if (t < 32) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" ::"r"(base));
}

// Small numbers, so that every format has them and every sum is exact.
template <typename Product, typename T, typename Sum>
bool is_right(int bound) {
  constexpr int kDepth = kRowBytes / static_cast<int>(sizeof(T));
  Buffer<T> a(kRows * kDepth), b(kColumns * kDepth);
  Buffer<Sum> sums(kRows * kColumns);
  const auto number = [&](int i, int step) {
    return static_cast<float>(i * step % (2 * bound + 1) - bound);
  };
  for (int i = 0; i < kRows * kDepth; ++i) a[i] = static_cast<T>(number(i, 7));
  for (int i = 0; i < kColumns * kDepth; ++i) b[i] = static_cast<T>(number(i, 5));
  const T *a_begin = a, *b_begin = b;
  Sum* const sums_begin = sums;
  multiply<Product><<<1, kRows>>>(reinterpret_cast<const char*>(a_begin),
                                  reinterpret_cast<const char*>(b_begin),
                                  reinterpret_cast<unsigned*>(sums_begin));
  finish();
  bool right = true;
  for (int i = 0; i < kRows * kColumns; ++i) {
    float sum = 0;
    for (int k = 0; k < kDepth; ++k) {
      sum += static_cast<float>(a[i / kColumns * kDepth + k]) *
             static_cast<float>(b[i % kColumns * kDepth + k]);
    }
    right &= static_cast<float>(sums[i]) == sum;
  }
  return right;
}

int main() {
  const bool halves = is_right<Halves, __half, float>(11);
  const bool bfloats = is_right<Bfloats, __nv_bfloat16, float>(9);
  const bool tf32 = is_right<Tf32, float, float>(100);
  const bool bytes = is_right<Bytes, signed char, int>(100);
  const bool floats = is_right<ShortFloats, __nv_fp8_e4m3, float>(9);
  return verdict(halves & bfloats & tf32 & bytes & floats);
}
