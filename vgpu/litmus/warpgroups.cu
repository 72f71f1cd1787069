// Products of a warpgroup: they read shared memory by the asynchronous proxy, until their group has
// been waited for, and so long their results are nobody's.
#include <cstdint>

#include "vgpu/litmus/async_ptx.hpp"
#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::zeroed;

// 64 x 8 bytes: rows of 32 bytes of a, columns of b, in plain tiles of 8 x 16.
#define DESCRIPTOR(shared) \
  (static_cast<std::uint64_t>(ADDRESS_OF(shared)) >> 4 | 8ull << 16 | 16ull << 32)
#define PRODUCT(d, a, b)              \
  DO("wgmma.fence.sync.aligned;");   \
  PRODUCT_ALONE(d, a, b)
#define PRODUCT_ALONE(d, a, b)                                                                \
  asm volatile(                                                                               \
      "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%0, %1, %2, %3}, %4, %5, 0;"          \
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                        \
      : "l"(DESCRIPTOR(a)), "l"(DESCRIPTOR(b)))

// expect: clean
__global__ void product_waited_for(int* out) {
  __shared__ alignas(128) int a[512];
  __shared__ alignas(128) int b[64];
  const int t = threadIdx.x;
  for (int i = t; i < 512; i += 128) a[i] = i;
  if (t < 64) b[t] = t;
  DO("fence.proxy.async.shared::cta;");
  __syncthreads();
  int d[4] = {};
  PRODUCT(d, a, b);
  DO("wgmma.commit_group.sync.aligned;");
  DO("wgmma.wait_group.sync.aligned 0;");
  __syncthreads();
  a[t] = d[0];
  if (d[1] == 7) out[t] = d[1];
}
LITMUS(product_waited_for) { product_waited_for<<<1, 128>>>(zeroed<int>(128)); }

// expect: data-race shared
__global__ void product_without_fence(int* out) {
  __shared__ alignas(128) int a[512];
  __shared__ alignas(128) int b[64];
  const int t = threadIdx.x;
  for (int i = t; i < 512; i += 128) a[i] = i;
  DO("fence.proxy.async.shared::cta;");
  if (t < 64) b[t] = t;                         //~ write
  __syncthreads();
  int d[4] = {};
  PRODUCT(d, a, b);                             //~ read
  DO("wgmma.commit_group.sync.aligned;");
  DO("wgmma.wait_group.sync.aligned 0;");
  out[t] = d[0];
}
LITMUS(product_without_fence) { product_without_fence<<<1, 128>>>(zeroed<int>(128)); }

// The second of two groups may still read.
// expect: data-race shared
__global__ void product_overwritten(int* out) {
  __shared__ alignas(128) int a[512];
  __shared__ alignas(128) int b[2][64];
  const int t = threadIdx.x;
  for (int i = t; i < 512; i += 128) a[i] = i;
  if (t < 64) b[0][t] = b[1][t] = t;
  DO("fence.proxy.async.shared::cta;");
  __syncthreads();
  int d[4] = {}, e[4] = {};
  PRODUCT(d, a, b[0]);
  DO("wgmma.commit_group.sync.aligned;");
  PRODUCT(e, a, b[1]);                          //~ read
  DO("wgmma.commit_group.sync.aligned;");
  DO("wgmma.wait_group.sync.aligned 1;");
  __syncthreads();
  if (t < 64) b[0][t] = 1;
  if (t < 64) b[1][t] = 1;                      //~ write
  DO("wgmma.wait_group.sync.aligned 0;");
  out[t] = d[0] + e[0];
}
LITMUS(product_overwritten) { product_overwritten<<<1, 128>>>(zeroed<int>(128)); }

// Many groups read one tile, each after the one before has been waited for.
// expect: clean
__global__ void products_of_one_tile(int* out) {
  __shared__ alignas(128) int a[512];
  __shared__ alignas(128) int b[64];
  const int t = threadIdx.x;
  for (int i = t; i < 512; i += 128) a[i] = i;
  if (t < 64) b[t] = t;
  DO("fence.proxy.async.shared::cta;");
  __syncthreads();
  int d[4] = {};
  for (int round = 0; round < 20; ++round) {
    PRODUCT(d, a, b);
    DO("wgmma.commit_group.sync.aligned;");
    DO("wgmma.wait_group.sync.aligned 0;");
  }
  __syncthreads();
  if (t < 64) b[t] = 1;
  out[t] = d[0];
}
LITMUS(products_of_one_tile) { products_of_one_tile<<<1, 128>>>(zeroed<int>(128)); }

