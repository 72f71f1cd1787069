//== halving_strides
//pass
//--blockDim=256 --gridDim=4
__global__ void halving_strides(int* in, int* out) {
  __shared__ int s[256];
  s[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  for (unsigned d = 128; d > 0; d >>= 1) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];  //~ data-race
    __syncthreads();  //twin:
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
//== interleaved_strides
//pass
//--blockDim=128 --gridDim=1
__global__ void interleaved_strides(int* a) {
  __shared__ int s[128];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  for (unsigned d = 1; d < blockDim.x; d *= 2) {
    if (threadIdx.x % (2 * d) == 0) s[threadIdx.x] += s[threadIdx.x + d];  //~ data-race //twin: if (threadIdx.x % d == 0 && threadIdx.x + d < 128) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) a[0] = s[0];
}
//== interleaved_indices
//pass
//--blockDim=128 --gridDim=1
__global__ void interleaved_indices(int* a) {
  __shared__ int s[128];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  for (unsigned d = 1; d < 128; d *= 2) {
    unsigned i = 2 * d * threadIdx.x;
    if (i < 128) s[i] += s[i + d];  //~ data-race
    __syncthreads();  //twin:
  }
  if (threadIdx.x == 0) a[0] = s[0];
}
//== grid_stride
//pass
//--blockDim=64 --gridDim=16
__global__ void grid_stride(float* a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    a[i] *= 2;  //~ data-race //twin: a[i / 2] *= 2;
}
//== chunk_of_thread
//pass
//--blockDim=64 --gridDim=1
__global__ void chunk_of_thread(int* a) {
  for (int i = 0; i < 8; ++i) a[threadIdx.x * 8 + i] = i;  //~ data-race //twin: for (int i = 0; i <= 8; ++i) a[threadIdx.x * 8 + i] = i;
}
//== strided_chunk
//pass
//--blockDim=64 --gridDim=8
__global__ void strided_chunk(int* a) {
  int id = blockIdx.x * 64 + threadIdx.x;
  for (int i = 0; i < 4; ++i) a[i * 512 + id] = i;  //~ data-race //twin: for (int i = 0; i < 4; ++i) a[i * 511 + id] = i;
}
//== hillis_steele
//pass
//--blockDim=128 --gridDim=1
__global__ void hillis_steele(int* a) {
  __shared__ int s[2][128];
  int from = 0;
  s[0][threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  for (int d = 1; d < 128; d <<= 1) {
    int to = 1 - from;
    s[to][threadIdx.x] = s[from][threadIdx.x] + (threadIdx.x >= d ? s[from][threadIdx.x - d] : 0);  //~ data-race
    __syncthreads();  //twin:
    from = to;
  }
  a[threadIdx.x] = s[from][threadIdx.x];
}
//== kogge_stone
//pass
//--blockDim=64 --gridDim=4
__global__ void kogge_stone(int* a) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = a[blockIdx.x * 64 + t];
  __syncthreads();
  for (int d = 1; d < 64; d += d) {
    int v = 0;
    if (t >= d) v = s[t - d];  //~ data-race
    __syncthreads();  //twin:
    if (t >= d) s[t] += v;     //~ data-race
    __syncthreads();
  }
  a[blockIdx.x * 64 + t] = s[t];
}
//== blelloch
//pass
//--blockDim=64 --gridDim=1
__global__ void blelloch(int* a) {
  __shared__ int s[128];
  int t = threadIdx.x, offset = 1;
  s[2 * t] = a[2 * t];
  s[2 * t + 1] = a[2 * t + 1];
  for (int d = 64; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0) s[127] = 0;
  for (int d = 1; d < 128; d *= 2) {
    offset >>= 1;
    __syncthreads();  //twin:
    if (t < d) {
      int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
      int v = s[left];
      s[left] = s[right];  //~ data-race
      s[right] += v;  //~ data-race
    }
  }
  __syncthreads();
  a[2 * t] = s[2 * t];
  a[2 * t + 1] = s[2 * t + 1];
}
//== brent_kung
//pass
//--blockDim=64 --gridDim=1
__global__ void brent_kung(int* a) {
  __shared__ int s[128];
  unsigned t = threadIdx.x;
  s[t] = a[t];
  s[t + 64] = a[t + 64];
  for (unsigned d = 1; d <= 64; d *= 2) {
    __syncthreads();
    unsigned i = (t + 1) * d * 2 - 1;
    if (i < 128) s[i] += s[i - d];
  }
  for (unsigned d = 32; d > 0; d /= 2) {
    __syncthreads();  //twin:
    unsigned i = (t + 1) * d * 2 - 1;
    if (i + d < 128) s[i + d] += s[i];  //~ data-race
  }
  __syncthreads();
  a[t] = s[t];
  a[t + 64] = s[t + 64];
}
//== bitonic
//pass
//--blockDim=256 --gridDim=1
__global__ void bitonic(unsigned* values) {
  __shared__ unsigned s[256];
  const unsigned t = threadIdx.x;
  s[t] = values[t];
  __syncthreads();
  for (unsigned k = 2; k <= 256; k *= 2) {
    for (unsigned j = k / 2; j > 0; j /= 2) {
      unsigned other = t ^ j;
      if (other > t) {
        if ((t & k) == 0 ? s[t] > s[other] : s[t] < s[other]) {  //~ data-race
          unsigned v = s[t];
          s[t] = s[other];
          s[other] = v;
        }
      }
      __syncthreads();  //twin:
    }
  }
  values[t] = s[t];
}
//== odd_even_sort
//pass
//--blockDim=64 --gridDim=1
__global__ void odd_even_sort(int* a) {
  __shared__ int s[128];
  s[threadIdx.x] = a[threadIdx.x];
  s[threadIdx.x + 64] = a[threadIdx.x + 64];
  __syncthreads();
  for (int phase = 0; phase < 128; ++phase) {
    int i = 2 * threadIdx.x + (phase & 1);
    if (i < 127 && s[i] > s[i + 1]) {  //~ data-race
      int v = s[i];
      s[i] = s[i + 1];
      s[i + 1] = v;
    }
    __syncthreads();  //twin:
  }
  a[threadIdx.x] = s[threadIdx.x];
  a[threadIdx.x + 64] = s[threadIdx.x + 64];
}
//== decreasing
//pass
//--blockDim=32 --gridDim=1
__global__ void decreasing(int* a, int n) {
  for (int i = n - 1 - (int)threadIdx.x; i >= 0; i -= 32) a[i] = i;  //~ data-race //twin: for (int i = n - 1 - (int)threadIdx.x; i >= 0; i -= 31) a[i] = threadIdx.x;
}
//== do_while
//pass
//--blockDim=64 --gridDim=1
__global__ void do_while(int* a, int n) {
  int i = threadIdx.x;
  do {
    a[i] = n;  //~ data-race //twin: a[i % 64 / 2] = threadIdx.x;
    i += blockDim.x;
  } while (i < n);
}
//== unbounded_search
//pass
//--blockDim=64 --gridDim=1
__global__ void unbounded_search(const int* key, int* where, int n) {
  int low = 0, high = n;
  while (low < high) {
    int middle = (low + high) / 2;
    if (key[middle] < (int)threadIdx.x)
      low = middle + 1;
    else
      high = middle;
  }
  where[threadIdx.x] = low;  //~ data-race //twin: where[threadIdx.x / 2] = threadIdx.x;
}
//== ping_pong_arrays
//pass
//--blockDim=64 --gridDim=1
__global__ void ping_pong_arrays(float* a, float* b, int steps) {
  for (int k = 0; k < steps; ++k) {
    float* from = k % 2 ? b : a;
    float* to = k % 2 ? a : b;
    to[threadIdx.x] = from[(threadIdx.x + 1) % 64];  //~ data-race
    __syncthreads();  //twin:
  }
}
//== triangle
//pass
//--blockDim=64 --gridDim=1
__global__ void triangle(float* m, const float* v, int n) {
  for (int row = threadIdx.x; row < n; row += 64)
    for (int column = 0; column <= row; ++column) m[row * n + column] = v[column];  //~ data-race //twin: for (int column = 0; column <= row; ++column) m[column] = v[column] * row;
}
//== warp_stride_of_rows
//pass
//--blockDim=[32,4] --gridDim=2
__global__ void warp_stride_of_rows(const float* m, float* sums, int rows, int columns) {
  __shared__ float part[4][32];
  for (int row = blockIdx.x * 4 + threadIdx.y; row - (int)threadIdx.y < rows; row += 8) {
    float v = 0;
    if (row < rows)
      for (int c = threadIdx.x; c < columns; c += 32) v += m[row * columns + c];
    part[threadIdx.y][threadIdx.x] = v;  //~ data-race
    __syncthreads();
    if (threadIdx.x == 0 && row < rows) {
      float sum = 0;
      for (int i = 0; i < 32; ++i) sum += part[threadIdx.y][i];  //~ data-race
      sums[row] = sum;
    }
    __syncthreads();  //twin:
  }
}
//== loop_bound_from_block
//pass
//--blockDim=64 --gridDim=8
__global__ void loop_bound_from_block(int* a) {
  __shared__ int s[64];
  s[threadIdx.x] = 0;
  for (int i = 0; i <= blockIdx.x; ++i) {
    __syncthreads();
    s[(threadIdx.x + i) & 63] += i;  //~ data-race //twin: s[((threadIdx.x + i) & 63) >> 1] += i;
  }
  __syncthreads();
  a[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x];
}
//== upper_triangle
//pass
//--blockDim=64 --gridDim=4
__global__ void upper_triangle(float* a, int n) {
  __requires(n >= 0);
  __requires(n <= 256);
  int r = blockIdx.x * 64 + threadIdx.x;
  if (r < n)
    for (int c = r; c < n; ++c) a[r * n + c] = c;  //~ data-race //twin: for (int c = r; c < n; ++c) a[c * n + c] = r;
}
//== packed_triangle
//pass
//--blockDim=64 --gridDim=1
__global__ void packed_triangle(float* a) {
  int r = threadIdx.x;
  int start = r * (r + 1) / 2;
  for (int c = 0; c <= r; ++c) a[start + c] = c;  //~ data-race //twin: for (int c = 0; c <= r + 1; ++c) a[start + c] = r;
}
