//== naive_scan_double_buffer
//pass
//--blockDim=128 --gridDim=1
__global__ void naive_scan_double_buffer(float* out, const float* in, int n) {
  extern __shared__ float temp[];
  __requires(n == 128);
  int t = threadIdx.x, pout = 0, pin = 1;
  temp[pout * n + t] = t > 0 ? in[t - 1] : 0;
  __syncthreads();
  for (int d = 1; d < n; d *= 2) {
    pout = 1 - pout;
    pin = 1 - pout;
    temp[pout * n + t] = temp[pin * n + t];
    if (t >= d) temp[pout * n + t] += temp[pin * n + t - d];  //~ data-race
    __syncthreads();  //twin:
  }
  out[t] = temp[pout * n + t];
}
//== scan_any_n
//pass
//--gridDim=1
__global__ void scan_any_n(float* out, const float* in) {
  extern __shared__ float temp[];
  int n = blockDim.x, t = threadIdx.x, pout = 0, pin = 1;
  temp[t] = t > 0 ? in[t - 1] : 0;
  __syncthreads();
  for (int d = 1; d < n; d *= 2) {
    pout = 1 - pout;
    pin = 1 - pout;
    if (t >= d) temp[pout * n + t] = temp[pin * n + t] + temp[pin * n + t - d];  //~ data-race
    else temp[pout * n + t] = temp[pin * n + t];
    __syncthreads();  //twin:
  }
  out[t] = temp[pout * n + t];
}
//== prescan
//pass
//--gridDim=1
__global__ void prescan(float* out, const float* in, int n) {
  __requires(n == 2 * blockDim.x);
  __requires(__is_pow2(n));
  extern __shared__ float temp[];
  int t = threadIdx.x, offset = 1;
  temp[2 * t] = in[2 * t];
  temp[2 * t + 1] = in[2 * t + 1];
  for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) {
      int ai = offset * (2 * t + 1) - 1, bi = offset * (2 * t + 2) - 1;
      temp[bi] += temp[ai];
    }
    offset *= 2;
  }
  if (t == 0) temp[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();  //twin:
    if (t < d) {
      int ai = offset * (2 * t + 1) - 1, bi = offset * (2 * t + 2) - 1;
      float v = temp[ai];
      temp[ai] = temp[bi];  //~ data-race
      temp[bi] += v;  //~ data-race
    }
  }
  __syncthreads();
  out[2 * t] = temp[2 * t];
  out[2 * t + 1] = temp[2 * t + 1];
}
//== prescan_padded
//pass
//--blockDim=128 --gridDim=1
#define PAD(i) ((i) + ((i) >> 5))
__global__ void prescan_padded(float* out, const float* in) {
  __shared__ float temp[256 + 8];
  int t = threadIdx.x, offset = 1;
  temp[PAD(t)] = in[t];
  temp[PAD(t + 128)] = in[t + 128];
  for (int d = 128; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) {
      int ai = offset * (2 * t + 1) - 1, bi = offset * (2 * t + 2) - 1;
      temp[PAD(bi)] += temp[PAD(ai)];
    }
    offset *= 2;
  }
  if (t == 0) temp[PAD(255)] = 0;
  for (int d = 1; d < 256; d *= 2) {
    offset >>= 1;
    __syncthreads();  //twin:
    if (t < d) {
      int ai = offset * (2 * t + 1) - 1, bi = offset * (2 * t + 2) - 1;
      float v = temp[PAD(ai)];
      temp[PAD(ai)] = temp[PAD(bi)];  //~ data-race
      temp[PAD(bi)] += v;  //~ data-race
    }
  }
  __syncthreads();
  out[t] = temp[PAD(t)];
  out[t + 128] = temp[PAD(t + 128)];
}
//== brent_kung_sections
//pass
//--blockDim=64 --gridDim=4
#define SECTION 128
__global__ void brent_kung_sections(const float* x, float* y, int n) {
  __shared__ float s[SECTION];
  int i = 2 * blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) s[threadIdx.x] = x[i];
  if (i + blockDim.x < n) s[threadIdx.x + blockDim.x] = x[i + blockDim.x];
  for (unsigned stride = 1; stride <= blockDim.x; stride *= 2) {
    __syncthreads();  //twin:
    unsigned at = (threadIdx.x + 1) * 2 * stride - 1;
    if (at < SECTION) s[at] += s[at - stride];  //~ data-race
  }
  for (int stride = SECTION / 4; stride > 0; stride /= 2) {
    __syncthreads();
    unsigned at = (threadIdx.x + 1) * stride * 2 - 1;
    if (at + stride < SECTION) s[at + stride] += s[at];
  }
  __syncthreads();
  if (i < n) y[i] = s[threadIdx.x];
  if (i + blockDim.x < n) y[i + blockDim.x] = s[threadIdx.x + blockDim.x];
}
//== sklansky
//pass
//--blockDim=64 --gridDim=1
__global__ void sklansky(int* a) {
  __shared__ int s[128];
  unsigned t = threadIdx.x;
  s[t] = a[t];
  s[t + 64] = a[t + 64];
  for (unsigned d = 1; d < 128; d *= 2) {
    __syncthreads();  //twin:
    unsigned block = t / d, pivot = 2 * block * d + d - 1, at = pivot + 1 + t % d;
    s[at] += s[pivot];  //~ data-race
  }
  __syncthreads();
  a[t] = s[t];
  a[t + 64] = s[t + 64];
}
//== uniform_add
//pass
//--blockDim=128 --gridDim=16
__global__ void uniform_add(float* data, const float* sums) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = sums[blockIdx.x];  //~ data-race
  unsigned at = blockIdx.x * (blockDim.x << 1) + threadIdx.x;
  __syncthreads();  //twin:
  data[at] += sum;  //~ data-race
  data[at + blockDim.x] += sum;
}
//== scan_of_chunks
//pass
//--blockDim=64 --gridDim=1
__global__ void scan_of_chunks(int* a, int n) {
  __shared__ int s[64];
  int t = threadIdx.x, each = (n + 63) / 64, begin = min(t * each, n), end = min(begin + each, n), sum = 0;
  for (int i = begin; i < end; ++i) sum += a[i];
  s[t] = sum;
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    int v = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += v;  //~ data-race
    __syncthreads();  //twin:
  }
  int before = t > 0 ? s[t - 1] : 0;  //~ data-race
  for (int i = begin; i < end; ++i) {
    before += a[i];
    a[i] = before;
  }
}
//== compaction
//pass
//--blockDim=128 --gridDim=1
__global__ void compaction(const int* in, int* out) {
  __shared__ unsigned flag[128], at[128];
  unsigned t = threadIdx.x;
  flag[t] = in[t] > 0;
  at[t] = flag[t];
  for (unsigned d = 1; d < 128; d *= 2) {
    __syncthreads();
    unsigned v = t >= d ? at[t - d] : 0;
    __syncthreads();
    at[t] += v;  //~ data-race
  }
  __syncthreads();  //twin:
  unsigned before = t > 0 ? at[t - 1] : 0;  //~ data-race
  if (flag[t]) out[before] = in[t];
}
//== compaction_by_atomic
//pass
//--blockDim=128 --gridDim=8
__global__ void compaction_by_atomic(const int* in, int* out, int* count) {
  int v = in[blockIdx.x * 128 + threadIdx.x];
  if (v > 0) out[atomicAdd(count, 1)] = v;  //~ data-race //twin: if (v > 0) out[(*count)++] = v;
}
//== compaction_of_blocks
//pass
//--blockDim=128 --gridDim=8
__global__ void compaction_of_blocks(const int* in, int* out, int* count) {
  __shared__ int used, base;
  if (threadIdx.x == 0) used = 0;
  __syncthreads();
  int v = in[blockIdx.x * 128 + threadIdx.x], at;
  if (v > 0) at = atomicAdd(&used, 1);
  __syncthreads();
  if (threadIdx.x == 0) base = atomicAdd(count, used);  //~ data-race
  __syncthreads();  //twin:
  if (v > 0) out[base + at] = v;  //~ data-race
}
//== compaction_in_segments
//pass
//--blockDim=64 --gridDim=4
__global__ void compaction_in_segments(const int* in, int* out, int* count) {
  __shared__ int used;
  if (threadIdx.x == 0) used = 0;
  __syncthreads();
  int v = in[blockIdx.x * 64 + threadIdx.x];
  if (v > 0) out[blockIdx.x * 64 + atomicAdd(&used, 1)] = v;
  __syncthreads();  //twin:
  if (threadIdx.x == 0) count[blockIdx.x] = used;  //~ data-race
}
//== while_doubling_of_index
//pass
//--blockDim=128 --gridDim=8
__global__ void while_doubling_of_index(int* a) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = a[blockIdx.x * 128 + t];
  s[t + 128] = 0;
  __syncthreads();
  int stride = 1;
  while (stride < 128) {
    int index = (t + 1) * stride * 2 - 1;
    if (index < 128) s[index] += s[index - stride];  //~ data-race
    stride = stride * 2;
    __syncthreads();  //twin:
  }
  stride = 32;
  while (stride > 0) {
    int index = (t + 1) * stride * 2 - 1;
    if (index + stride < 128) s[index + stride] += s[index];
    stride = stride / 2;
    __syncthreads();
  }
  a[blockIdx.x * 128 + t] = s[t];
}
