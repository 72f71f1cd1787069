// ldmatrix and stmatrix without a state space take a generic address, which leads to shared memory,
// in all sizes.  What they move is what they move with .shared.
//
// build: -arch=compute_90
// case same:
// expect same: clean
// prints same: 0 differ, last 126 127
// case debug: -G
// expect debug: clean
// prints debug: 0 differ, last 126 127
// case beyond: -DBEYOND
// expect beyond: error out-of-bounds beyond
#include <cuda_fp16.h>
#include <cstdio>

// clang-format off
#define LOAD1(mods, at, c) asm volatile("ldmatrix.sync.aligned.m8n8.x1" mods " {%0}, [%1];" : "=r"(r[0]) : c(at) : "memory")
#define LOAD2(mods, at, c) asm volatile("ldmatrix.sync.aligned.m8n8.x2" mods " {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : c(at) : "memory")
#define LOAD4(mods, at, c) asm volatile("ldmatrix.sync.aligned.m8n8.x4" mods " {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : c(at) : "memory")
#define STORE1(mods, at, c) asm volatile("stmatrix.sync.aligned.m8n8.x1" mods " [%0], {%1};" : : c(at), "r"(v) : "memory")
#define STORE2(mods, at, c) asm volatile("stmatrix.sync.aligned.m8n8.x2" mods " [%0], {%1, %2};" : : c(at), "r"(v), "r"(v + 1) : "memory")
#define STORE4(mods, at, c) asm volatile("stmatrix.sync.aligned.m8n8.x4" mods " [%0], {%1, %2, %3, %4};" : : c(at), "r"(v), "r"(v + 1), "r"(v + 2), "r"(v + 3) : "memory")
// clang-format on

__global__ void loads(int* differ, unsigned* out) {
  __shared__ alignas(16) __half tile[8 * 32];
  for (int i = threadIdx.x; i < 256; i += 32) tile[i] = __float2half(i);
  __syncwarp();
  const __half* row = tile + threadIdx.x * 8;
#ifdef BEYOND
  row += 1 << 16;
  unsigned r[2];
  LOAD2(".b16", row, "l");  //~ beyond
  out[threadIdx.x] = r[0] + r[1];
#else
  const unsigned narrow = __cvta_generic_to_shared(row);
  unsigned sum[2] = {};
  for (int side = 0; side < 2; ++side) {
    unsigned r[4] = {};
    const auto add = [&] {
      for (unsigned x : r) sum[side] = 31 * sum[side] + x;
    };
    if (side == 0) {
      LOAD1(".b16", row, "l");
      add();
      LOAD1(".trans.b16", row, "l");
      add();
    }
    if (side == 1) {
      LOAD1(".shared.b16", narrow, "r");
      add();
      LOAD1(".trans.shared.b16", narrow, "r");
      add();
    }
    if (side == 0) {
      LOAD2(".b16", row, "l");
      add();
      LOAD2(".trans.b16", row, "l");
      add();
    }
    if (side == 1) {
      LOAD2(".shared.b16", narrow, "r");
      add();
      LOAD2(".trans.shared::cta.b16", narrow, "r");
      add();
    }
    if (side == 0) {
      LOAD4(".b16", row, "l");
      add();
      LOAD4(".trans.b16", row, "l");
      add();
    }
    if (side == 1) {
      LOAD4(".shared.b16", narrow, "r");
      add();
      LOAD4(".trans.shared.b16", narrow, "r");
      add();
    }
  }
  if (sum[0] != sum[1]) atomicAdd(differ, 1);
  unsigned r[2];
  LOAD2(".b16", row, "l");
  out[threadIdx.x] = r[1];
#endif
}

__global__ void stores(int* differ) {
  __shared__ alignas(16) unsigned tile[2][128];
  unsigned v = 4 * threadIdx.x;
  unsigned* wide = tile[0] + 4 * threadIdx.x;
  const unsigned narrow = __cvta_generic_to_shared(tile[1] + 4 * threadIdx.x);
  for (int kind = 0; kind < 6; ++kind) {
    for (int i = threadIdx.x; i < 128; i += 32) tile[0][i] = tile[1][i] = 0;
    __syncwarp();
    if (kind == 0) {
      STORE1(".b16", wide, "l");
      STORE1(".shared.b16", narrow, "r");
    }
    if (kind == 1) {
      STORE2(".b16", wide, "l");
      STORE2(".shared.b16", narrow, "r");
    }
    if (kind == 2) {
      STORE4(".b16", wide, "l");
      STORE4(".shared.b16", narrow, "r");
    }
    if (kind == 3) {
      STORE1(".trans.b16", wide, "l");
      STORE1(".trans.shared.b16", narrow, "r");
    }
    if (kind == 4) {
      STORE2(".trans.b16", wide, "l");
      STORE2(".trans.shared.b16", narrow, "r");
    }
    if (kind == 5) {
      STORE4(".trans.b16", wide, "l");
      STORE4(".trans.shared.b16", narrow, "r");
    }
    __syncwarp();
    for (int i = threadIdx.x; i < 128; i += 32) {
      if (tile[0][i] != tile[1][i]) atomicAdd(differ, 1);
    }
    __syncwarp();
  }
}

int main() {
  int *differ, count = 0;
  unsigned *out, host[32] = {};
  cudaMalloc(&differ, 4);
  cudaMemset(differ, 0, 4);
  cudaMalloc(&out, sizeof host);
  loads<<<1, 32>>>(differ, out);
#ifndef BEYOND
  stores<<<1, 32>>>(differ);
#endif
  cudaMemcpy(&count, differ, 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  const __half2 last = *(__half2*)&host[31];
  printf("%d differ, last %g %g\n", count, __low2float(last), __high2float(last));
  return 0;
}
