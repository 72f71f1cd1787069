//== conditional_on_parameter
//pass
//--blockDim=64 --gridDim=1
__global__ void conditional_on_parameter(int* a, int flag) {
  __shared__ int s[64];
  s[threadIdx.x] = a[threadIdx.x];
  if (flag) __syncthreads();  //~ barrier-divergence //twin: if (threadIdx.x < flag) __syncthreads();
  a[threadIdx.x] = s[threadIdx.x];
}
//== conditional_on_block
//pass
//--blockDim=64 --gridDim=8
__global__ void conditional_on_block(int* a) {
  int v = a[blockIdx.x * 64 + threadIdx.x];
  if (blockIdx.x % 2) __syncthreads();  //~ barrier-divergence //twin: if (threadIdx.x % 2) __syncthreads();
  a[blockIdx.x * 64 + threadIdx.x] = v + 1;
}
//== both_arms
//xfail:BOOGIE_ERROR: here a note, because whole warps may meet so in PTX
//--blockDim=64 --gridDim=1
__global__ void both_arms(int* a) {
  if (threadIdx.x < 32) {
    a[threadIdx.x] = 1;
    __syncthreads();  //~ barrier-divergence
  } else {
    a[threadIdx.x] = 2;
    __syncthreads();
  }
}
//== loop_of_parameter
//pass
//--blockDim=128 --gridDim=1
__global__ void loop_of_parameter(int* a, int rounds) {
  __shared__ int s[128];
  s[threadIdx.x] = a[threadIdx.x];
  for (int r = 0; r < rounds; ++r) {
    __syncthreads();
    int v = s[(threadIdx.x + 1) % 128];  //~ data-race
    __syncthreads();  //twin:
    s[threadIdx.x] = v;                  //~ data-race
  }
  a[threadIdx.x] = s[threadIdx.x];
}
//== loop_of_thread
//xfail:BOOGIE_ERROR
//--blockDim=64 --gridDim=1 --no-inline
__global__ void loop_of_thread(int* a) {
  for (int i = 0; i < threadIdx.x; ++i) {
    a[threadIdx.x] += i;
    __syncthreads();  //~ barrier-divergence
  }
  a[threadIdx.x] *= 2;
}
//== loop_of_data
//xfail:BOOGIE_ERROR
//--blockDim=64 --gridDim=1
__global__ void loop_of_data(int* a) {
  int n = a[threadIdx.x] & 3;
  while (n > 0) {
    __syncthreads();  //~ barrier-divergence
    --n;
  }
  a[threadIdx.x] = n;
}
//== return_before
//pass: a barrier waits for no thread that has ended, and what it did comes before
//--blockDim=64 --gridDim=1
__global__ void return_before(int* a, int n) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;  //~ data-race
  if (threadIdx.x == 63) return;
  __syncthreads();  //twin:
  a[threadIdx.x] = s[threadIdx.x + 1];  //~ data-race
}
//== return_of_block
//pass
//--blockDim=64 --gridDim=8
__global__ void return_of_block(int* a, int blocks) {
  __shared__ int s[64];
  if (blockIdx.x >= blocks) return;
  s[threadIdx.x] = a[blockIdx.x * 64 + threadIdx.x];
  __syncthreads();  //twin:
  a[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];  //~ data-race
}
//== break_before
//pass
//--blockDim=64 --gridDim=1
__global__ void break_before(int* a, int limit) {
  __shared__ int s[64];
  for (int i = 0; i < 100; ++i) {
    if (i == limit) break;  //twin: if (i == threadIdx.x) break;
    s[threadIdx.x] = i;
    __syncthreads();  //~ barrier-divergence
    a[threadIdx.x] = s[(threadIdx.x + i) % 64];
    __syncthreads();
  }
  a[threadIdx.x] += limit;
}
//== continue_before
//pass
//--blockDim=64 --gridDim=1
__global__ void continue_before(int* a) {
  __shared__ int s[64];
  for (int i = 0; i < 16; ++i) {
    if (i % 2 == 0) continue;
    s[threadIdx.x] = i + threadIdx.x;  //~ data-race
    __syncthreads();
    a[threadIdx.x] += s[(threadIdx.x + i) % 64];  //~ data-race
    __syncthreads();  //twin:
  }
}
//== two_barriers_needed
//pass
//--blockDim=64 --gridDim=16 --no-inline
__global__ void two_barriers_needed(float* a) {
  __shared__ float s[64];
  unsigned id = blockIdx.x * 64 + threadIdx.x;
  s[threadIdx.x] = a[id];
  __syncthreads();  //twin:
  float left = s[threadIdx.x == 0 ? 63 : threadIdx.x - 1];  //~ data-race
  __syncthreads();
  s[threadIdx.x] = left * 2;
  a[id] = s[threadIdx.x];
}
//== global_memory_barrier
//pass
//--blockDim=128 --gridDim=1
__global__ void global_memory_barrier(int* a) {
  a[threadIdx.x] = threadIdx.x;
  __syncthreads();  //twin:
  int v = a[(threadIdx.x + 1) % blockDim.x];  //~ data-race
  __syncthreads();
  a[threadIdx.x] = v;
}
//== only_one_block
//pass
//--blockDim=64 --gridDim=1
__global__ void only_one_block(int* a) {
  if (threadIdx.x == 0) a[0] = 1;  //~ data-race
  __syncthreads();
  if (threadIdx.x == 1) a[0] = 2;
}
//== between_blocks
//xfail:BOOGIE_ERROR
//--blockDim=128 --gridDim=128
__global__ void between_blocks(int* a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = i + 128 < 128 * 128 ? a[i + 128] : 0;  //~ data-race
  __syncthreads();
  a[i] = v;  //~ data-race
}
//== fence_is_no_barrier
//xfail:BOOGIE_ERROR
//--blockDim=64 --gridDim=1
__global__ void fence_is_no_barrier(int* a) {
  __shared__ int s[64];
  s[threadIdx.x] = a[threadIdx.x];
  __threadfence_block();
  a[threadIdx.x] = s[63 - threadIdx.x];  //~ data-race
}
//== nested_loops
//pass
//--blockDim=32 --gridDim=1
__global__ void nested_loops(int* a, int n, int m) {
  __shared__ int s[32];
  s[threadIdx.x] = 0;
  __syncthreads();
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < m; ++j) {
      int v = s[(threadIdx.x + j) % 32];  //~ data-race
      __syncthreads();  //twin:
      s[threadIdx.x] = v + i;
      __syncthreads();
    }
  }
  a[threadIdx.x] = s[threadIdx.x];
}
//== barrier_in_function
//pass
//--blockDim=64 --gridDim=1
__device__ __noinline__ void wait_all() { __syncthreads(); }  //twin: __device__ __noinline__ void wait_all() { }
__global__ void barrier_in_function(int* a) {
  __shared__ int s[64];
  s[threadIdx.x] = a[threadIdx.x];
  wait_all();
  a[threadIdx.x] = s[63 - threadIdx.x];  //~ data-race
}
//== barrier_in_switch
//pass
//--blockDim=64 --gridDim=1
__global__ void barrier_in_switch(int* a, int mode) {
  __shared__ int s[64];
  s[threadIdx.x] = mode;
  switch (mode) {
    case 0: __syncthreads(); break;
    case 1:
      a[threadIdx.x] = 1;
      __syncthreads();
      break;
    case 2:
      a[threadIdx.x] = 3;
      __syncthreads();
      break;
    default: __syncthreads(); a[threadIdx.x] = 7;  //twin: default: a[threadIdx.x] = 7;
  }
  a[threadIdx.x] += s[63 - threadIdx.x];  //~ data-race
}
//== counted_barrier
//pass
//--blockDim=64 --gridDim=1
__global__ void counted_barrier(int* a) {
  __shared__ int s[64];
  int mine = threadIdx.x % 2;
  s[threadIdx.x] = mine;
  int odd = __syncthreads_count(mine);
  a[threadIdx.x] = s[63 - threadIdx.x] + odd;  //~ data-race //twin: a[threadIdx.x] = s[63 - threadIdx.x] + odd; s[threadIdx.x] = 0;
}
//== any_thread
//pass
//--blockDim=64 --gridDim=1
__global__ void any_thread(int* a) {
  __shared__ int s[64];
  s[threadIdx.x] = a[threadIdx.x];
  while (__syncthreads_or(s[threadIdx.x] > 0)) {
    s[threadIdx.x] >>= 1;  //~ data-race //twin: s[threadIdx.x / 2] >>= 1;
  }
}
//== barrier_with_or
//pass
//--blockDim=64 --gridDim=1
__global__ void barrier_with_or(int* a) {
  __shared__ int s[64];
  int v = a[threadIdx.x];
  s[threadIdx.x] = v;
  while (__syncthreads_or(v > 0)) {
    int left = s[(threadIdx.x + 1) & 63];  //~ data-race
    __syncthreads();  //twin:
    s[threadIdx.x] = left - 1;  //~ data-race
    v = left - 1;
  }
  a[threadIdx.x] = v;
}
//== barrier_count_decides
//pass
//--blockDim=64 --gridDim=1
__global__ void barrier_count_decides(int* a) {
  __shared__ int s[64];
  int n = __syncthreads_count(a[threadIdx.x] > 0);
  s[threadIdx.x] = n;
  if (n > 3) __syncthreads();  //~ barrier-divergence //twin: if (n > threadIdx.x) __syncthreads();
  a[threadIdx.x] = s[threadIdx.x];
}
//== shared_flag_loop
//pass
//--blockDim=64 --gridDim=1
__global__ void shared_flag_loop(int* a, int n) {
  __shared__ int changed;
  int i = threadIdx.x;
  do {
    __syncthreads();
    if (i == 0) changed = 0;
    __syncthreads();
    if (a[i] > n) { a[i] -= 1; changed = 1; }
    __syncthreads();  //twin:
  } while (changed);  //~ data-race
}
//== inline_barrier
//pass
//--blockDim=64 --gridDim=1
__global__ void inline_barrier(int* a) {
  __shared__ int s[64];
  s[threadIdx.x] = a[threadIdx.x];
  asm volatile("bar.sync 0;" ::: "memory");  //twin:
  a[threadIdx.x] = s[63 - threadIdx.x];  //~ data-race
}
