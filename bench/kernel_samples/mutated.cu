// The kernels that bench/kernel_mutants.py mutates: they are right for every size.

extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void strided(const float* in, float* out, int n) {
  const int step = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) out[i] = in[i] + 1;
}

extern "C" __global__ void reversed(const int* in, int* out) {
  __shared__ int tile[256];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  tile[t] = in[i];
  __syncthreads();
  out[i] = tile[255 - t];
}

extern "C" __global__ void tree(const float* in, float* sums, int n) {
  __shared__ float partial[256];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  partial[t] = i < n ? in[i] : 0;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) partial[t] += partial[t + half];
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}

extern "C" __global__ void scan(const int* in, int* out) {
  __shared__ int a[256];
  __shared__ int b[256];
  const int t = threadIdx.x;
  a[t] = in[t];
  for (int d = 1; d < 256; d *= 4) {
    __syncthreads();
    b[t] = t >= d ? a[t] + a[t - d] : a[t];
    __syncthreads();
    a[t] = t >= 2 * d ? b[t] + b[t - 2 * d] : b[t];
  }
  out[t] = a[t];
}

extern "C" __global__ void transpose(const float* in, float* out, int width) {
  __shared__ float tile[16][17];
  const int x = threadIdx.x, y = threadIdx.y;
  const int column = blockIdx.x * 16 + x, row = y;
  if (column < width) tile[y][x] = in[row * width + column];
  __syncthreads();
  const int other = blockIdx.x * 16 + y;
  if (other < width) out[other * 16 + x] = tile[x][y];
}

extern "C" __global__ void halo(const float* in, float* out, int n) {
  __shared__ float tile[258];
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  tile[t + 1] = i < n ? in[i] : 0;
  if (t == 0) tile[0] = i > 0 && i - 1 < n ? in[i - 1] : 0;
  if (t == 255) tile[257] = i + 1 < n ? in[i + 1] : 0;
  __syncthreads();
  if (i < n) out[i] = tile[t] + tile[t + 1] + tile[t + 2];
}

extern "C" __global__ void row_sums(const float* matrix, float* sums, int rows) {
  __shared__ float partial[8][33];
  const int lane = threadIdx.x, y = threadIdx.y, row = blockIdx.x * 8 + y;
  float sum = 0;
  if (row < rows) {
    for (int column = lane; column < 64; column += 32) sum += matrix[row * 64 + column];
  }
  partial[y][lane] = sum;
  for (int half = 16; half > 0; half /= 2) {
    __syncthreads();
    if (lane < half) partial[y][lane] += partial[y][lane + half];
  }
  __syncthreads();
  if (lane == 0 && row < rows) sums[row] = partial[y][0];
}
