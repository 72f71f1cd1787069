//== reduce0
//pass
//--blockDim=256 --gridDim=64
__global__ void reduce0(int* in, int* out, unsigned n) {
  extern __shared__ int s[];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned d = 1; d < blockDim.x; d *= 2) {
    if (t % (2 * d) == 0) s[t] += s[t + d];  //~ data-race
    __syncthreads();  //twin:
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
//== reduce1
//pass
//--blockDim=256 --gridDim=64
__global__ void reduce1(int* in, int* out, unsigned n) {
  extern __shared__ int s[];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned d = 1; d < blockDim.x; d *= 2) {
    int k = 2 * d * t;
    if (k < blockDim.x) s[k] += s[k + d];  //~ data-race
    __syncthreads();  //twin:
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
//== reduce3
//pass
//--blockDim=256 --gridDim=64
__global__ void reduce3(int* in, int* out, unsigned n) {
  extern __shared__ int s[];
  unsigned t = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + t;
  int sum = i < n ? in[i] : 0;
  if (i + blockDim.x < n) sum += in[i + blockDim.x];
  s[t] = sum;
  __syncthreads();  //twin:
  for (unsigned d = blockDim.x / 2; d > 0; d >>= 1) {
    if (t < d) s[t] = sum = sum + s[t + d];  //~ data-race
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
//== reduce4
//xfail:BOOGIE_ERROR: a lane stores what another one still reads for the same step
//--blockDim=128 --gridDim=64
__global__ void reduce4(int* in, int* out, unsigned n) {
  __shared__ int s[128];
  unsigned t = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + t;
  int sum = i < n ? in[i] : 0;
  if (i + blockDim.x < n) sum += in[i + blockDim.x];
  s[t] = sum;
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 32; d >>= 1) {
    if (t < d) s[t] = sum = sum + s[t + d];
    __syncthreads();
  }
  if (t < 32) {
    s[t] = sum = sum + s[t + 32]; __syncwarp();
    s[t] = sum = sum + s[t + 16]; __syncwarp();  //~ data-race
    s[t] = sum = sum + s[t + 8]; __syncwarp();  //~ data-race
    s[t] = sum = sum + s[t + 4]; __syncwarp();
    s[t] = sum = sum + s[t + 2]; __syncwarp();
    s[t] = sum = sum + s[t + 1];
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
//== reduce4_right
//pass
//--blockDim=128 --gridDim=64
__global__ void reduce4_right(int* in, int* out, unsigned n) {
  __shared__ int s[128];
  unsigned t = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + t;
  int sum = i < n ? in[i] : 0;
  s[t] = sum;
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 32; d >>= 1) {
    if (t < d) s[t] = sum = sum + s[t + d];  //~ data-race
    __syncthreads();  //twin:
  }
  if (t < 32) {
    sum += s[t + 32]; __syncwarp(); s[t] = sum; __syncwarp();
    sum += s[t + 16]; __syncwarp(); s[t] = sum; __syncwarp();
    sum += s[t + 8]; __syncwarp(); s[t] = sum; __syncwarp();
    sum += s[t + 4]; __syncwarp(); s[t] = sum; __syncwarp();
    sum += s[t + 2]; __syncwarp(); s[t] = sum; __syncwarp();
    sum += s[t + 1]; __syncwarp(); s[t] = sum;
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
//== reduce5 --instantiate 'reduce5<256u>'
//pass
//--blockDim=256 --gridDim=64
template <unsigned size>
__global__ void reduce5(int* in, int* out, unsigned n) {
  __shared__ int s[size];
  unsigned t = threadIdx.x, i = blockIdx.x * (size * 2) + t;
  int sum = i < n ? in[i] : 0;
  if (i + size < n) sum += in[i + size];
  s[t] = sum;
  __syncthreads();
  if (size >= 512) { if (t < 256) s[t] = sum = sum + s[t + 256]; __syncthreads(); }
  if (size >= 256) { if (t < 128) s[t] = sum = sum + s[t + 128]; __syncthreads(); }  //~ data-race //twin: if (size >= 256) { if (t < 128) s[t] = sum = sum + s[t + 128]; }
  if (size >= 128) { if (t < 64) s[t] = sum = sum + s[t + 64]; __syncthreads(); }  //~ data-race
  if (t < 32) {
    sum += s[t + 32];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
  }
  if (t == 0) out[blockIdx.x] = sum;
}
template __global__ void reduce5<256>(int*, int*, unsigned);
//== reduce6 --instantiate 'reduce6<128u, true>'
//pass
//--blockDim=128 --gridDim=32
template <unsigned size, bool is_power>
__global__ void reduce6(const int* in, int* out, unsigned n) {
  __shared__ int s[size];
  unsigned t = threadIdx.x, i = blockIdx.x * size * 2 + t, grid = size * 2 * gridDim.x;
  int sum = 0;
  while (i < n) {
    sum += in[i];
    if (is_power || i + size < n) sum += in[i + size];
    i += grid;
  }
  s[t] = sum;
  __syncthreads();  //twin:
  if (t < 64) s[t] = sum = sum + s[t + 64];  //~ data-race
  __syncthreads();
  if (t < 32) {
    sum += s[t + 32];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (t == 0) out[blockIdx.x] = sum;
  }
}
template __global__ void reduce6<128, true>(const int*, int*, unsigned);
//== reduce_any_block
//pass
__global__ void reduce_any_block(const float* in, float* out, int n) {
  extern __shared__ float s[];
  int t = threadIdx.x;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += blockDim.x * gridDim.x) sum += in[i];
  s[t] = sum;
  __syncthreads();
  for (int size = blockDim.x; size > 1;) {
    int half = (size + 1) >> 1;
    if (t < half && t + half < size) s[t] += s[t + half];  //~ data-race
    __syncthreads();  //twin:
    size = half;
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
//== reduce_columns
//pass
//--blockDim=[32,8] --gridDim=4
__global__ void reduce_columns(const float* m, float* sums, int rows, int columns) {
  __shared__ float s[8][33];
  int c = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  if (c < columns)
    for (int r = threadIdx.y; r < rows; r += 8) sum += m[r * columns + c];
  s[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  for (int d = 4; d > 0; d >>= 1) {
    if (threadIdx.y < d) s[threadIdx.y][threadIdx.x] += s[threadIdx.y + d][threadIdx.x];  //~ data-race
    __syncthreads();  //twin:
  }
  if (threadIdx.y == 0 && c < columns) sums[c] = s[0][threadIdx.x];
}
//== dot_product
//pass
//--blockDim=256 --gridDim=32
__global__ void dot_product(const float* a, const float* b, float* c, int n) {
  __shared__ float cache[256];
  int tid = threadIdx.x + blockIdx.x * blockDim.x;
  int at = threadIdx.x;
  float temp = 0;
  while (tid < n) {
    temp += a[tid] * b[tid];
    tid += blockDim.x * gridDim.x;
  }
  cache[at] = temp;
  __syncthreads();
  int i = blockDim.x / 2;
  while (i != 0) {
    if (at < i) cache[at] += cache[at + i];  //~ data-race //twin: if (at <= i) cache[at] += cache[at + i];
    __syncthreads();
    i /= 2;
  }
  if (at == 0) c[blockIdx.x] = cache[0];
}
//== argmax
//pass
//--blockDim=128 --gridDim=1
__global__ void argmax(const float* in, int* best) {
  __shared__ float value[128];
  __shared__ int at[128];
  int t = threadIdx.x;
  value[t] = in[t];
  at[t] = t;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d && value[t + d] > value[t]) {  //~ data-race
      value[t] = value[t + d];  //~ data-race
      at[t] = at[t + d];
    }
    __syncthreads();  //twin:
  }
  if (t == 0) *best = at[0];
}
//== segmented_max_of_rows
//pass
//--blockDim=[64,2] --gridDim=8
__global__ void segmented_max_of_rows(const short* in, short* out) {
  __shared__ short s[2][64];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.x * 2 + y;
  s[y][x] = in[row * 64 + x];
  for (int d = 32; d; d >>= 1) {
    __syncthreads();
    if (x < d) s[y][x] = max(s[y][x], s[y][x + d]);  //~ data-race //twin: if (x < d) s[y][x] = max(s[0][x], s[y][x + d]);
  }
  if (x == 0) out[row] = s[y][0];
}
//== reduce_rows_of_tile
//pass
//--blockDim=[32,8] --gridDim=16
__global__ void reduce_rows_of_tile(float* out, const float* in) {
  __shared__ float s[8][32];
  int x = threadIdx.x, y = threadIdx.y;
  s[y][x] = in[(blockIdx.x * 8 + y) * 32 + x];
  __syncthreads();
  for (int d = 16; d > 0; d /= 2) {
    if (x < d) s[y][x] += s[y][x + d];  //~ data-race
    __syncthreads();  //twin:
  }
  if (x == 0) out[blockIdx.x * 8 + y] = s[y][0];
}
//== reduce_tile_in_both
//pass
//--blockDim=[16,16] --gridDim=4
__global__ void reduce_tile_in_both(int* out, const int* in) {
  __shared__ int s[16][16];
  int x = threadIdx.x, y = threadIdx.y;
  s[y][x] = in[blockIdx.x * 256 + y * 16 + x];
  __syncthreads();
  for (int d = 8; d; d >>= 1) {
    if (x < d) s[y][x] += s[y][x + d];
    __syncthreads();
  }
  for (int d = 8; d; d >>= 1) {
    if (x == 0 && y < d) s[y][0] += s[y + d][0];  //~ data-race //twin: if (x == 0 && y <= d) s[y][0] += s[y + d - 1][0];
    __syncthreads();
  }
  if (x == 0 && y == 0) out[blockIdx.x] = s[0][0];
}
//== volatile_warp_tail
//pass
//--blockDim=64 --gridDim=4
__device__ void volatile_tail(volatile int* s, int t) {
  s[t] += s[t + 32]; __syncwarp();
  s[t] += s[t + 16]; __syncwarp();
}
__global__ void volatile_warp_tail(int* out, const int* in) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  if (t == 0) { int v = 0; for (int i = 0; i < 64; ++i) v += s[i]; out[blockIdx.x] = v; }  //~ data-race //twin: if (t == 0) { int v = 0; for (int i = 0; i < 64; ++i) v += s[i]; out[0] = v; }
}
//== reduction_of_odd_counts
//pass
//--gridDim=1
__global__ void reduction_of_odd_counts(int* out, const int* in) {
  extern __shared__ int s[];
  int n = blockDim.x, t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  while (n > 1) {
    int half = (n + 1) / 2;
    if (t + half < n) s[t] += s[t + half];  //~ data-race
    n = half;
    __syncthreads();  //twin:
  }
  if (t == 0) *out = s[0];
}
//== tree_in_heap_order
//pass
//--blockDim=64 --gridDim=1
__global__ void tree_in_heap_order(int* a) {
  __shared__ int tree[128];
  int t = threadIdx.x;
  tree[64 + t] = a[t];
  for (int level = 32; level > 0; level >>= 1) {
    __syncthreads();  //twin:
    if (t >= level && t < 2 * level) tree[t] = tree[2 * t] + tree[2 * t + 1];  //~ data-race
  }
  __syncthreads();
  a[t] = tree[1] - (t ? tree[t] : 0);
}
