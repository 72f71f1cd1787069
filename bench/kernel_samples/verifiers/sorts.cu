//== bitonic_global_step
//pass
//--blockDim=256 --gridDim=16
__global__ void bitonic_global_step(float* v, int j, int k) {
  __requires(__is_pow2(j) & j > 0 & j < 4096);
  unsigned i = threadIdx.x + blockDim.x * blockIdx.x, other = i ^ j;
  if (other > i) {
    if ((i & k) == 0 ? v[i] > v[other] : v[i] < v[other]) {
      float t = v[i];
      v[i] = v[other];
      v[other] = t;  //~ data-race //twin: v[other - 1] = t;
    }
  }
}
//== bitonic_pairs
//pass
//--blockDim=64 --gridDim=4
__device__ inline void compare(int& a, int& b, bool up) {
  if ((a > b) == up) {
    int t = a;
    a = b;  //~ data-race
    b = t;  //~ data-race
  }
}
__global__ void bitonic_pairs(int* keys) {
  __shared__ int s[128];
  int* mine = keys + blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = mine[0];
  s[threadIdx.x + 64] = mine[64];
  for (unsigned size = 2; size < 128; size <<= 1) {
    bool up = (threadIdx.x & (size / 2)) == 0;
    for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      compare(s[pos], s[pos + stride], up);
    }
  }
  for (unsigned stride = 64; stride > 0; stride >>= 1) {
    __syncthreads();  //twin:
    unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
    compare(s[pos], s[pos + stride], true);
  }
  __syncthreads();
  mine[0] = s[threadIdx.x];
  mine[64] = s[threadIdx.x + 64];
}
//== odd_even_transposition
//pass
//--blockDim=128 --gridDim=1
__global__ void odd_even_transposition(int* a, int n) {
  __requires(n <= 256);
  for (int p = 0; p < n; ++p) {
    int i = 2 * threadIdx.x + (p % 2);
    if (i + 1 < n) {
      if (a[i] > a[i + 1]) {  //~ data-race
        int t = a[i];
        a[i] = a[i + 1];  //~ data-race
        a[i + 1] = t;
      }
    }
    __syncthreads();  //twin:
  }
}
//== odd_even_merge_step
//pass
//--blockDim=64 --gridDim=1
__global__ void odd_even_merge_step(int* a) {
  __shared__ int s[128];
  s[threadIdx.x] = a[threadIdx.x];
  s[threadIdx.x + 64] = a[threadIdx.x + 64];
  for (unsigned size = 2; size <= 128; size <<= 1) {
    unsigned stride = size / 2, offset = threadIdx.x & (stride - 1);
    __syncthreads();
    {
      unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      int x = s[pos], y = s[pos + stride];
      s[pos] = min(x, y);
      s[pos + stride] = max(x, y);
      stride >>= 1;
    }
    for (; stride > 0; stride >>= 1) {
      __syncthreads();  //twin:
      unsigned pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      if (offset >= stride) {
        int x = s[pos - stride], y = s[pos];  //~ data-race
        s[pos - stride] = min(x, y);  //~ data-race
        s[pos] = max(x, y);
      }
    }
  }
  __syncthreads();
  a[threadIdx.x] = s[threadIdx.x];
  a[threadIdx.x + 64] = s[threadIdx.x + 64];
}
//== rank_sort
//pass
//--blockDim=64 --gridDim=4
__global__ void rank_sort(const int* in, int* rank, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) {
    int smaller = 0;
    for (int j = 0; j < n; ++j)
      if (in[j] < in[i] || (in[j] == in[i] && j < i)) ++smaller;
    rank[i] = smaller;  //~ data-race //twin: rank[i & 127] = i;
  }
}
//== radix_split
//pass
//--blockDim=64 --gridDim=1
__global__ void radix_split(unsigned* a) {
  __shared__ unsigned s[64], ones[64];
  unsigned t = threadIdx.x;
  s[t] = a[t];
  for (int bit = 0; bit < 32; ++bit) {
    __syncthreads();
    unsigned v = s[t], b = v >> bit & 1;
    ones[t] = b;
    for (unsigned d = 1; d < 64; d *= 2) {
      __syncthreads();
      unsigned x = t >= d ? ones[t - d] : 0;
      __syncthreads();  //twin:
      ones[t] += x;  //~ data-race
    }
    __syncthreads();
    unsigned zeros = 64 - ones[63], at = b ? zeros + ones[t] - 1 : t - ones[t];
    if (at < 64) s[at] = v;
  }
  __syncthreads();
  a[t] = s[t];
}
//== merge_step
//pass
//--blockDim=64 --gridDim=1
__global__ void merge_step(const int* in, int* out, int width) {
  __requires(width > 0);
  __requires(width <= 1000);
  int begin = threadIdx.x * 2 * width, middle = begin + width, end = begin + 2 * width;
  int i = begin, j = middle;
  for (int k = begin; k < end; ++k) {
    if (i < middle && (j >= end || in[i] <= in[j])) {
      out[k] = in[i];  //~ data-race //twin: out[k + 1] = in[i];
      ++i;
    } else {
      out[k] = in[j];  //~ data-race
      ++j;
    }
  }
}
//== gnome_swap_rows
//pass
//--blockDim=32 --gridDim=2
__global__ void gnome_swap_rows(int* m, int n) {
  __requires(n >= 2);
  __requires(n <= 500);
  int* row = m + (blockIdx.x * 32 + threadIdx.x) * n;
  for (int i = 0; i < n - 1; ++i)
    for (int j = 0; j < n - 1 - i; ++j)
      if (row[j] > row[j + 1]) {  //~ data-race //twin: if (row[j] > row[j + 2]) {
        int t = row[j];
        row[j] = row[j + 1];
        row[j + 1] = t;
      }
}
//== merge_of_two_lists
//pass
//--blockDim=32 --gridDim=2
__global__ void merge_of_two_lists(const int* a, const int* b, int* out, int n, int m) {
  __requires(n >= 0);
  __requires(m >= 0);
  __requires(n <= 1000);
  __requires(m <= 1000);
  int t = blockIdx.x * 32 + threadIdx.x;
  const int *mine = a + t * n, *other = b + t * m;
  int* to = out + t * (n + m);
  int i = 0, j = 0, k = 0;
  while (i < n && j < m) {
    if (mine[i] < other[j]) to[k++] = mine[i++];  //~ data-race
    else to[k++] = other[j++];  //~ data-race //twin: else to[(n + m) - k++] = other[j++] + t;
  }
  while (i < n) to[k++] = mine[i++];
  while (j < m) to[k++] = other[j++];
}
//== partition_in_own_row
//pass
//--blockDim=64 --gridDim=1
__global__ void partition_in_own_row(const int* in, int* out, int width) {
  __requires(width > 0);
  __requires(width <= 256);
  int row = threadIdx.x * width, low = 0, high = width - 1;
  for (int k = 0; k < width; ++k) {
    int v = in[row + k];
    if (v < 0) out[row + low++] = v;  //~ data-race
    else out[row + high--] = v;  //twin: else out[row + 1 + high--] = v + row;
  }
}
