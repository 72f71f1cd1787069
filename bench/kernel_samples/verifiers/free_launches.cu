//== free_saxpy
//pass
__global__ void free_saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];  //~ data-race //twin: if (i < n) y[i / 2] += a * x[i];
}
//== free_grid_stride
//pass
__global__ void free_grid_stride(int n, const float* x, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] = x[i];  //~ data-race //twin: for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x) y[i] += x[i];
}
//== free_two_d
//pass
__global__ void free_two_d(float* m, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) m[y * width + x] *= 2;  //~ data-race //twin: if (x <= width && y < height) m[y * width + x] *= 2;
}
//== free_two_d_strides
//pass
__global__ void free_two_d_strides(float* m, int width, int height) {
  for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < height; y += gridDim.y * blockDim.y)
    for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < width; x += gridDim.x * blockDim.x)
      m[y * width + x] = x + y;  //~ data-race //twin: m[x * width + y] = x + y;
}
//== free_halving
//pass
__global__ void free_halving(float* sums, const float* in) {
  extern __shared__ float s[];
  __requires(__is_pow2(blockDim.x));
  s[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  for (int d = blockDim.x >> 1; d > 0; d >>= 1) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];  //~ data-race
    __syncthreads();  //twin:
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = s[0];
}
//== free_histogram
//pass
__global__ void free_histogram(const unsigned char* in, unsigned* bins, int n) {
  __shared__ unsigned local[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x) local[b] = 0;  //~ data-race
  __syncthreads();  //twin:
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[in[i]], 1u);  //~ data-race
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&bins[b], local[b]);
}
//== free_dot
//pass
__global__ void free_dot(const float* a, const float* b, float* sum, int n) {
  __shared__ float cache[1024];
  float v = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) v += a[i] * b[i];
  cache[threadIdx.x] = v;
  __syncthreads();  //twin:
  if (threadIdx.x == 0) {
    float total = 0;
    for (int i = 0; i < blockDim.x; ++i) total += cache[i];  //~ data-race
    atomicAdd(sum, total);
  }
}
//== free_reverse
//pass
__global__ void free_reverse(int* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 2) {  //twin: if (i <= n / 2) {
    int t = a[i];
    a[i] = a[n - 1 - i];  //~ data-race
    a[n - 1 - i] = t;
  }
}
//== free_reverse_shared
//pass
//--gridDim=1
__global__ void free_reverse_shared(int* a, int n) {
  extern __shared__ int s[];
  __requires(n == blockDim.x);
  int t = threadIdx.x;
  s[t] = a[t];  //~ data-race
  __syncthreads();  //twin:
  a[t] = s[n - t - 1];  //~ data-race
}
//== free_rotate_blocks
//pass
__global__ void free_rotate_blocks(const int* in, int* out) {
  int b = (blockIdx.x + 1) % gridDim.x;  //twin: int b = (blockIdx.x + 1) / 2;
  out[b * blockDim.x + threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];  //~ data-race
}
//== free_warp_rows
//pass
__global__ void free_warp_rows(const float* m, float* sums, int rows, int columns) {
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (warp >= rows) return;
  float sum = 0;
  for (int c = lane; c < columns; c += 32) sum += m[warp * columns + c];
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffff, sum, d);
  if (lane == 0) sums[warp] = sum;  //~ data-race //twin: if (lane <= 1) sums[warp] = sum;
}
//== free_tiled_stencil
//pass
__global__ void free_tiled_stencil(const float* in, float* out, int n) {
  extern __shared__ float s[];
  int g = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x + 1;
  s[l] = g < n ? in[g] : 0;
  if (threadIdx.x == 0) s[0] = g > 0 ? in[g - 1] : 0;
  if (threadIdx.x == blockDim.x - 1) s[l + 1] = g + 1 < n ? in[g + 1] : 0;
  __syncthreads();  //twin:
  if (g < n) out[g] = s[l - 1] + s[l] + s[l + 1];  //~ data-race
}
//== free_iterated_stencil
//pass
//--gridDim=1
__global__ void free_iterated_stencil(float* a, int steps) {
  extern __shared__ float s[];
  int t = threadIdx.x, n = blockDim.x;
  s[t] = a[t];
  __syncthreads();
  for (int k = 0; k < steps; ++k) {
    float v = s[t];
    if (t > 0 && t < n - 1) v = (s[t - 1] + s[t + 1]) / 2;  //~ data-race
    __syncthreads();
    s[t] = v;  //~ data-race
    __syncthreads();  //twin:
  }
  a[t] = s[t];
}
//== free_column_major
//pass
__global__ void free_column_major(double* m, int rows, int columns, double alpha) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  for (int c = 0; c < columns; ++c) m[c * rows + r] *= alpha;  //~ data-race //twin: for (int c = 0; c < columns; ++c) m[c * columns + r] *= alpha;
}
//== free_prefix_of_rows
//pass
__global__ void free_prefix_of_rows(int* m, int rows, int columns) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows)
    for (int c = 1; c < columns; ++c) m[r * columns + c] += m[r * columns + c - 1];  //~ data-race //twin: for (int c = 0; c < columns; ++c) m[r * columns + c + 1] += m[r * columns + c];
}
//== free_block_per_row
//pass
__global__ void free_block_per_row(float* m, int columns) {
  float* row = m + blockIdx.x * columns;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) row[c] = row[c] * 2;  //~ data-race //twin: for (int c = threadIdx.x; c <= columns; c += blockDim.x) row[c] = row[c] * 2;
}
//== free_softmax
//pass
__global__ void free_softmax(float* m, int columns) {
  __shared__ float part[256];
  __requires(blockDim.x == 256);
  float* row = m + blockIdx.x * columns;
  float most = -1e30f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) most = fmaxf(most, row[c]);
  part[threadIdx.x] = most;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (threadIdx.x < d) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + d]);
    __syncthreads();
  }
  most = part[0];  //~ data-race
  __syncthreads();  //twin:
  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += row[c] = expf(row[c] - most);
  part[threadIdx.x] = sum;  //~ data-race
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
    __syncthreads();
  }
  sum = part[0];
  for (int c = threadIdx.x; c < columns; c += blockDim.x) row[c] /= sum;
}
