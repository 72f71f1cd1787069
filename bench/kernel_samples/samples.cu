// Kernels without a host, for bench/kernel_command.py: those that are right, those with one defect,
// and those that no command can call.
#include <cuda_fp16.h>

struct Image {
  int width, height, pitch;
  float4* pixels;
};

struct Range {
  int first, last;
};

__global__ void saxpy(int n, float a, const float* __restrict__ x, float* __restrict__ y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void grid_stride(long long n, double* values) {
  for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    values[i] *= 2;
  }
}

__global__ void transpose(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[16][17];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < columns && y < rows) tile[threadIdx.y][threadIdx.x] = in[y * columns + x];
  __syncthreads();
  x = blockIdx.y * 16 + threadIdx.x;
  y = blockIdx.x * 16 + threadIdx.y;
  if (x < rows && y < columns) out[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void clear(Image image, float4 color) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < image.width && y < image.height && x < image.pitch) {
    image.pixels[y * image.pitch + x] = color;
  }
}

__global__ void halve(const __half* in, __half* out, __half factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __hmul(in[i], factor);
}

__global__ void stencil(const float* in, float* out, int n, int radius) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k <= 2 * radius; ++k) sum += in[i + k];
  out[i] = sum;
}

__global__ void gather(const int* index, const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[index[i]];
}

__global__ void sparse_rows(int rows, const int* begin, const int* column, const float* value,
                            const float* x, float* y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int k = begin[row]; k < begin[row + 1]; ++k) sum += value[k] * x[column[k]];
  y[row] = sum;
}

__global__ void histogram(const unsigned char* bytes, unsigned* bins, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[bytes[i]], 1U);
}

// launch: blockDim.x == 128
__global__ void block_sums(const int* in, int* sums, int n) {
  extern __shared__ int partial[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
  partial[t] = i < n ? in[i] : 0;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) partial[t] += partial[t + half];
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}

// requires: n % 4 == 0
// lengths: in = n, out = n
__global__ void copy_vectors(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4) {
    reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(in)[i];
  }
}

__global__ void product(const float* a, const float* b, float* c, int n, int m, int k) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= m) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * m + column];
  c[row * m + column] = sum;
}

__global__ void steps(float* values, int n, int step) {
  for (int i = threadIdx.x; i < n; i += step * blockDim.x) values[i] = 1;
}

__global__ void flags(bool* flags, bool value, Range range) {
  const int i = range.first + threadIdx.x;
  if (range.first >= 0 && i < range.last) flags[i] = value;
}

template <class T, int count>
__global__ void rotate(const T* in, T* out) {
  __shared__ T values[count];
  const int t = threadIdx.x;
  if (t < count) values[t] = in[t];
  __syncthreads();
  if (t < count) out[t] = values[(t + 1) % count];
}

// --- with a defect -----------------------------------------------------------------------------

template <class T, int count>
__global__ void scan_without_barrier(const T* in, T* out, int n) {
  __shared__ T sums[count];
  const int t = threadIdx.x;
  sums[t] = t < n ? in[t] : 0;
  __syncthreads();
  for (int d = 1; d < count; d *= 2) {
    const T before = t >= d ? sums[t - d] : 0;
    sums[t] += before;
    __syncthreads();
  }
  if (t < n) out[t] = sums[t];
}

__global__ void previous(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] - in[i - 1];
}

__global__ void unwritten_tile(const int* in, int* out, int n) {
  __shared__ int tile[256];
  const int t = threadIdx.x;
  if (t < n) tile[t] = in[t];
  __syncthreads();
  if (tile[255 - t] > 0) out[t] = 1;
}

__global__ void barrier_in_a_branch(int* out, int n) {
  if (static_cast<int>(threadIdx.x) < n) {
    out[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] += out[0];
  }
}

__global__ void one_place(int* sum, const int* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) *sum += in[i];
}

// lengths: out = n
__global__ void one_too_many(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) out[i] = 0;
}

// --- that nobody can call without a host -------------------------------------------------------

__global__ void rows_of_pointers(float** rows, int n) {
  if (threadIdx.x < n) rows[threadIdx.x][0] = 1;
}

__global__ void from_texture(cudaTextureObject_t texture, float* out, int n) {
  if (threadIdx.x < n) out[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x);
}
