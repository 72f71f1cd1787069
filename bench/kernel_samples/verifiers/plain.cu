//== vector_add
//pass
//--blockDim=128 --gridDim=8
__global__ void vector_add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];  //~ data-race //twin: if (i < n) c[i % 100] = a[i] + b[i];
}
//== neighbour
//xfail:BOOGIE_ERROR
//--blockDim=64 --gridDim=64 --no-inline
__global__ void neighbour(int* a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = a[i + 1];  //~ data-race
}
//== own_block
//pass
//--blockDim=64 --gridDim=8
__global__ void own_block(int* a) {
  __shared__ int s[64];
  s[threadIdx.x] = 2 * threadIdx.x;
  a[blockDim.x * blockIdx.x + threadIdx.x] = s[threadIdx.x];  //~ data-race //twin: a[threadIdx.x] = s[threadIdx.x] + blockIdx.x;
}
//== one_cell
//xfail:BOOGIE_ERROR
//--blockDim=64 --gridDim=1
__global__ void one_cell(int* a) {
  __shared__ int x;
  x = threadIdx.x;  //~ data-race
  a[threadIdx.x] = x;  //~ data-race
}
//== one_writer
//pass
//--blockDim=64 --gridDim=1
__global__ void one_writer(int* a) {
  __shared__ int x;
  if (threadIdx.x == 0) x = a[64];  //~ data-race
  __syncthreads();  //twin:
  a[threadIdx.x] = x;               //~ data-race
}
//== multiple_of_thread
//pass
//--blockDim=128 --gridDim=1
__global__ void multiple_of_thread(int* a, int k) {
  __requires(k >= 1);
  __requires(k <= 100000);
  a[k * threadIdx.x] = 1;  //~ data-race //twin: a[k * (threadIdx.x / 2)] = threadIdx.x;
}
//== free_stride
//xfail:BOOGIE_ERROR
//--blockDim=1024 --gridDim=1
__global__ void free_stride(int* a, int sz) {
  __requires(sz > 0);
  for (int i = 0; i < 8; ++i) a[sz * i + threadIdx.x] = i * threadIdx.x;  //~ data-race
}
//== wide_block
//pass
//--blockDim=2048 --gridDim=2
__global__ void wide_block(int* a) { a[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
//== compact
//pass
//--blockDim=64 --gridDim=1
__global__ void compact(int* a) {
  __shared__ int flag[64], place[64];
  int t = threadIdx.x, v = a[t];
  flag[t] = place[t] = v > 0;
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    int w = t >= d ? place[t - d] : 0;
    __syncthreads();  //twin:
    place[t] += w;
    __syncthreads();
  }
  if (flag[t]) a[place[t] - 1] = v;
}
//== inferred_scalar
//pass
//--blockDim=64 --gridDim=4
__global__ void inferred_scalar(int* a, unsigned rows, unsigned columns) {
  unsigned row = blockIdx.x, column = threadIdx.x;
  if (row < rows && column < columns) a[row * columns + column] = 1;  //~ data-race //twin: if (row < rows && column < columns) a[row + column] = row;
}
//== dynamic_shared --shared 'blockDim.x * 4'
//pass
//--blockDim=64 --gridDim=4
extern __shared__ int pool[];
__global__ void dynamic_shared(int* a) {
  pool[threadIdx.x] = a[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();  //twin:
  a[blockIdx.x * blockDim.x + threadIdx.x] = pool[blockDim.x - 1 - threadIdx.x];  //~ data-race
}
//== two_dynamic_arrays
//pass
//--blockDim=64 --gridDim=1
__global__ void two_dynamic_arrays(int* a) {
  extern __shared__ int both[];
  int* low = both;
  int* high = both + blockDim.x;
  low[threadIdx.x] = a[threadIdx.x];
  high[threadIdx.x] = 2 * a[threadIdx.x];
  __syncthreads();  //twin:
  a[threadIdx.x] = low[63 - threadIdx.x] + high[(threadIdx.x + 1) % blockDim.x];  //~ data-race
}
//== monte_carlo_paths
//pass
//--blockDim=128 --gridDim=4
__global__ void monte_carlo_paths(float* sum, const float* in, int paths) {
  __shared__ float s[128];
  float v = 0;
  for (int i = threadIdx.x; i < paths; i += blockDim.x) v += expf(in[i]);
  s[threadIdx.x] = v;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d >>= 1) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];  //~ data-race
    __syncthreads();  //twin:
  }
  if (threadIdx.x == 0) sum[blockIdx.x] = s[0];
}
//== binomial_tree
//pass
//--blockDim=256 --gridDim=4
__global__ void binomial_tree(float* out, float up, float down) {
  __shared__ float s[257];
  int t = threadIdx.x;
  s[t] = t * up;
  if (t == 0) s[256] = up;
  for (int k = 256; k > 0; --k) {
    __syncthreads();
    float v = 0;
    if (t < k) v = up * s[t + 1] + down * s[t];  //~ data-race
    __syncthreads();  //twin:
    if (t < k) s[t] = v;                         //~ data-race
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
//== block_scan_of_warps
//pass
//--blockDim=256 --gridDim=4
__global__ void block_scan_of_warps(const int* in, int* out) {
  __shared__ int totals[8];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, v = in[blockIdx.x * 256 + threadIdx.x];
  for (int d = 1; d < 32; d *= 2) {
    int w = __shfl_up_sync(0xffffffff, v, d);
    if (lane >= d) v += w;
  }
  if (lane == 31) totals[warp] = v;
  __syncthreads();  //twin:
  if (warp > 0) v += totals[warp - 1];  //~ data-race
  out[blockIdx.x * 256 + threadIdx.x] = v;
}
//== launch_bounds_kernel
//pass
//--blockDim=128 --gridDim=4
__global__ void __launch_bounds__(128) launch_bounds_kernel(double* a, const double* b) {
  __shared__ double s[128];
  s[threadIdx.x] = b[blockIdx.x * 128 + threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 64) s[threadIdx.x] += s[threadIdx.x + 64];
  __syncthreads();
  if (threadIdx.x < 32) s[threadIdx.x] += s[threadIdx.x + 32];
  __syncthreads();  //twin:
  a[blockIdx.x * 128 + threadIdx.x] = s[threadIdx.x & 31];  //~ data-race
}
