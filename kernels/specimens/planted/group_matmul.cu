// wgmma needs sm_90a.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "kernels/specimens/planted/wrong_functions.hpp"

namespace {

constexpr int kSide = 64, kThreads = 128, kSums = 32;

// What a kernel does wrong.
enum Wrong { kTransposed = 1, kLastStepLeftOut, kWrongRow, kSumsReplaced, kWrongColumn, kNegated };

struct Half {
  using Element = __half;
  static constexpr int kDepth = 16;
  static __device__ Element of(float x) { return __float2half(x); }
};
struct Bfloat {
  using Element = __nv_bfloat16;
  static constexpr int kDepth = 16;
  static __device__ Element of(float x) { return __float2bfloat16(x); }
};
struct Tf32 {
  using Element = float;
  static constexpr int kDepth = 8;
  static __device__ Element of(float x) { return x; }
};

#define SUMS(c)                                                                                   \
  "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]), \
      "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]),    \
      "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]),  \
      "+f"(c[22]), "+f"(c[23]), "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]),  \
      "+f"(c[29]), "+f"(c[30]), "+f"(c[31])
#define MULTIPLY(types, orders, c, a, b, adds)                                      \
  asm volatile(                                                                     \
      "{.reg .pred p; setp.ne.b32 p, %34, 0;\n"                                     \
      "wgmma.mma_async.sync.aligned." types                                         \
      " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "    \
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, " \
      "%31}, %32, %33, p, 1, 1" orders ";}"                                         \
      : SUMS(c)                                                                     \
      : "l"(a), "l"(b), "r"(adds))

template <class Type>
__device__ void multiply(float (&sums)[kSums], std::uint64_t a, std::uint64_t b, int adds);
template <>
__device__ void multiply<Half>(float (&sums)[kSums], std::uint64_t a, std::uint64_t b, int adds) {
  MULTIPLY("m64n64k16.f32.f16.f16", ", 0, 0", sums, a, b, adds);
}
template <>
__device__ void multiply<Bfloat>(float (&sums)[kSums], std::uint64_t a, std::uint64_t b, int adds) {
  MULTIPLY("m64n64k16.f32.bf16.bf16", ", 0, 0", sums, a, b, adds);
}
template <>
__device__ void multiply<Tf32>(float (&sums)[kSums], std::uint64_t a, std::uint64_t b, int adds) {
  MULTIPLY("m64n64k8.f32.tf32.tf32", "", sums, a, b, adds);
}

// Describes a matrix without swizzling (PTX ISA 9.0, 9.7.15.5.1.2.2): eight rows of 16 bytes are
// adjacent, and the two chunks of k follow each other.
__device__ std::uint64_t descriptor(const void* matrix) {
  constexpr std::uint64_t kLeading = 128 >> 4, kStride = 256 >> 4;
  return (__cvta_generic_to_shared(matrix) & 0x3ffff) >> 4 | kLeading << 16 | kStride << 32;
}

template <class Type>
__global__ void multiply_tiles(const float* a, const float* b, float* c, int wrong) {
  using Element = typename Type::Element;
  constexpr int kDepth = Type::kDepth, kOfChunk = 16 / static_cast<int>(sizeof(Element));
  __shared__ alignas(128) Element left[kSide * kDepth], right[kSide * kDepth];
  const int t = static_cast<int>(threadIdx.x);
  float sums[kSums] = {};
  const int steps = kSide / kDepth - (wrong == kLastStepLeftOut ? 1 : 0);
  for (int step = 0; step < steps; ++step) {
    for (int i = t; i < kSide * kDepth; i += kThreads) {
      const int line = i / kDepth, k = i % kDepth, from = step * kDepth + k;
      const int at = line / 8 * 16 * kOfChunk + k / kOfChunk * 8 * kOfChunk + line % 8 * kOfChunk +
                     k % kOfChunk;
      const int row = wrong == kWrongRow && line == 9 ? 8 : line;
      const float of_a = a[row * kSide + from];
      left[at] = Type::of(wrong == kNegated && step == 1 ? -of_a : of_a);
      right[at] = Type::of(wrong == kTransposed ? b[line * kSide + from] : b[from * kSide + line]);
    }
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    multiply<Type>(sums, descriptor(left), descriptor(right),
                   step != 0 && (wrong != kSumsReplaced || step != 2));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    __syncthreads();
  }
  for (int i = 0; i < kSums; ++i) {
    const int row = t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8;
    const int column = i / 4 * 8 + t % 4 * 2 + i % 2;
    c[row * kSide + (wrong == kWrongColumn ? column ^ 1 : column)] = sums[i];
  }
}

}  // namespace

cudaError_t group_matmul(const float* a, const float* b, float* c, int n, int wrong) {
  if (n != kSide) return cudaErrorInvalidValue;
  switch (wrong / 10) {
    case 0: multiply_tiles<Half><<<1, kThreads>>>(a, b, c, wrong % 10); break;
    case 1: multiply_tiles<Bfloat><<<1, kThreads>>>(a, b, c, wrong % 10); break;
    default: multiply_tiles<Tf32><<<1, kThreads>>>(a, b, c, wrong % 10); break;
  }
  return cudaGetLastError();
}
