// Kernels with one defect each, and their twins without it, for bench/kernel_command.py.  `// try:`
// stands before a kernel that is tried, with the command's options; `//~ KIND` on each line that a
// finding of this kind names.
#include <cuda_fp16.h>

// --- data races --------------------------------------------------------------------------------

// try: --block 64
__global__ void reverse_race(const int* in, int* out) {
  __shared__ int values[64];
  values[threadIdx.x] = in[threadIdx.x];        //~ data-race
  out[threadIdx.x] = values[63 - threadIdx.x];  //~ data-race uninitialized-read
}

// try: --block 64
__global__ void reverse(const int* in, int* out) {
  __shared__ int values[64];
  values[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = values[63 - threadIdx.x];
}

// try: --instantiate 'tree_race<float, 256>' --block 256
template <class T, int threads>
__global__ void tree_race(const T* in, T* sums, int n) {
  __shared__ T partial[threads];
  const int t = threadIdx.x, i = blockIdx.x * threads + t;
  partial[t] = i < n ? in[i] : T(0);
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (t < half) partial[t] += partial[t + half];  //~ data-race
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}

// try: --instantiate 'tree<float, 256>' --block 256
template <class T, int threads>
__global__ void tree(const T* in, T* sums, int n) {
  __shared__ T partial[threads];
  const int t = threadIdx.x, i = blockIdx.x * threads + t;
  partial[t] = i < n ? in[i] : T(0);
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) partial[t] += partial[t + half];
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}

// try:
__global__ void bins_race(const unsigned char* bytes, unsigned* bins, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) bins[bytes[i]]++;  //~ data-race
}

// try:
__global__ void neighbour_race(float* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 < n) values[i] = values[i + 1] * 0.5f;  //~ data-race
}

// try:
__global__ void neighbour(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 < n) out[i] = in[i + 1] * 0.5f;
}

// try:
__global__ void flag_race(int* found, const int* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] == 7) *found = i;  //~ data-race
}

struct Grid {
  float* cells;
  int width, height;
};

// try:
__global__ void relax_race(Grid grid) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y >= grid.height || x >= grid.width) return;
  grid.cells[y * grid.width + x] = grid.cells[y * grid.width + x - 1];  //~ data-race
}

// try: --grid 1
__global__ void tiles_race(const float* in, float* out, int n) {
  __shared__ float tile[256];
  for (int base = 0; base < n; base += 256) {
    const int i = base + threadIdx.x;
    tile[threadIdx.x] = i < n ? in[i] : 0;  //~ data-race
    __syncthreads();
    if (i < n) out[i] = tile[(threadIdx.x + 1) & 255];  //~ data-race
  }
}

// try: --grid 1
__global__ void tiles(const float* in, float* out, int n) {
  __shared__ float tile[256];
  for (int base = 0; base < n; base += 256) {
    const int i = base + threadIdx.x;
    tile[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    if (i < n) out[i] = tile[(threadIdx.x + 1) & 255];
    __syncthreads();
  }
}

// try: --block 32 --shared 'blockDim.x * 4'
__global__ void within_a_warp_race(int* out) {
  extern __shared__ int lanes[];
  const int t = threadIdx.x;
  lanes[t] = t;                          //~ data-race
  out[t] = lanes[(t + 1) % blockDim.x];  //~ data-race
}

// try: --block 32 --shared 'blockDim.x * 4'
__global__ void within_a_warp(int* out) {
  extern __shared__ int lanes[];
  const int t = threadIdx.x;
  lanes[t] = t;
  __syncwarp();
  out[t] = lanes[(t + 1) % blockDim.x];
}

// --- out of bounds -----------------------------------------------------------------------------

// try:
__global__ void shared_overrun(const __half* in, __half* out, int n) {
  __shared__ __half tile[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? in[i] : __half(0);
  __syncthreads();
  if (i < n) out[i] = tile[threadIdx.x + 1];  //~ out-of-bounds
}

// try: --length in=n --length out=n
__global__ void halo_overrun(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + in[i + 1];  //~ out-of-bounds
}

// try: --length 'matrix=rows*columns'
__global__ void swapped_extents(float* matrix, int rows, int columns) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y,
            column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows && column < columns) matrix[row * rows + column] = 1;  //~ out-of-bounds
}

// try: --length 'matrix=rows*columns'
__global__ void right_extents(float* matrix, int rows, int columns) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y,
            column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows && column < columns) matrix[row * columns + column] = 1;
}

// lengths: values = n
// requires: n > 0
// try:
__global__ void unguarded(double* values, int n) {
  values[blockIdx.x * blockDim.x + threadIdx.x] = n;  //~ out-of-bounds
}

// try:
__global__ void before_the_first(const long long* in, long long* out, size_t n) {
  const size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i - 1];  //~ out-of-bounds
}

// try: --length in=n --length out=n
__global__ void float4_tail(const float* in, float* out, int n) {
  const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n)
    *reinterpret_cast<float4*>(out + i) =
        *reinterpret_cast<const float4*>(in + i);  //~ out-of-bounds
}

// try: --length in=n+1 --length out=n --requires 'n % 4 == 0'
__global__ void float4_shifted(const float* in, float* out, int n) {
  const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n)
    *reinterpret_cast<float4*>(out + i) =
        *reinterpret_cast<const float4*>(in + i + 1);  //~ misaligned-access
}

// --- unwritten values --------------------------------------------------------------------------

// try: --block 128
__global__ void partly_written(const int* in, int* out, int n) {
  __shared__ int tile[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) tile[threadIdx.x] = in[i];
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < 128; ++k) sum += tile[k];  //~ uninitialized-read
  if (sum > 0) out[blockIdx.x] = 1;              //~ uninitialized-read
}

// try: --block 128
__global__ void wholly_written(const int* in, int* out, int n) {
  __shared__ int tile[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < 128; ++k) sum += tile[k];
  if (threadIdx.x == 0) out[blockIdx.x] = sum > 0;
}

// try: --block 64
__global__ void counters_not_cleared(const unsigned char* in, unsigned* out, int n) {
  __shared__ unsigned counts[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counts[in[i] % 64], 1U);
  __syncthreads();
  if (counts[threadIdx.x] > 10) atomicAdd(&out[threadIdx.x], 1U);  //~ uninitialized-read
}

// --- barriers ----------------------------------------------------------------------------------

// try: --block 64
__global__ void early_return(const int* in, int* out, int n) {
  __shared__ int tile[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = 0;
  if (i < n) {
    tile[threadIdx.x] = in[i];
    __syncthreads();  //~ barrier-divergence
    out[i] = tile[threadIdx.x];
  }
  __syncthreads();  //~ barrier-divergence
}

// try: --block 64 --grid 1 --let n=0..64
__global__ void barrier_in_a_loop(int* values, int n) {
  for (int k = threadIdx.x; k < n; ++k) {
    __syncthreads();  //~ barrier-divergence
  }
  values[threadIdx.x] = n;  //~ barrier-divergence
}

// try: --block 64
__global__ void barrier_for_all(const int* in, int* out, int n) {
  __shared__ int tile[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  if (i < n) out[i] = tile[63 - threadIdx.x];
}
