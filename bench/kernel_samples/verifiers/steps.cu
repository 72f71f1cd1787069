//== stride_of_any_block
//pass
//--gridDim=1
__global__ void stride_of_any_block(float* a, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) a[i] = i;  //~ data-race //twin: for (int i = threadIdx.x; i < n; i += blockDim.x) a[i / 2] = i;
}
//== halving_any_power
//pass
//--gridDim=4
#define N 512
__global__ void halving_any_power(int* a) {
  __requires(__is_pow2(blockDim.x));
  __requires(blockDim.x <= N);
  __shared__ int s[N];
  s[threadIdx.x] = a[blockIdx.x * blockDim.x + threadIdx.x];
  for (int d = blockDim.x / 2; d > 0; d >>= 1) {
    __syncthreads();
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
  }
  if (threadIdx.x == 0) a[blockIdx.x * blockDim.x] = s[0];  //~ data-race //twin: a[blockIdx.x * blockDim.x] = s[0] + threadIdx.x;
}
//== halving_rounded_up
//pass
//--blockDim=100 --gridDim=1
__global__ void halving_rounded_up(int* a) {
  __shared__ int s[100];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  for (int n = 100; n > 1; n = (n + 1) / 2) {
    int half = (n + 1) / 2;
    if ((int)threadIdx.x + half < n) s[threadIdx.x] += s[threadIdx.x + half];  //~ data-race
    __syncthreads();  //twin:
  }
  if (threadIdx.x == 0) a[0] = s[0];
}
//== doubling_offset_any_end
//pass
//--blockDim=64 --gridDim=1
__global__ void doubling_offset_any_end(int* a, int end) {
  __requires(end <= 64);
  __shared__ int s[64];
  s[threadIdx.x] = a[threadIdx.x];
  for (int d = 1; d < end; d <<= 1) {
    __syncthreads();
    int v = threadIdx.x >= d ? s[threadIdx.x - d] : 0;  //~ data-race
    __syncthreads();  //twin:
    s[threadIdx.x] += v;  //~ data-race
  }
  a[threadIdx.x] = s[threadIdx.x];
}
//== triangle_of_steps
//pass
//--blockDim=64 --gridDim=1
__global__ void triangle_of_steps(int* a) {
  __shared__ int s[64];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  for (int k = 63; k > 0; --k) {
    int v = 0;
    if (threadIdx.x < k) v = max(s[threadIdx.x], s[threadIdx.x + 1]);  //~ data-race
    __syncthreads();  //twin:
    if (threadIdx.x < k) s[threadIdx.x] = v;  //~ data-race
    __syncthreads();
  }
  a[threadIdx.x] = s[threadIdx.x];
}
//== pascal
//pass
//--blockDim=64 --gridDim=1
__global__ void pascal(int* a, int steps) {
  for (int k = 0; k < steps; ++k) {
    int left = threadIdx.x > 0 ? a[threadIdx.x - 1] : 1;  //~ data-race
    __syncthreads();
    a[threadIdx.x] += left;  //~ data-race
    __syncthreads();  //twin:
  }
}
//== stride_three
//pass
//--blockDim=64 --gridDim=1
__global__ void stride_three(int* a, int n) {
  for (int i = 3 * threadIdx.x; i + 2 < n; i += 3 * blockDim.x) {
    a[i] = 0;
    a[i + 1] = 1;
    a[i + 2] = 2;  //~ data-race //twin: a[i + 3] = 2;
  }
}
//== own_segment
//pass
//--blockDim=64 --gridDim=4
__global__ void own_segment(int* a, int n) {
  int threads = blockDim.x * gridDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  int each = (n + threads - 1) / threads;
  int begin = i * each, end = min(begin + each, n);
  for (int k = begin; k < end; ++k) a[k] = i;  //~ data-race //twin: for (int k = begin; k <= end; ++k) a[k] = i;
}
//== segment_ends
//pass
//--blockDim=32 --gridDim=2
__global__ void segment_ends(int* a, int length) {
  __requires(length > 0);
  __requires(length <= 10000);
  int i = blockIdx.x * 32 + threadIdx.x;
  a[i * length] = 1;
  a[i * length + length - 1] = 2;  //~ data-race //twin: a[i * length + length] = 2;
}
//== nested_triangle
//pass
//--blockDim=32 --gridDim=1
__global__ void nested_triangle(int* a, int n) {
  __requires(n > 0);
  __requires(n <= 1000);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) a[(threadIdx.x * n + i) * n + j] = 1;  //~ data-race //twin: for (int j = 0; j <= n; ++j) a[(threadIdx.x * n + i) * n + j] = threadIdx.x;
}
//== two_passes_over_halves
//pass
//--blockDim=64 --gridDim=1
__global__ void two_passes_over_halves(int* a, int n) {
  for (int i = threadIdx.x; i < n / 2; i += 64) a[i] = 1;
  for (int i = n / 2 + threadIdx.x; i < n; i += 64) a[i] = 2;  //~ data-race //twin: for (int i = n / 2 + threadIdx.x; i < n; i += 64) a[i - (i > 0)] = 2;
}
//== barrier_between_strides
//pass
//--blockDim=64 --gridDim=1
__global__ void barrier_between_strides(int* a, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) a[i] = i;  //~ data-race
  __syncthreads();  //twin:
  for (int i = threadIdx.x; i < n; i += blockDim.x) a[n - 1 - i] += 1;  //~ data-race
}
//== odd_and_even_phases
//pass
//--blockDim=64 --gridDim=1
__global__ void odd_and_even_phases(int* a, int phases) {
  for (int p = 0; p < phases; ++p) {
    if (threadIdx.x % 2 == p % 2 && threadIdx.x + 1 < blockDim.x) {
      int low = min(a[threadIdx.x], a[threadIdx.x + 1]), high = max(a[threadIdx.x], a[threadIdx.x + 1]);  //~ data-race
      a[threadIdx.x] = low;
      a[threadIdx.x + 1] = high;
    }
    __syncthreads();  //twin:
  }
}
//== double_buffer_by_xor
//pass
//--blockDim=64 --gridDim=2
__global__ void double_buffer_by_xor(float* a, int steps) {
  __shared__ float s[2][64];
  int now = 0;
  s[0][threadIdx.x] = a[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();
  for (int k = 0; k < steps; ++k) {
    s[now ^ 1][threadIdx.x] = s[now][(threadIdx.x + 1) & 63];  //~ data-race
    __syncthreads();  //twin:
    now ^= 1;
  }
  a[blockIdx.x * 64 + threadIdx.x] = s[now][threadIdx.x];
}
//== double_buffer_by_offset
//pass
//--blockDim=64 --gridDim=1
__global__ void double_buffer_by_offset(int* a) {
  __shared__ int s[128];
  int out = 0, in = 1;
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    out = 1 - out;
    in = 1 - out;
    if (threadIdx.x >= d) s[out * 64 + threadIdx.x] = s[in * 64 + threadIdx.x] + s[in * 64 + threadIdx.x - d];  //~ data-race
    else s[out * 64 + threadIdx.x] = s[in * 64 + threadIdx.x];
    __syncthreads();  //twin:
  }
  a[threadIdx.x] = s[out * 64 + threadIdx.x];
}
//== butterfly
//pass
//--blockDim=128 --gridDim=1
__global__ void butterfly(float* a) {
  __shared__ float s[256];
  s[threadIdx.x] = a[threadIdx.x];
  s[threadIdx.x + 128] = a[threadIdx.x + 128];
  for (int half = 1; half < 256; half *= 2) {
    __syncthreads();  //twin:
    int low = (threadIdx.x / half) * 2 * half + threadIdx.x % half;
    float u = s[low], v = s[low + half];  //~ data-race
    s[low] = u + v;  //~ data-race
    s[low + half] = u - v;
  }
  __syncthreads();
  a[threadIdx.x] = s[threadIdx.x];
  a[threadIdx.x + 128] = s[threadIdx.x + 128];
}
//== gauss_step
//pass
//--blockDim=[16,16] --gridDim=[4,4]
__global__ void gauss_step(float* m, const float* factor, int n, int k) {
  __requires(k >= 0);
  __requires(k < n);
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (y > k && x >= k && x < n && y < n) m[y * n + x] -= factor[y] * m[k * n + x];  //~ data-race //twin: if (y >= k && x >= k && x < n && y < n) m[y * n + x] -= factor[y] * m[k * n + x];
}
//== wavefront
//pass
//--blockDim=64 --gridDim=1
__global__ void wavefront(int* m, int n) {
  __requires(n == 65);
  for (int d = 2; d <= 2 * 64; ++d) {
    int i = threadIdx.x + 1, j = d - i;
    if (j >= 1 && j <= 64) m[i * n + j] = max(m[(i - 1) * n + j], m[i * n + j - 1]);  //~ data-race
    __syncthreads();  //twin:
  }
}
//== prefix_by_one_thread
//pass
//--blockDim=64 --gridDim=1
__global__ void prefix_by_one_thread(int* a, int n) {
  __requires(n <= 64);
  __shared__ int s[65];
  if (threadIdx.x < n) s[threadIdx.x + 1] = a[threadIdx.x];  //~ data-race
  __syncthreads();  //twin:
  if (threadIdx.x == 0) {
    s[0] = 0;
    for (int i = 0; i < n; ++i) s[i + 1] += s[i];  //~ data-race
  }
  __syncthreads();
  if (threadIdx.x < n) a[threadIdx.x] = s[threadIdx.x];
}
//== compacted_by_ballot
//pass
//--blockDim=32 --gridDim=4
__global__ void compacted_by_ballot(const int* in, int* out, int* count) {
  int i = blockIdx.x * 32 + threadIdx.x;
  unsigned mask = __ballot_sync(0xffffffffu, in[i] > 0);
  if (threadIdx.x == 0) count[blockIdx.x] = __popc(mask);
  if (in[i] > 0) out[i] = in[i];  //~ data-race //twin: if (in[i] > 0) out[i / 2] = i;
}
//== nested_strides_two_barriers
//pass
//--blockDim=64 --gridDim=1
__global__ void nested_strides_two_barriers(int* a, int rounds) {
  __shared__ int s[64];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  for (int r = 0; r < rounds; ++r) {
    for (int d = 32; d > 0; d >>= 1) {
      int other = s[threadIdx.x ^ d];  //~ data-race
      __syncthreads();  //twin:
      s[threadIdx.x] += other;  //~ data-race
      __syncthreads();
    }
  }
  a[threadIdx.x] = s[threadIdx.x];
}
//== fft_radix_two_steps
//pass
//--blockDim=64 --gridDim=1
__global__ void fft_radix_two_steps(float2* data) {
  __shared__ float2 s[128];
  int t = threadIdx.x;
  s[t] = data[t];
  s[t + 64] = data[t + 64];
  for (int half = 1; half < 128; half *= 2) {
    __syncthreads();  //twin:
    int k = t & (half - 1), i = ((t - k) << 1) + k;
    float2 u = s[i], v = s[i + half];  //~ data-race
    s[i] = make_float2(u.x + v.x, u.y + v.y);  //~ data-race
    s[i + half] = make_float2(u.x - v.x, u.y - v.y);
  }
  __syncthreads();
  data[t] = s[t];
  data[t + 64] = s[t + 64];
}
//== walsh_in_global
//pass
//--blockDim=64 --gridDim=8
__global__ void walsh_in_global(float* data, int stride) {
  __requires(__is_pow2(stride));
  __requires(stride >= 1);
  __requires(stride <= 65536);
  int pos = blockIdx.x * blockDim.x + threadIdx.x;
  int lo = pos & (stride - 1), i = ((pos - lo) << 1) + lo;
  float a = data[i], b = data[i + stride];
  data[i] = a + b;  //~ data-race //twin: data[i + 1] = a + b;
  data[i + stride] = a - b;
}
//== walsh_strides_in_shared
//pass
//--blockDim=128 --gridDim=4
__global__ void walsh_strides_in_shared(float* out, const float* in) {
  __shared__ float s[512];
  int base = blockIdx.x << 9;
  for (int p = threadIdx.x; p < 512; p += blockDim.x) s[p] = in[base + p];
  const int pos = threadIdx.x;
  for (int stride = 512 >> 2; stride > 0; stride >>= 2) {
    int lo = pos & (stride - 1), i0 = ((pos - lo) << 2) + lo;
    int i1 = i0 + stride, i2 = i1 + stride, i3 = i2 + stride;
    __syncthreads();  //twin:
    float d0 = s[i0], d1 = s[i1], d2 = s[i2], d3 = s[i3];  //~ data-race
    s[i0] = d0 + d1; s[i1] = d0 - d1; s[i2] = d2 + d3; s[i3] = d2 - d3;
  }
  __syncthreads();
  for (int p = threadIdx.x; p < 512; p += blockDim.x) out[base + p] = s[p];
}
