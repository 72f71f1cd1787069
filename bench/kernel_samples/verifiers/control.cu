//== chosen_by_switch
//pass
//--blockDim=64 --gridDim=4
__global__ void chosen_by_switch(int* a, int kind) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  switch (kind) {
    case 0: a[i] = 1; break;
    case 1: i += 0;  // and on
    case 2: a[255 - i] = 3; break;  //~ data-race //twin: case 2: a[255 - i / 2] = i; break;
    case 9: return;
    default: a[i] += kind;
  }
}
//== switch_of_lanes
//pass
//--blockDim=128 --gridDim=1
__global__ void switch_of_lanes(int* a) {
  __shared__ int s[128];
  switch (threadIdx.x % 4) {
    case 0: s[threadIdx.x] = 0; break;
    case 1: s[threadIdx.x + 1] = 1; break;
    case 2: s[threadIdx.x - 1] = 2; break;  //~ data-race //twin: case 2: s[threadIdx.x] = 2; break;
    case 3: s[threadIdx.x] = 3; break;
  }
  __syncthreads();
  a[threadIdx.x] = s[threadIdx.x ^ 64];
}
//== left_by_break
//pass
//--blockDim=64 --gridDim=4
__global__ void left_by_break(int* a, int n, int end) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x;; i += gridDim.x * blockDim.x) {
    if (i >= n) break;
    if (i % 7 == 3) continue;
    if (i == end) break;
    a[i] = i;  //~ data-race //twin: a[i & ~1] = i;
  }
}
//== early_return
//pass
//--blockDim=64 --gridDim=4
__global__ void early_return(int* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (threadIdx.x & 1) {
    a[i] = 1;
    return;
  }
  a[i] = 2;  //~ data-race //twin: a[i + 1] = 2;
}
//== return_before_barrier
//xfail:BOOGIE_ERROR
//--blockDim=64 --gridDim=1
__global__ void return_before_barrier(int* a) {
  if (threadIdx.x == 40) {
    a[0] = 1;
    __syncthreads();
    return;
  }
  __syncthreads();  //~ barrier-divergence
  __syncthreads();
  a[threadIdx.x + 1] = 1;
}
//== do_halve
//pass
//--blockDim=128 --gridDim=2
__global__ void do_halve(float* a) {
  __shared__ float s[128];
  s[threadIdx.x] = a[blockIdx.x * 128 + threadIdx.x];
  unsigned d = 64;
  do {
    __syncthreads();  //twin:
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];  //~ data-race
    d /= 2;
  } while (d != 0);
  if (threadIdx.x == 0) a[blockIdx.x * 128] = s[0];
}
//== while_with_two_counters
//pass
//--blockDim=32 --gridDim=1
__global__ void while_with_two_counters(int* a, int n) {
  int low = threadIdx.x, high = n - 1 - (int)threadIdx.x;
  while (low < high) {
    int v = a[low];
    a[low] = a[high];  //~ data-race
    a[high] = v;       //~ data-race
    low += 32;  //twin: low += 31;
    high -= 32;  //twin: high -= 31;
  }
}
//== goto_out
//pass
//--blockDim=64 --gridDim=1
__global__ void goto_out(int* a, const int* b) {
  int k = 0;
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) {
      k = i * 8 + j;
      if (b[k] == (int)threadIdx.x) goto found;
    }