// The last of the groups may still read.
// expect: data-race shared
__global__ void products_of_one_tile_overwritten(int* out) {
  __shared__ alignas(128) int a[512];
  __shared__ alignas(128) int b[64];
  const int t = threadIdx.x;
  for (int i = t; i < 512; i += 128) a[i] = i;
  if (t < 64) b[t] = t;
  DO("fence.proxy.async.shared::cta;");
  __syncthreads();
  int d[4] = {};
  for (int round = 0; round < 20; ++round) {
    PRODUCT(d, a, b);                           //~ read
    DO("wgmma.commit_group.sync.aligned;");
    DO("wgmma.wait_group.sync.aligned 1;");
  }
  __syncthreads();
  if (t < 64) b[t] = 1;                         //~ write
  DO("wgmma.wait_group.sync.aligned 0;");
  out[t] = d[0];
}
LITMUS(products_of_one_tile_overwritten) {
  products_of_one_tile_overwritten<<<1, 128>>>(zeroed<int>(128));
}

// expect: uninitialized-read optimized
__global__ void product_used_too_early(int* out) {
  __shared__ alignas(128) int a[512];
  __shared__ alignas(128) int b[64];
  const int t = threadIdx.x;
  for (int i = t; i < 512; i += 128) a[i] = i;
  if (t < 64) b[t] = t;
  DO("fence.proxy.async.shared::cta;");
  __syncthreads();
  int d[4] = {};
  PRODUCT(d, a, b);                             //~ product
  DO("wgmma.commit_group.sync.aligned;");
  if (d[1] == 7) out[t] = 1;                    //~ branch
  DO("wgmma.wait_group.sync.aligned 0;");
  if (d[1] == 8) out[t] = 2;
}
LITMUS(product_used_too_early) { product_used_too_early<<<1, 128>>>(zeroed<int>(128)); }

// The maximum of a row, as a softmax computes it: nothing moves a shuffle before the wait.
// expect: uninitialized-read optimized
__global__ void product_shuffled_too_early(int* out) {
  __shared__ alignas(128) int a[512];
  __shared__ alignas(128) int b[64];
  const int t = threadIdx.x;
  for (int i = t; i < 512; i += 128) a[i] = i;
  if (t < 64) b[t] = t;
  DO("fence.proxy.async.shared::cta;");
  __syncthreads();
  int d[4] = {};
  PRODUCT(d, a, b);                             //~ product
  DO("wgmma.commit_group.sync.aligned;");
  const int most = __shfl_xor_sync(~0u, d[1] + 1, 1);  //~ use
  DO("wgmma.wait_group.sync.aligned 0;");
  out[t] = most;
}
LITMUS(product_shuffled_too_early) { product_shuffled_too_early<<<1, 128>>>(zeroed<int>(128)); }

// A product is one operation of four warps: whoever has waited for its group has waited for the
// reads of all of them, and for all of them to begin it.
// expect: clean
__global__ void tile_released_by_one_thread(const int* tiles, int* out) {
  __shared__ alignas(128) int a[512];
  __shared__ alignas(128) int b[64];
  __shared__ unsigned long long full, empty;
  const int t = threadIdx.x;
  for (int i = t; i < 512; i += blockDim.x) a[i] = i;
  if (t == 0) {
    INIT_OBJECT(&full, 1);
    INIT_OBJECT(&empty, 1);
  }
  DO("fence.proxy.async.shared::cta;");
  __syncthreads();
  if (t >= 128) {
    for (int k = 0; k < 3; ++k) {
      if (k != 0) WAIT(".shared::cta", &empty, (k - 1) & 1);
      EXPECT(&full, 256);
      COPY_IN(b, tiles + 64 * k, 256, &full);
    }
    return;
  }
  int d[4] = {};
  for (int k = 0; k < 3; ++k) {
    WAIT(".shared::cta", &full, k & 1);
    PRODUCT(d, a, b);
    DO("wgmma.commit_group.sync.aligned;");
    DO("wgmma.wait_group.sync.aligned 0;");
    if (t == 0) ARRIVE(".shared", &empty);
  }
  out[t] = d[0];
}
LITMUS(tile_released_by_one_thread) {
  tile_released_by_one_thread<<<1, 129>>>(zeroed<int>(192), zeroed<int>(128));
}

// The next copy overwrites what the product may still read.
// expect: data-race shared
__global__ void tile_released_too_early(const int* tiles, int* out) {
  __shared__ alignas(128) int a[512];
  __shared__ alignas(128) int b[64];
  __shared__ unsigned long long full, empty;
  const int t = threadIdx.x;
  for (int i = t; i < 512; i += blockDim.x) a[i] = i;
  if (t == 0) {
    INIT_OBJECT(&full, 1);
    INIT_OBJECT(&empty, 1);
  }
  DO("fence.proxy.async.shared::cta;");
  __syncthreads();
  if (t >= 128) {
    EXPECT(&full, 256);
    COPY_IN(b, tiles, 256, &full);
    WAIT(".shared::cta", &empty, 0);
    EXPECT(&full, 256);
    COPY_IN(b, tiles + 64, 256, &full);         //~ write
    return;
  }
  int d[4] = {};
  WAIT(".shared::cta", &full, 0);
  PRODUCT(d, a, b);                             //~ read
  DO("wgmma.commit_group.sync.aligned;");
  __syncwarp();
  if (t == 0) ARRIVE(".shared", &empty);
  DO("wgmma.wait_group.sync.aligned 0;");
  out[t] = d[0];
}
LITMUS(tile_released_too_early) {
  tile_released_too_early<<<1, 129>>>(zeroed<int>(128), zeroed<int>(128));
}

