// Registers that are vectors: by element, in both spellings, and as a whole where a list of
// registers may stand.  Other kernels of the module run, too.
//
// build: -arch=compute_80
// case run:
// expect run: clean
// prints run: 2 1 | 1 2 3 4 | 4 3 2 1 | 5 9 | 11 | 7
// case debug: -G
// expect debug: clean
// prints debug: 2 1 | 1 2 3 4 | 4 3 2 1 | 5 9 | 11 | 7
// case unset: -DUNSET
// expect unset: error uninitialized-read
#include <cstdio>

__global__ void swap(float* p) {
  float a = p[0], b = p[1];
  asm volatile(
      "{ .reg .v2 .f32 pair;\n\tmov.f32 pair.x, %0;\n\tmov.f32 pair.g, %1;\n\t"
      "mov.f32 %0, pair.y;\n\tmov.f32 %1, pair.r; }"
      : "+f"(a), "+f"(b));
  p[0] = a;
  p[1] = b;
}

// Loads and stores of whole vectors, and a range of them.
__global__ void move(unsigned* p) {
  asm volatile(
      "{ .reg .v4 .u32 %%v<2>;\n\tld.global.v4.u32 %%v0, [%0];\n\t"
      "mov.u32 %%v1.x, %%v0.w; mov.u32 %%v1.g, %%v0.z; mov.u32 %%v1.b, %%v0.y;\n\t"
      "mov.u32 %%v1.a, %%v0.r; st.global.v4.u32 [%0+16], %%v1; }"
      :
      : "l"(p)
      : "memory");
}

// Packed and unpacked; as a guard's operand and an address.
__global__ void pack(unsigned long long* p) {
  asm volatile(
      "{ .reg .v2 .b32 word; .reg .b64 whole; .reg .v2 .u64 at; .reg .pred q;\n\t"
      "ld.global.b64 whole, [%0]; mov.b64 word, whole; add.u32 word.y, word.y, 4;\n\t"
      "setp.eq.u32 q, word.x, 5; @q mov.b64 whole, word;\n\t"
      "mov.u64 at.x, 0; add.u64 at.y, at.x, %0; st.global.b64 [at.y+8], whole; }"
      :
      : "l"(p)
      : "memory");
}

__global__ void scopes(unsigned* p) {
  unsigned sum;
  asm volatile(
      "{ .reg .v2 .u32 t; mov.u32 t.x, 1; { .reg .v2 .u32 t; mov.u32 t.x, 10; mov.u32 %0, t.x; "
      "}\n\t"
      "add.u32 %0, %0, t.x; }"
      : "=r"(sum));
  *p = sum;
}

__global__ void unset(unsigned* p) {
  unsigned word = 0;
  asm volatile("{ .reg .v2 .u32 v; mov.u32 v.x, 1; add.u32 %0, v.x, v.y; }" : "=r"(word));
  if (word > 1) p[1] = 1;
}

__global__ void other(float* p) { p[0] = 7; }

int main() {
  unsigned *p, h[16] = {};
  float f[2] = {1, 2};
  cudaMalloc(&p, sizeof h);
#ifdef UNSET
  cudaMemset(p, 0, sizeof h);
  unset<<<1, 1>>>(p);
  cudaDeviceSynchronize();
  return 0;
#endif
  for (unsigned i = 0; i < 4; ++i) h[4 + i] = i + 1;
  h[12] = h[13] = 5;
  cudaMemcpy(p, h, sizeof h, cudaMemcpyHostToDevice);
  cudaMemcpy(p, f, sizeof f, cudaMemcpyHostToDevice);
  swap<<<1, 1>>>((float*)p);
  cudaMemcpy(f, p, sizeof f, cudaMemcpyDeviceToHost);
  move<<<1, 1>>>(p + 4);
  pack<<<1, 1>>>((unsigned long long*)(p + 12));
  scopes<<<1, 1>>>(p + 2);
  other<<<1, 1>>>((float*)p);
  cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  float seven = *(float*)&h[0];
  printf("%g %g | %u %u %u %u | %u %u %u %u | %u %u | %u | %g\n", f[0], f[1], h[4], h[5], h[6],
         h[7], h[8], h[9], h[10], h[11], h[14], h[15], h[2], seven);
  return 0;
}
