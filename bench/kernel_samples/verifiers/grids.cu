//== plane_of_blocks
//pass
//--blockDim=[8,8] --gridDim=[3,5]
__global__ void plane_of_blocks(int* a, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) a[y * width + x] = x * y;  //~ data-race //twin: if (x < width && y < height) a[y * width + x / 2] = x * y;
}
//== plane_with_strides
//pass
//--blockDim=[16,4] --gridDim=[2,3]
__global__ void plane_with_strides(float* a, int width, int height) {
  for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < height; y += blockDim.y * gridDim.y)
    for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < width; x += blockDim.x * gridDim.x)
      a[y * width + x] = 0.5f * x;  //~ data-race //twin: a[y * width + x / 2] = 0.5f * x;
}
//== volume_of_any_size
//pass
//--blockDim=[8,4,2] --gridDim=[2,2,4]
__global__ void volume_of_any_size(float* v, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
      z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < nx && y < ny && z < nz) v[(z * ny + y) * nx + x] += 1;  //~ data-race //twin: if (x < nx && y < ny && z < nz) v[(z * ny + y) * nx] += x;
}
//== volume_walked_along_z
//pass
//--blockDim=[8,8] --gridDim=[4,4]
__global__ void volume_walked_along_z(const float* in, float* out, int nx, int ny, int nz) {
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  int at = y * nx + x;
  const int plane = nx * ny;
  for (int z = 1; z < nz - 1; ++z) {
    at += plane;
    out[at] = in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx];  //~ data-race //twin: out[at & ~1] = in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx];
  }
}
//== one_block_a_row
//pass
//--blockDim=64 --gridDim=16
__global__ void one_block_a_row(const float* m, const float* v, float* out, int columns) {
  __shared__ float s[64];
  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += m[blockIdx.x * columns + c] * v[c];
  s[threadIdx.x] = sum;
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    __syncthreads();
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];  //~ data-race //twin: if (threadIdx.x == 0) out[blockIdx.x / 2] = s[0] + blockIdx.x;
}
//== halo_of_blocks
//pass
//--blockDim=64 --gridDim=8
__global__ void halo_of_blocks(const float* in, float* out, int n) {
  __shared__ float s[66];
  int i = blockIdx.x * 64 + threadIdx.x;
  s[threadIdx.x + 1] = i < n ? in[i] : 0;
  if (threadIdx.x == 0) s[0] = i > 0 && i <= n ? in[i - 1] : 0;
  if (threadIdx.x == 63) s[65] = i + 1 < n ? in[i + 1] : 0;
  __syncthreads();  //twin:
  if (i < n) out[i] = s[threadIdx.x] + s[threadIdx.x + 1] + s[threadIdx.x + 2];  //~ data-race
}
//== next_block_writes_here
//xfail:BOOGIE_ERROR
//--blockDim=64 --gridDim=8
__global__ void next_block_writes_here(int* a) {
  int i = blockIdx.x * 64 + threadIdx.x;
  a[i] = 1;       //~ data-race
  a[i + 64] = 2;  //~ data-race
}
//== blocks_share_an_end
//xfail:BOOGIE_ERROR
//--blockDim=64 --gridDim=4
__global__ void blocks_share_an_end(int* a) {
  a[blockIdx.x * 63 + threadIdx.x] = blockIdx.x;  //~ data-race
}
//== one_sum_of_blocks
//xfail:BOOGIE_ERROR
//--blockDim=64 --gridDim=4
__global__ void one_sum_of_blocks(const int* in, int* sum) {
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  atomicAdd(&s, in[blockIdx.x * 64 + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) *sum += s;  //~ data-race
}
//== atomic_sum_of_blocks
//pass
//--blockDim=64 --gridDim=4
__global__ void atomic_sum_of_blocks(const int* in, int* sum) {
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;  //~ data-race
  __syncthreads();  //twin:
  atomicAdd(&s, in[blockIdx.x * 64 + threadIdx.x]);  //~ data-race
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(sum, s);
}
//== block_histogram
//pass
//--blockDim=128 --gridDim=4
__global__ void block_histogram(const unsigned char* in, unsigned* bins, int n) {
  __shared__ unsigned s[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x) s[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    atomicAdd(&s[in[i]], 1u);  //~ data-race
  __syncthreads();  //twin:
  for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&bins[b], s[b]);  //~ data-race
}
//== blocks_of_columns
//pass
//--blockDim=[32,8] --gridDim=4
__global__ void blocks_of_columns(const float* m, float* sums, int rows, int columns) {
  __shared__ float s[8][32];
  int column = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  if (column < columns)
    for (int row = threadIdx.y; row < rows; row += 8) sum += m[row * columns + column];
  s[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  for (int d = 4; d > 0; d >>= 1) {
    if (threadIdx.y < d) s[threadIdx.y][threadIdx.x] += s[threadIdx.y + d][threadIdx.x];  //~ data-race
    __syncthreads();  //twin:
  }
  if (threadIdx.y == 0 && column < columns) sums[column] = s[0][threadIdx.x];
}
//== exchanged_in_a_block
//pass
//--blockDim=[16,16] --gridDim=1
__global__ void exchanged_in_a_block(float* m) {
  __shared__ float s[16][16];
  s[threadIdx.y][threadIdx.x] = m[threadIdx.y * 16 + threadIdx.x];
  __syncthreads();
  if (threadIdx.x < threadIdx.y) {
    float v = s[threadIdx.y][threadIdx.x];
    s[threadIdx.y][threadIdx.x] = s[threadIdx.x][threadIdx.y];  //~ data-race //twin: s[threadIdx.y][threadIdx.x] = s[threadIdx.x][threadIdx.y] + s[threadIdx.y - 1][threadIdx.x];
    s[threadIdx.x][threadIdx.y] = v;
  }
  __syncthreads();
  m[threadIdx.y * 16 + threadIdx.x] = s[threadIdx.y][threadIdx.x];
}
//== dynamic_tiles --shared 'blockDim.x * 8'
//pass
//--blockDim=64 --gridDim=4
extern __shared__ int both[];
__global__ void dynamic_tiles(int* a) {
  int* first = both;
  int* second = both + blockDim.x;
  first[threadIdx.x] = a[blockIdx.x * 64 + threadIdx.x];
  second[blockDim.x - 1 - threadIdx.x] = first[threadIdx.x];
  __syncthreads();  //twin:
  a[blockIdx.x * 64 + threadIdx.x] = second[threadIdx.x];  //~ data-race
}
//== warp_sums_then_block
//pass
//--blockDim=256 --gridDim=4
__device__ float sum_of_warp(float v) {
  for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
  return v;
}
__global__ void warp_sums_then_block(const float* in, float* out, int n) {
  __shared__ float s[32];
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += in[i];
  v = sum_of_warp(v);
  const int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
  if (lane == 0) s[warp] = v;  //~ data-race
  __syncthreads();  //twin:
  v = threadIdx.x < blockDim.x / warpSize ? s[lane] : 0;  //~ data-race
  if (warp == 0) v = sum_of_warp(v);
  if (threadIdx.x == 0) out[blockIdx.x] = v;
}
//== rotated_in_a_warp
//pass
//--blockDim=64 --gridDim=1
__global__ void rotated_in_a_warp(int* a) {
  __shared__ int s[64];
  int lane = threadIdx.x & 31, first = threadIdx.x & ~31;
  s[threadIdx.x] = a[threadIdx.x];
  for (int k = 0; k < 5; ++k) {
    __syncwarp();
    int v = s[first + ((lane + 1) & 31)];  //~ data-race
    __syncwarp();  //twin:
    s[threadIdx.x] = v;  //~ data-race
  }
  a[threadIdx.x] = s[threadIdx.x];
}
//== matched_scan_of_warps
//pass
//--blockDim=128 --gridDim=2
__global__ void matched_scan_of_warps(int* a) {
  __shared__ int last[4];
  int i = blockIdx.x * 128 + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int v = a[i];
  for (int d = 1; d < 32; d *= 2) {
    int left = __shfl_up_sync(0xffffffff, v, d);
    if (lane >= d) v += left;
  }
  if (lane == 31) last[warp] = v;  //~ data-race
  __syncthreads();  //twin:
  for (int w = 0; w < warp; ++w) v += last[w];  //~ data-race
  a[i] = v;
}
//== columns_by_block_of_threads
//pass
//--blockDim=64 --gridDim=4
__global__ void columns_by_block_of_threads(float* a, int rows, int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= columns) return;
  for (int r = 1; r < rows; ++r) a[r * columns + c] += a[(r - 1) * columns + c];  //~ data-race //twin: for (int r = 1; r < rows; ++r) a[r * columns + c] += a[(r - 1) * columns + c / 2];
}
//== grid_stride_plane
//pass
//--blockDim=[16,16] --gridDim=[4,4]
__global__ void grid_stride_plane(float* a, int w, int h) {
  for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < h; y += blockDim.y * gridDim.y)
    for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < w; x += blockDim.x * gridDim.x) a[y * w + x] += 1;  //~ data-race //twin: for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < w; x += blockDim.x) a[y * w + x] += x;
}
//== blocks_backwards
//pass
//--blockDim=64 --gridDim=8
__global__ void blocks_backwards(int* a) {
  unsigned i = (gridDim.x - 1 - blockIdx.x) * blockDim.x + (blockDim.x - 1 - threadIdx.x);
  a[i] = i;  //~ data-race //twin: a[i / 2] = i;
}
