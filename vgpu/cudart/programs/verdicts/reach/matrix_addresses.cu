// PTX for sm_75: all lanes of ldmatrix must have valid addresses, aligned to 16 bytes, also those
// whose address no matrix needs.  Later targets do not look at these.
//
// case beyond: | | 0
// expect beyond: error out-of-bounds pair
// case misaligned: | | 1
// expect misaligned: error misaligned-access pair
// case one: | | 2
// expect one: error out-of-bounds single
// case generic: | | 3
// expect generic: error misaligned-access wide
// case beyond_debug: -G | | 0
// expect beyond_debug: error out-of-bounds pair
// case copied: | | 4
// expect copied: clean
// prints copied: 126
// case four: | | 5
// expect four: clean
// case written: | | 6
// expect written: clean
// case later: -arch=compute_80 | | 0
// expect later: clean
// case later_one: -arch=compute_80 | | 2
// expect later_one: clean
// case later_misaligned: -arch=compute_80 | | 1
// expect later_misaligned: clean
#include <cstdio>
#include <cstdlib>

__global__ void load(unsigned* out, int kind) {
  __shared__ alignas(16) unsigned tile[128 + 16];
  for (int i = threadIdx.x; i < 144; i += blockDim.x) tile[i] = i;
  __syncthreads();
  const unsigned t = threadIdx.x;
  const unsigned base = (unsigned)__cvta_generic_to_shared(tile);
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (t >= 32) {  // lanes of the other warp write what unneeded addresses of this one name
    if (kind == 6 && t == 32) tile[128] = 1;
    return;
  }
  if (kind == 0 || kind == 1) {
    const unsigned at = t < 16 ? base + t * 16 : kind == 0 ? base + 1000000 : base + t * 2 + 2;
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(a), "=r"(b)
                 : "r"(at)  //~ pair
                 : "memory");
  } else if (kind == 2) {
    const unsigned at = t < 8 ? base + t * 16 : base - 16;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(a)
                 : "r"(at)  //~ single
                 : "memory");
  } else if (kind == 3) {
    const char* at = (const char*)tile + (t < 8 ? t * 16 : 4);
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.b16 {%0}, [%1];"
                 : "=r"(a)
                 : "l"(at)  //~ wide
                 : "memory");
  } else if (kind == 4) {
    const unsigned at = base + t % 16 * 16;
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(a), "=r"(b)
                 : "r"(at)
                 : "memory");
  } else if (kind == 5) {
    const unsigned at = base + t * 16;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(at)
                 : "memory");
  } else {
    const unsigned at = t < 16 ? base + t * 16 : base + 512;
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(a), "=r"(b)
                 : "r"(at)
                 : "memory");
  }
  out[t] = a + b + c + d;
}

int main(int, char** arguments) {
  unsigned *out, h[32];
  cudaMalloc(&out, sizeof h);
  load<<<1, 64>>>(out, atoi(arguments[1]));
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
  printf("%u\n", h[31] + h[0]);
  return 0;
}
