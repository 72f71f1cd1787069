//== warp_scan
//pass
//--blockDim=32 --gridDim=1 --warp-sync=32
__global__ void warp_scan(int* a) {
  unsigned lane = threadIdx.x;
  for (unsigned d = 1; d < 32; d *= 2)
    if (lane >= d) a[lane] = a[lane - d] + a[lane];
}
//== warp_scan_unrolled
//pass
//--blockDim=64 --gridDim=1 --warp-sync=32 --no-inline
__global__ void warp_scan_unrolled(int* s) {
  const unsigned i = threadIdx.x, lane = i & 31;
  if (lane >= 1) s[i] = s[i - 1] + s[i];
  if (lane >= 2) s[i] = s[i - 2] + s[i];
  if (lane >= 4) s[i] = s[i - 4] + s[i];
  if (lane >= 8) s[i] = s[i - 8] + s[i];
  if (lane >= 16) s[i] = s[i - 16] + s[i];  //~ data-race //twin: if (lane >= 16 || i >= 32) s[i] = s[i - 16] + s[i];
}
//== last_warp
//pass
//--blockDim=256 --gridDim=1 --warp-sync=32
__global__ void last_warp(int* a) {
  __shared__ volatile int s[256];
  unsigned t = threadIdx.x;
  s[t] = a[t];
  __syncthreads();
  for (unsigned d = 128; d > 32; d /= 2) {
    if (t < d) s[t] += s[t + d];  //~ data-race
    __syncthreads();  //twin:
  }
  if (t < 32) {
    s[t] += s[t + 32];
    s[t] += s[t + 16];
    s[t] += s[t + 8];
    s[t] += s[t + 4];
    s[t] += s[t + 2];
    s[t] += s[t + 1];
  }
  if (t == 0) a[0] = s[0];
}
//== between_warps
//xfail:BOOGIE_ERROR
//--blockDim=64 --gridDim=1 --warp-sync=32
__global__ void between_warps(int* a) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;  //~ data-race
  a[threadIdx.x] = s[63 - threadIdx.x];  //~ data-race
}
//== same_statement
//xfail:BOOGIE_ERROR
//--blockDim=32 --gridDim=1 --warp-sync=32
__global__ void same_statement(int* a) {
  a[threadIdx.x / 2] = threadIdx.x;  //~ data-race
}
//== two_statements
//pass
//--blockDim=32 --gridDim=1 --warp-sync=32 --equality-abstraction
__global__ void two_statements(int* a) {
  a[0] = 1;
  a[1] = 1;
  a[threadIdx.x] = 0;
}
//== arms_of_a_warp
//xfail:BOOGIE_ERROR
//--blockDim=32 --gridDim=1 --warp-sync=32
__global__ void arms_of_a_warp(int* a) {
  if (threadIdx.x < 16) a[threadIdx.x] = 1;  //~ data-race
  else
    a[31 - threadIdx.x] = 2;  //~ data-race
}
//== synced_warp
//pass
//--blockDim=64 --gridDim=1
__global__ void synced_warp(int* a) {
  __shared__ int s[64];
  s[threadIdx.x] = a[threadIdx.x];
  __syncwarp();  //twin:
  a[threadIdx.x] = s[threadIdx.x ^ 1];  //~ data-race
}
//== synced_warp_steps
//pass
//--blockDim=64 --gridDim=2
__global__ void synced_warp_steps(const int* a, int* sums) {
  __shared__ int s[64];
  int t = threadIdx.x, lane = t % 32;
  s[t] = a[blockIdx.x * 64 + t];
  __syncwarp();
  for (int d = 16; d > 0; d /= 2) {
    if (lane < d) s[t] += s[t + d];  //~ data-race
    __syncwarp();  //twin:
  }
  if (lane == 0) sums[(blockIdx.x * 64 + t) / 32] = s[t];
}
//== sync_of_a_warp_is_not_of_a_block
//xfail:BOOGIE_ERROR
//--blockDim=64 --gridDim=1
__global__ void sync_of_a_warp_is_not_of_a_block(int* a) {
  __shared__ int s[64];
  s[threadIdx.x] = a[threadIdx.x];  //~ data-race
  __syncwarp();
  a[threadIdx.x] = s[63 - threadIdx.x];  //~ data-race
}
//== shuffled_sum
//pass
//--blockDim=64 --gridDim=4
__global__ void shuffled_sum(const int* in, int* out) {
  int v = in[blockIdx.x * 64 + threadIdx.x];
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
  if (threadIdx.x % 32 == 0) out[blockIdx.x * 2 + threadIdx.x / 32] = v;  //~ data-race //twin: if (threadIdx.x % 16 == 0) out[blockIdx.x * 2 + threadIdx.x / 32] = v + threadIdx.x;
}
//== half_warp_mask
//pass
//--blockDim=32 --gridDim=1
__global__ void half_warp_mask(int* a) {
  __shared__ int s[32];
  s[threadIdx.x] = a[threadIdx.x];
  if (threadIdx.x < 16) {
    __syncwarp(0xffff);  //twin:
    a[threadIdx.x] = s[15 - threadIdx.x];  //~ data-race
  }
}
//== only_inside_blocks
//xfail:BOOGIE_ERROR: races between blocks are looked for nevertheless
//--blockDim=64 --gridDim=8 --only-intra-group
__global__ void only_inside_blocks(int* a) {
  a[threadIdx.x] = blockIdx.x;  //~ data-race
}
//== voted
//pass
//--blockDim=64 --gridDim=1
__global__ void voted(const int* in, unsigned* out) {
  unsigned mask = __ballot_sync(0xffffffff, in[threadIdx.x] > 0);
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = mask;  //~ data-race //twin: if (threadIdx.x % 2 == 0) out[threadIdx.x / 32] = mask + threadIdx.x;
}
//== group_of_block
//pass
//--blockDim=64 --gridDim=2
#include <cooperative_groups.h>
__global__ void group_of_block(int* a) {
  auto block = cooperative_groups::this_thread_block();
  __shared__ int s[64];
  s[block.thread_rank()] = a[blockIdx.x * 64 + threadIdx.x];
  block.sync();  //twin:
  a[blockIdx.x * 64 + threadIdx.x] = s[63 - block.thread_rank()];  //~ data-race
}
//== diverged_group
//xfail:BOOGIE_ERROR
//--blockDim=64 --gridDim=2
#include <cooperative_groups.h>
__global__ void diverged_group(int* a) {
  auto block = cooperative_groups::this_thread_block();
  if (threadIdx.x < 32) block.sync();  //~ barrier-divergence
  a[blockIdx.x * 64 + threadIdx.x] = 1;
}
//== tile_of_warp
//pass
//--blockDim=64 --gridDim=1
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void tile_of_warp(int* a) {
  __shared__ int s[64];
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  s[threadIdx.x] = a[threadIdx.x];
  tile.sync();  //twin:
  a[threadIdx.x] = s[threadIdx.x ^ 3];  //~ data-race
}
//== shuffle_down_rows
//pass
//--blockDim=[32,4] --gridDim=8
__global__ void shuffle_down_rows(float* sums, const float* in, int columns) {
  int row = blockIdx.x * 4 + threadIdx.y;
  float v = 0;
  for (int c = threadIdx.x; c < columns; c += 32) v += in[row * columns + c];
  for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
  if (threadIdx.x == 0) sums[row] = v;  //~ data-race //twin: if (threadIdx.x == 0) sums[row / 4] = v;
}
//== shuffle_scan_block
//pass
//--blockDim=256 --gridDim=1
__global__ void shuffle_scan_block(int* out, const int* in) {
  __shared__ int totals[8];
  int t = threadIdx.x, lane = t % 32, warp = t / 32, v = in[t];
  for (int d = 1; d < 32; d <<= 1) {
    int o = __shfl_up_sync(~0u, v, d);
    if (lane >= d) v += o;
  }
  if (lane == 31) totals[warp] = v;
  __syncthreads();
  if (warp == 0 && lane < 8) {
    int w = totals[lane];
    for (int d = 1; d < 8; d <<= 1) {
      int o = __shfl_up_sync(0xff, w, d);
      if (lane >= d) w += o;
    }
    totals[lane] = w;
  }
  __syncthreads();  //twin:
  out[t] = v + (warp ? totals[warp - 1] : 0);  //~ data-race
}
//== warp_private_slots
//pass
//--blockDim=128 --gridDim=4
__global__ void warp_private_slots(int* out, const int* in) {
  __shared__ int s[4][32];
  int w = threadIdx.x >> 5, l = threadIdx.x & 31;
  s[w][l] = in[blockIdx.x * 128 + threadIdx.x];
  __syncwarp();  //twin:
  out[blockIdx.x * 128 + threadIdx.x] = s[w][31 - l];  //~ data-race
}
//== warp_number_from_plane
//pass
//--blockDim=[8,8] --gridDim=1
__global__ void warp_number_from_plane(int* out) {
  int t = threadIdx.y * blockDim.x + threadIdx.x;
  if (t % 32 == 0) out[t / 32] = t;  //~ data-race //twin: if (t % 16 == 0) out[t / 32] = t;
}
//== votes_of_warps
//pass
//--blockDim=128 --gridDim=2
__global__ void votes_of_warps(const int* in, unsigned* masks) {
  unsigned i = blockIdx.x * 128 + threadIdx.x;
  unsigned mask = __ballot_sync(0xffffffffu, in[i] > 0);
  if ((threadIdx.x & 31) == 0) masks[i >> 5] = mask;  //~ data-race //twin: if ((threadIdx.x & 15) == 0) masks[i >> 5] = mask + i;
}
