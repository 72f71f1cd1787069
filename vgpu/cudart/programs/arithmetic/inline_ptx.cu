// PTX in line: carries, bit fields, permutations, logic of three, video, predicates, special
// registers, approximations, conversions, cache hints, ordered loads and stores.
// MUTANT: a word is read past its array.
// expect: out-of-bounds
#include "check.hpp"

__device__ unsigned long long add_wide(unsigned long long a, unsigned long long b) {
  unsigned low, high;
  asm("{ .reg .u32 al, ah, bl, bh; mov.b64 {al, ah}, %2; mov.b64 {bl, bh}, %3;\n"
      "  add.cc.u32 %0, al, bl; addc.u32 %1, ah, bh; }"
      : "=r"(low), "=r"(high)
      : "l"(a), "l"(b));
  return static_cast<unsigned long long>(high) << 32 | low;
}

__global__ void words(const unsigned* in, unsigned* out) {
  unsigned r, k = 0;
  const unsigned a = in[0], b = in[1];
  out[k++] = add_wide(0xffffffffull + a, 2) >> 32;
  asm("bfe.u32 %0, %1, 4, 8;" : "=r"(r) : "r"(b));
  out[k++] = r;
  asm("bfi.b32 %0, %1, %2, 8, 8;" : "=r"(r) : "r"(a), "r"(b));
  out[k++] = r;
  asm("prmt.b32 %0, %1, %2, 0x0123;" : "=r"(r) : "r"(b), "r"(0));
  out[k++] = r;
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r) : "r"(a), "r"(b), "r"(7));
  out[k++] = r;
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;"
      : "=r"(r)
      : "r"(0x01020304), "r"(0x04030201), "r"(1));
  out[k++] = r;
  asm("{ .reg .pred p, q; setp.gt.u32 p|q, %1, 100; selp.u32 %0, 10, 20, q; @p add.u32 %0, %0, 1; }"
      : "=r"(r)
      : "r"(a));
  out[k++] = r;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(r));
  out[k++] = r;
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(r) : "l"(in + 2));
  out[k++] = r;
#ifdef MUTANT
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(r) : "l"(in + 4) : "memory");  //~
#else
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(r) : "l"(in + 3) : "memory");
#endif
  out[k++] = r;
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(out + k++), "r"(77) : "memory");
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], 5;" ::"l"(out + k++) : "memory");
  asm volatile("prefetch.global.L2 [%0];" ::"l"(in));
}

__global__ void lanes(unsigned* out) {
  unsigned lane, below, active, alike;
  unsigned long long time;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
  asm volatile("activemask.b32 %0;" : "=r"(active));
  asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(alike) : "r"(lane / 4));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  const bool is_right = lane == threadIdx.x && below == (1u << lane) - 1 && active == ~0u &&
                        alike == 0xfu << lane / 4 * 4 && clock64() >= 0 && time != 0;
  atomicAnd(out, is_right);
}

int main() {
  Buffer<unsigned> in(4), out(16), all(1, 1);
  in[0] = 0x1f4, in[1] = 0x12345678, in[2] = 33, in[3] = 44;
  words<<<1, 1, 100>>>(in, out);
  lanes<<<1, 32>>>(all);
  finish();
  const unsigned expected[] = {1,  0x67, 0x1234f478, 0x78563412, in[0] ^ in[1] ^ 7u, 9, 21, 100,
                               33, 44,   77,         5};
  bool is_right = all[0] == 1;
  for (int i = 0; i < 12; ++i) is_right &= out[i] == expected[i];
  if (!is_right) {
    for (const unsigned each : out) printf("%x ", each);
  }
  return verdict(is_right);
}