found:
  a[threadIdx.x] = k;  //~ data-race //twin: a[threadIdx.x & 31] = threadIdx.x;
}
//== barrier_behind_uniform_switch
//pass
//--blockDim=64 --gridDim=2
__global__ void barrier_behind_uniform_switch(int* a, int kind) {
  __shared__ int s[64];
  s[threadIdx.x] = a[blockIdx.x * 64 + threadIdx.x];
  switch (kind) {
    case 1: __syncthreads(); s[threadIdx.x] = s[threadIdx.x] + 1; break;
    case 2: __syncthreads(); a[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x]; break;  //~ data-race //twin: case 2: a[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x]; break;
    default: break;
  }
}
//== continue_past_barrier
//xfail:BOOGIE_ERROR
//--blockDim=64 --gridDim=1
__global__ void continue_past_barrier(int* a) {
  for (int i = 0; i < 4; ++i) {
    if (threadIdx.x == i) continue;
    __syncthreads();  //~ barrier-divergence
    a[threadIdx.x] += i;
  }
}
//== nested_uniform_barriers
//pass
//--blockDim=64 --gridDim=1
__global__ void nested_uniform_barriers(int* a, int n, int m) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < m; ++j) {
      __syncthreads();
      int v = s[(threadIdx.x + j) % 64];  //~ data-race
      __syncthreads();  //twin:
      s[threadIdx.x] = v;  //~ data-race
    }
  }
  a[threadIdx.x] = s[threadIdx.x];
}
//== loop_ends_at_different_times
//pass
//--blockDim=64 --gridDim=1
__global__ void loop_ends_at_different_times(int* a) {
  for (int i = 0; i < (int)threadIdx.x; ++i) a[threadIdx.x * 64 + i] = i;  //~ data-race //twin: for (int i = 0; i < 65; ++i) a[threadIdx.x * 64 + i] = threadIdx.x;
}
//== barrier_in_different_trips
//xfail:BOOGIE_ERROR
//--blockDim=64 --gridDim=1
__global__ void barrier_in_different_trips(int* a) {
  for (int i = 0; i < (int)threadIdx.x; ++i) {
    a[threadIdx.x] += i;
    __syncthreads();  //~ barrier-divergence
  }
  a[threadIdx.x + 64] = 1;
}
//== ternary_addresses
//pass
//--blockDim=64 --gridDim=1
__global__ void ternary_addresses(float* a, float* b) {
  float* to = threadIdx.x < 32 ? a : b;
  to[threadIdx.x & 31] = 1;  //~ data-race //twin: to[threadIdx.x & 15] = threadIdx.x;
}
//== first_thread_then_all
//pass
//--blockDim=96 --gridDim=3
__global__ void first_thread_then_all(const int* in, int* out) {
  __shared__ int base;
  if (threadIdx.x == 0) base = in[blockIdx.x];  //~ data-race
  __syncthreads();  //twin:
  out[blockIdx.x * 96 + threadIdx.x] = base + threadIdx.x;  //~ data-race
}
//== flag_of_a_loop
//pass
//--blockDim=64 --gridDim=1
__global__ void flag_of_a_loop(int* a) {
  __shared__ int goes_on;
  __shared__ int s[64];
  s[threadIdx.x] = a[threadIdx.x];
  for (int round = 0; round < 10; ++round) {
    __syncthreads();
    if (threadIdx.x == 0) goes_on = s[round] != 0;
    __syncthreads();
    if (!goes_on) break;
    s[threadIdx.x] -= 1;  //~ data-race //twin: s[threadIdx.x / 2] -= 1;
  }
  a[threadIdx.x] = s[threadIdx.x];
}
//== early_exit_in_stride
//pass
//--blockDim=64 --gridDim=8
__global__ void early_exit_in_stride(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  while (true) {
    if (i >= n) return;
    out[i] = in[i] * 2;  //~ data-race //twin: out[i / 2] = in[i] * 2;
    i += blockDim.x * gridDim.x;
  }
}
//== switch_of_arrays
//pass
//--blockDim=64 --gridDim=4
__global__ void switch_of_arrays(float* a, float* b, float* c, int which) {
  float* p;
  switch (which) {
    case 0: p = a; break;
    case 1: p = b; break;
    default: p = c;
  }
  p[blockIdx.x * 64 + threadIdx.x] = which;  //~ data-race //twin: p[blockIdx.x * 63 + threadIdx.x] = threadIdx.x;
}
//== switch_with_fall_through
//pass
//--blockDim=128 --gridDim=1
__global__ void switch_with_fall_through(int* a) {
  int t = threadIdx.x;
  switch (t & 3) {
    case 0: a[t] = 1;
    case 1: a[t + 128] = 2; break;
    case 2: a[t + 256] = 3; break;
    default: a[t] = 4;  //~ data-race //twin: default: a[t - 3] = t;
  }
}
//== do_loop_with_barrier
//pass
//--blockDim=64 --gridDim=1
__global__ void do_loop_with_barrier(int* a) {
  __shared__ int s[64];
  s[threadIdx.x] = a[threadIdx.x];
  int d = 1;
  do {
    __syncthreads();
    int v = s[(threadIdx.x + d) & 63];  //~ data-race
    __syncthreads();  //twin:
    s[threadIdx.x] += v;  //~ data-race
    d <<= 1;
  } while (d < 64);
  a[threadIdx.x] = s[threadIdx.x];
}
