// Sums of products of a warpgroup, of all types, as digests: an H200 prints the same.
// arch: compute_90a
// prints: f16: 15a230b66dfee60f, c047c34c 3d3f0c28 3fc24fbe
// prints: f16 to f16: 1a9b4d55847c8aad, 478ac23e 3f372a18 3f693e13
// prints: bf16: 640d8b394f145ff5, 3d48fab0 bfcdaac1 3f8a8c83
// prints: tf32: 756a283adfd96150, 391ba000 3e251d3a 3e882b7f
// prints: e4m3: 318085634cbddf25, 3c3c0000 4033e000 3f801000
// prints: e5m2: 6e25b98cc4fbd725, c04f7c00 3fb69400 3f62d000
// prints: e4m3 and e5m2: cc4b42989139cb25, 3eaa4000 3f9aec00 3f92e800
// prints: e4m3 to f16: a3da647e467a344a, 44ad2260 bf1641a0 c0ef3c02
// prints: u8 and s8: 7d069f23a0d0eb51, 7fff7099 80012573 8000913b
// prints: s8, saturated: 0a2902eed8c4171b, 7fffc099 7fffffff 7fffffff
// prints: b1: 0d33aaaf0fce3870, 0000004f 00000045 00000044
#include <cstdint>

#include "check.hpp"

constexpr int kTrials = 64;

__device__ std::uint64_t descriptor_of(const void* shared) {
  return __cvta_generic_to_shared(shared) >> 4 | 8ull << 16 | 16ull << 32;
}

// A word of elements: of floats, exponents stay near the middle.
__host__ __device__ std::uint32_t random_word(std::uint32_t seed) {
  seed = (seed ^ 61) ^ (seed >> 16);
  seed *= 9;
  seed ^= seed >> 4;
  seed *= 0x27d4eb2d;
  return seed ^ (seed >> 15);
}

// 64 rows and 8 columns of 32 bytes, and what is added to; keep and set: bits of their words.
#define SUMS(name, form, scales, keep, set, first)                                        \
  __global__ void name(std::uint32_t* out) {                                              \
    __shared__ alignas(128) std::uint32_t a[512], b[64];                                  \
    for (int trial = 0; trial < kTrials; ++trial) {                                       \
      __syncthreads();                                                                    \
      for (int i = threadIdx.x; i < 576; i += blockDim.x) {                               \
        (i < 512 ? a[i] : b[i - 512]) = (random_word(trial * 576 + i) & keep) | set;      \
      }                                                                                   \
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                        \
      __syncthreads();                                                                    \
      std::uint32_t d[4] = {first, first, first, first};                                  \
      asm volatile(                                                                       \
          "wgmma.fence.sync.aligned;\n"                                                   \
          "wgmma.mma_async.sync.aligned." form ", %4, %5, 1" scales                       \
          ";\n"                                                                           \
          "wgmma.commit_group.sync.aligned;\n"                                            \
          "wgmma.wait_group.sync.aligned 0;"                                              \
          : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                \
          : "l"(descriptor_of(a)), "l"(descriptor_of(b))                                  \
          : "memory");                                                                    \
      for (int i = 0; i < 4; ++i) out[(trial * 4 + i) * blockDim.x + threadIdx.x] = d[i]; \
    }                                                                                     \
  }

#define FOUR " {%0, %1, %2, %3}"
#define TWO " {%0, %1}"
SUMS(halves, "m64n8k16.f32.f16.f16" FOUR, ", 1, 1, 0, 0", 0x8fff8fff, 0x30003000, 0x3f800001)
SUMS(halves_to_half, "m64n8k16.f16.f16.f16" TWO, ", 1, 1, 0, 0", 0x8fff8fff, 0x30003000, 0x3c013c01)
SUMS(brain, "m64n8k16.f32.bf16.bf16" FOUR, ", 1, 1, 0, 0", 0x83ff83ff, 0x3c003c00, 0x3f800001)
SUMS(singles, "m64n8k8.f32.tf32.tf32" FOUR, ", 1, 1", 0x83ffffff, 0x3c000000, 0x3f800001)
SUMS(e4m3, "m64n8k32.f32.e4m3.e4m3" FOUR, ", 1, 1", 0xbfbfbfbf, 0, 0x3f800001)
SUMS(e5m2, "m64n8k32.f32.e5m2.e5m2" FOUR, ", 1, 1", 0x9f9f9f9f, 0x20202020, 0x3f800001)
SUMS(mixed, "m64n8k32.f32.e4m3.e5m2" FOUR, ", 1, 1", 0xbfbfbfbf, 0, 0x3f800001)
SUMS(e4m3_to_half, "m64n8k32.f16.e4m3.e4m3" TWO, ", 1, 1", 0xbfbfbfbf, 0, 0x3c013c01)
SUMS(bytes, "m64n8k32.s32.u8.s8" FOUR, "", 0xffffffff, 0, 0x7fffff00)
SUMS(bytes_saturated, "m64n8k32.s32.s8.s8.satfinite" FOUR, "", 0xffffffff, 0, 0x7fffff00)
SUMS(bits, "m64n8k256.s32.b1.b1.and.popc" FOUR, "", 0xffffffff, 0, 5)

void show(const char* name, void (*sums)(std::uint32_t*)) {
  Buffer<std::uint32_t> out(kTrials * 4 * 128);
  sums<<<1, 128>>>(out);
  finish();
  unsigned long long hash = 14695981039346656037u;
  for (const std::uint32_t word : out) hash = (hash ^ word) * 1099511628211u;
  std::printf("%s: %016llx, %08x %08x %08x\n", name, hash, out[0], out[1], out[2]);
}

int main() {
  show("f16", halves);
  show("f16 to f16", halves_to_half);
  show("bf16", brain);
  show("tf32", singles);
  show("e4m3", e4m3);
  show("e5m2", e5m2);
  show("e4m3 and e5m2", mixed);
  show("e4m3 to f16", e4m3_to_half);
  show("u8 and s8", bytes);
  show("s8, saturated", bytes_saturated);
  show("b1", bits);
  return verdict(true);
}
