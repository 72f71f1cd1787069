//== barrier_of_data
//xfail:BOOGIE_ERROR
//--blockDim=64 --gridDim=1
__global__ void barrier_of_data(int* a) {
  if (a[threadIdx.x]) __syncthreads();  //~ barrier-divergence
  a[threadIdx.x] = 3;
}
//== while_true_break
//pass
//--blockDim=64 --gridDim=2
__global__ void while_true_break(int* a, int n) {
  __shared__ int s[64];
  int k = 0;
  while (true) {
    s[threadIdx.x] = a[blockIdx.x * 64 + threadIdx.x] + k;
    __syncthreads();
    a[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];  //~ data-race
    __syncthreads();  //twin:
    if (++k >= n) break;
  }
}
//== early_return_of_extra
//pass
//--blockDim=128 --gridDim=8
__global__ void early_return_of_extra(int* a, int n) {
  __requires(n >= 0);
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  __shared__ int s[128];
  s[threadIdx.x] = a[i];
  __syncthreads();
  if (threadIdx.x > 0) a[i] = s[threadIdx.x - 1];  //~ data-race //twin: if (threadIdx.x > 0) a[i] = s[threadIdx.x - 1] + a[i - 1];
}
//== goto_retry
//pass
//--blockDim=32 --gridDim=1
__global__ void goto_retry(int* a, int n) {
  int i = threadIdx.x;
again:
  if (i >= n) goto done;
  a[i] = i;  //~ data-race //twin: a[i / 2] = i;
  i += 32;
  goto again;
done:;
}
//== switch_of_block
//pass
//--blockDim=64 --gridDim=4
__global__ void switch_of_block(int* a) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;  //~ data-race
  int v = 0;
  switch (blockIdx.x & 3) {
    case 0:
      __syncthreads();
      v = s[63 - threadIdx.x];
      break;
    case 1: v = s[threadIdx.x]; break;
    case 2:
      __syncthreads();  //twin:
      v = s[threadIdx.x ^ 1];  //~ data-race
      break;
    default: v = 4;
  }
  a[blockIdx.x * 64 + threadIdx.x] = v;
}
//== ternary_shared_index
//pass
//--blockDim=128 --gridDim=1
__global__ void ternary_shared_index(int* a) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t % 2 == 0 ? t / 2 : 64 + t / 2] = a[t];  //~ data-race //twin: s[t % 2 == 0 ? t / 2 : 63 + t / 2] = a[t];
  __syncthreads();
  a[t] = s[t];
}
//== function_of_neighbours
//pass
//--blockDim=64 --gridDim=4
__device__ int left_of(int i, int n) { return i == 0 ? n - 1 : i - 1; }
__device__ void smooth(const int* s, int* out, int i, int n) { out[i] = (s[left_of(i, n)] + s[i]) / 2; }  //~ data-race
__global__ void function_of_neighbours(int* a) {
  __shared__ int s[64];
  int* mine = a + 64 * blockIdx.x;
  s[threadIdx.x] = mine[threadIdx.x];
  __syncthreads();  //twin:
  smooth(s, mine, threadIdx.x, 64);
}
//== struct_of_shared
//pass
//--blockDim=64 --gridDim=1
struct Tile { float v[64]; int count; };
__global__ void struct_of_shared(float* a, int n) {
  __shared__ Tile tile;
  if (threadIdx.x == 0) tile.count = n;  //~ data-race
  tile.v[threadIdx.x] = a[threadIdx.x];
  __syncthreads();  //twin:
  for (int i = 0; i < 64; ++i)
    if (i < tile.count) a[threadIdx.x] += tile.v[i];
}
//== local_array_sort
//pass
//--blockDim=64 --gridDim=2
__global__ void local_array_sort(int* a) {
  int v[8], base = (blockIdx.x * 64 + threadIdx.x) * 8;
  for (int i = 0; i < 8; ++i) v[i] = a[base + i];
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 7 - i; ++j)
      if (v[j] > v[j + 1]) {
        int t = v[j];
        v[j] = v[j + 1];
        v[j + 1] = t;
      }
  for (int i = 0; i < 8; ++i) a[base + i] = v[i];  //~ data-race //twin: for (int i = 0; i < 8; ++i) a[base / 2 + i] = v[i];
}
//== char_flags
//pass
//--blockDim=64 --gridDim=4
__global__ void char_flags(const short* in, unsigned char* out, int n) {
  unsigned short i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] > 0;  //~ data-race //twin: if (i < n) out[(unsigned char)(i * 2)] = i;
}
//== float4_sum
//pass
//--blockDim=64 --gridDim=4
__global__ void float4_sum(const float4* in, float* out, int n) {
  __shared__ float4 s[64];
  int t = threadIdx.x;
  float4 sum = make_float4(0, 0, 0, 0);
  for (int i = blockIdx.x * 64 + t; i < n; i += 256) {
    float4 v = in[i];
    sum.x += v.x;
    sum.w += v.w;
  }
  s[t] = sum;
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (t < d) s[t].x += s[t + d].x;  //~ data-race
    __syncthreads();  //twin:
  }
  if (t == 0) out[blockIdx.x] = s[0].x + s[0].w;
}
//== aliased_parameters
//pass
//--blockDim=64 --gridDim=1
__global__ void aliased_parameters(int* a, int* b, int from_a) {
  int* p = from_a ? a : b;
  int* q = from_a ? b : a;
  p[threadIdx.x] = q[63 - threadIdx.x];  //~ data-race //twin: p[threadIdx.x] = p[63 - threadIdx.x];
}
//== block_writes_slot
//pass
//--blockDim=64 --gridDim=32
__global__ void block_writes_slot(const int* in, int* slot) {
  __shared__ int most;
  if (threadIdx.x == 0) most = 0;
  __syncthreads();
  atomicMax(&most, in[blockIdx.x * 64 + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) slot[blockIdx.x] = most;  //~ data-race //twin: if (threadIdx.x == 0) slot[blockIdx.x / 2] = most + blockIdx.x;
}
//== reads_other_blocks_slot
//xfail:BOOGIE_ERROR
//--blockDim=64 --gridDim=8
__global__ void reads_other_blocks_slot(int* slot, int* out) {
  if (threadIdx.x == 0) slot[blockIdx.x] = blockIdx.x;  //~ data-race
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = slot[(blockIdx.x + 1) % 8];  //~ data-race
}
//== warp_zero_work
//pass
//--blockDim=128 --gridDim=4
__global__ void warp_zero_work(const int* in, int* out) {
  __shared__ int part[4];
  int v = in[blockIdx.x * 128 + threadIdx.x];
  for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(~0u, v, d);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = v;  //~ data-race
  __syncthreads();  //twin:
  if (threadIdx.x < 32) {
    v = threadIdx.x < 4 ? part[threadIdx.x] : 0;  //~ data-race
    for (int d = 2; d > 0; d >>= 1) v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x == 0) out[blockIdx.x] = v;
  }
}
//== producer_consumer_warps
//pass
//--blockDim=64 --gridDim=1
__global__ void producer_consumer_warps(const int* in, int* out, int rounds) {
  __shared__ int buffer[2][32];
  for (int r = 0; r <= rounds; ++r) {
    if (threadIdx.x < 32) {
      if (r < rounds) buffer[r & 1][threadIdx.x] = in[r * 32 + threadIdx.x];
    } else if (r > 0) {
      out[(r - 1) * 32 + threadIdx.x - 32] = buffer[(r - 1) & 1][63 - threadIdx.x];  //~ uninitialized-read //twin: out[(r - 1) * 32 + threadIdx.x - 32] = buffer[r & 1][63 - threadIdx.x];
    }
    __syncthreads();
  }
}
//== nested_barrier_triangle
//pass
//--blockDim=64 --gridDim=1
__global__ void nested_barrier_triangle(int* a, int n) {
  __requires(n <= 64);
  __shared__ int s[64];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) {
      if (threadIdx.x == j) s[j] += s[i];  //~ data-race
      __syncthreads();  //twin:
    }
  }
  a[threadIdx.x] = s[threadIdx.x];
}
//== loop_to_thread_bound_then_barrier
//pass
//--blockDim=64 --gridDim=1
__global__ void loop_to_thread_bound_then_barrier(int* a) {
  __shared__ int s[64 * 2];
  int sum = 0;
  for (int i = 0; i < threadIdx.x; ++i) sum += i;
  s[threadIdx.x] = sum;
  s[threadIdx.x + 64] = sum;
  __syncthreads();  //twin:
  for (int i = threadIdx.x; i < threadIdx.x + 64; ++i) a[threadIdx.x] += s[i];  //~ data-race
}
//== multiple_strides_invariant
//pass
//--blockDim=64 --gridDim=4
__global__ void multiple_strides_invariant(float* a, const float* b, int n) {
  int j = blockIdx.x * 64 + threadIdx.x, k = 2 * j;
  for (int i = 0; i < n; ++i, j += 256, k += 512) a[j] = b[k] + b[k + 1];  //~ data-race //twin: for (int i = 0; i < n; ++i, j += 255, k += 512) a[j] = b[k] + b[k + 1];
}
//== pointer_loop
//pass
//--blockDim=64 --gridDim=1
__global__ void pointer_loop(float* a, int n) {
  __requires(n <= 100000);
  for (float* p = a + threadIdx.x; p < a + n; p += 64) *p = 0;  //~ data-race //twin: for (float* p = a + threadIdx.x; p < a + n; p += 63) *p = threadIdx.x;
}
//== constant_offsets
//pass
//--blockDim=32 --gridDim=4
__constant__ int offsets[8] = {0, 32, 64, 96, 128, 160, 192, 224};
__global__ void constant_offsets(int* a) {
  for (int i = 0; i < 8; ++i) a[blockIdx.x * 256 + offsets[i] + threadIdx.x] = i;  //~ data-race //twin: for (int i = 0; i < 8; ++i) a[blockIdx.x * 255 + offsets[i] + threadIdx.x] = i;
}
//== queue_with_slots
//pass
//--blockDim=64 --gridDim=4
__global__ void queue_with_slots(const int* in, int* queue, unsigned* tail) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (in[i] != 0) {
    unsigned at = atomicInc(tail, 0xffffffff);
    queue[at] = i;  //~ data-race //twin: queue[at / 2] = i;
  }
}
//== ring_of_warps
//xfail:BOOGIE_ERROR
//--blockDim=64 --gridDim=1
__global__ void ring_of_warps(int* a) {
  __shared__ int s[64];
  s[threadIdx.x] = a[threadIdx.x];  //~ data-race
  __syncwarp();
  a[threadIdx.x] = s[(threadIdx.x + 32) % 64];  //~ data-race
}
//== bit_mask_of_warp
//pass
//--blockDim=64 --gridDim=4
__global__ void bit_mask_of_warp(const int* in, unsigned* mask) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, m = __ballot_sync(~0u, in[i] > 3);
  if (i % 32 == 0) mask[i / 32] = m;  //~ data-race //twin: if (i % 16 == 0) mask[i / 32] = i;
}
//== monte_carlo_tail
//pass
//--blockDim=[32,2] --gridDim=[4,4]
__global__ void monte_carlo_tail(float* out, int paths) {
  __shared__ float s[2][32];
  float v = 0;
  unsigned seed = threadIdx.x + 7;
  for (int p = threadIdx.x; p < paths; p += 32) {
    seed = seed * 1664525u + 1013904223u;
    v += seed >> 9;
  }
  s[threadIdx.y][threadIdx.x] = v;
  for (int d = 16; d > 0; d >>= 1) {
    __syncthreads();
    if (threadIdx.x < d) s[threadIdx.y][threadIdx.x] += s[threadIdx.y][threadIdx.x + d];
  }
  if (threadIdx.x == 0) out[(blockIdx.y * 4 + blockIdx.x) * 2 + threadIdx.y] = s[threadIdx.y][0];  //~ data-race //twin: if (threadIdx.x == 0) out[(blockIdx.y * 4 + blockIdx.x) * 2] = s[threadIdx.y][0] + threadIdx.y;
}
//== lane_shift_volatile
//xfail:BOOGIE_ERROR
//--blockDim=64 --gridDim=1
__global__ void lane_shift_volatile(int* a) {
  __shared__ volatile int s[64];
  s[threadIdx.x] = a[threadIdx.x];  //~ data-race
  a[threadIdx.x] = s[(threadIdx.x + 1) % 64];  //~ data-race
}
//== guarded_barrier_of_warp
//xfail:BOOGIE_ERROR
//--blockDim=128 --gridDim=1
__global__ void guarded_barrier_of_warp(int* a) {
  __shared__ int s[128];
  s[threadIdx.x] = a[threadIdx.x];
  if (threadIdx.x < 64) __syncthreads();  //~ barrier-divergence
  a[threadIdx.x] = s[threadIdx.x];
}
//== eigen_intervals
//pass
//--blockDim=64 --gridDim=1
__global__ void eigen_intervals(const float* d, float* left, float* right, int n, float eps) {
  __requires(n == 64);
  __shared__ float l[64], r[64];
  __shared__ int active, again;
  int t = threadIdx.x;
  l[t] = d[t];
  r[t] = d[t] + 1;
  if (t == 0) { active = 64; again = 1; }
  __syncthreads();
  for (int round = 0; round < 20; ++round) {
    if (t == 0) again = 0;
    __syncthreads();
    if (t < active && r[t] - l[t] > eps) {
      float mid = (l[t] + r[t]) / 2;
      if (mid < d[t]) l[t] = mid; else r[t] = mid;
      again = 1;
    }
    __syncthreads();  //twin:
    if (!again) break;  //~ data-race
    __syncthreads();
  }
  left[t] = l[t];
  right[t] = r[t];
}