// The fourth warp has no part in the product, so it is never complete.
// expect: deadlock
__global__ void product_of_three_warps(int* out) {
  __shared__ alignas(128) int a[512];
  __shared__ alignas(128) int b[64];
  const int t = threadIdx.x;
  for (int i = t; i < 512; i += 128) a[i] = i;
  if (t < 64) b[t] = t;
  DO("fence.proxy.async.shared::cta;");
  __syncthreads();
  int d[4] = {};
  if (t < 96) {
    PRODUCT(d, a, b);
    DO("wgmma.commit_group.sync.aligned;");
    DO("wgmma.wait_group.sync.aligned 0;");     //~ spin
  }
  __syncthreads();                              //~ wait
  out[t] = d[0];
}
LITMUS(product_of_three_warps) { product_of_three_warps<<<1, 128>>>(zeroed<int>(128)); }

// The threads read a word of a tile, multiply, and one of them frees the tile for all: no warp comes
// out of the wait before all have begun the product.
// expect: clean
__global__ void scale_released_by_one_thread(const int* tiles, int* out) {
  __shared__ alignas(128) int a[512];
  __shared__ alignas(128) int b[64];
  __shared__ unsigned long long full, empty;
  const int t = threadIdx.x;
  for (int i = t; i < 512; i += blockDim.x) a[i] = i;
  if (t == 0) {
    INIT_OBJECT(&full, 1);
    INIT_OBJECT(&empty, 1);
  }
  DO("fence.proxy.async.shared::cta;");
  __syncthreads();
  if (t >= 128) {
    for (int k = 0; k < 2; ++k) {
      if (k != 0) WAIT(".shared::cta", &empty, 0);
      EXPECT(&full, 256);
      COPY_IN(b, tiles + 64 * k, 256, &full);
    }
    return;
  }
  int d[4] = {}, scale = 0;
  for (int k = 0; k < 2; ++k) {
    WAIT(".shared::cta", &full, k);
    scale += b[t % 64];
    PRODUCT(d, a, b);
    DO("wgmma.commit_group.sync.aligned;");
    DO("wgmma.wait_group.sync.aligned 0;");
    if (t == 0) ARRIVE(".shared", &empty);
  }
  out[t] = d[0] * scale;
}
LITMUS(scale_released_by_one_thread) {
  scale_released_by_one_thread<<<1, 129>>>(zeroed<int>(128), zeroed<int>(128));
}

// The same, but the word is read behind the wait.
// expect: data-race shared
__global__ void scale_read_too_late(const int* tiles, int* out) {
  __shared__ alignas(128) int a[512];
  __shared__ alignas(128) int b[64];
  __shared__ unsigned long long full, empty;
  const int t = threadIdx.x;
  for (int i = t; i < 512; i += blockDim.x) a[i] = i;
  if (t == 0) {
    INIT_OBJECT(&full, 1);
    INIT_OBJECT(&empty, 1);
  }
  DO("fence.proxy.async.shared::cta;");
  __syncthreads();
  if (t >= 128) {
    EXPECT(&full, 256);
    COPY_IN(b, tiles, 256, &full);
    WAIT(".shared::cta", &empty, 0);
    EXPECT(&full, 256);
    COPY_IN(b, tiles + 64, 256, &full);         //~ write
    return;
  }
  int d[4] = {};
  WAIT(".shared::cta", &full, 0);
  PRODUCT(d, a, b);
  DO("wgmma.commit_group.sync.aligned;");
  DO("wgmma.wait_group.sync.aligned 0;");
  const int scale = b[t % 64];                  //~ read
  if (t == 0) ARRIVE(".shared", &empty);
  out[t] = d[0] * scale;
}
LITMUS(scale_read_too_late) {
  scale_read_too_late<<<1, 129>>>(zeroed<int>(128), zeroed<int>(128));
}

// "The wgmma.fence instruction must be used ... before the first wgmma.mma_async operation."  Only
// optimised code is checked: in the other, the results are in local memory.
// expect: barrier-divergence optimized
__global__ void product_before_any_fence(int* out) {
  __shared__ alignas(128) int a[512];
  __shared__ alignas(128) int b[64];
  const int t = threadIdx.x;
  for (int i = t; i < 512; i += 128) a[i] = i;
  if (t < 64) b[t] = t;
  DO("fence.proxy.async.shared::cta;");
  __syncthreads();
  int d[4] = {};
  PRODUCT_ALONE(d, a, b);                       //~ run
  DO("wgmma.commit_group.sync.aligned;");
  DO("wgmma.wait_group.sync.aligned 0;");
  out[t] = d[0];
}
LITMUS(product_before_any_fence) { product_before_any_fence<<<1, 128>>>(zeroed<int>(128)); }
