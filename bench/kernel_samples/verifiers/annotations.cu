//== requires_extent
//pass
//--blockDim=1024 --gridDim=1 --no-inline
__global__ void requires_extent(int* a, int sz) {
  __requires(sz == blockDim.x);  //twin: __requires(sz == 512);
  for (int i = threadIdx.x; i < 8 * 1024; i += sz) a[i] = threadIdx.x;  //~ data-race
}
//== requires_constant_stride
//pass
//--blockDim=1024 --gridDim=1
__global__ void requires_constant_stride(int* a, int sz) {
  __requires(sz == 1024);  //twin: __requires(sz == 1000);
  for (int i = 0; i < 4; ++i) a[sz * i + threadIdx.x] = i;  //~ data-race
}
//== requires_macro
//pass
//--blockDim=64 --gridDim=1 --no-inline
#define N 64
__global__ void requires_macro(int* a, int n) {
  __requires(n == N);  //twin: __requires(n == N / 2);
  a[threadIdx.x % n] = threadIdx.x;  //~ data-race
}
//== requires_power_of_two
//pass
//--blockDim=128 --gridDim=1
__global__ void requires_power_of_two(int* a, int n) {
  __requires(__is_pow2(n));
  __requires(n > 0 & n <= 4096);
  int i = threadIdx.x;
  if (i < n) a[i] = n;  //~ data-race //twin: if (i < n) a[i & 31] = i;
}
//== requires_implication
//pass
//--blockDim=64 --gridDim=1
__global__ void requires_implication(int* a, int mode, int step) {
  __requires(__implies(mode != 0, step == 1));
  __requires(step >= 1);
  __requires(step <= 1000);
  if (mode) a[threadIdx.x * step] = mode;  //~ data-race //twin: if (mode) a[threadIdx.x / 2 * step] = threadIdx.x;
}
//== for_invariant
//pass
//--blockDim=64 --gridDim=64 --no-inline
__global__ void for_invariant(int* a) {
  for (int i = 0; __invariant(i >= 0), __invariant(i <= 100), i < 100; ++i) {  //~ trap //twin: for (int i = 0; __invariant(i >= 0), __invariant(i <= 99), i < 100; ++i) {
    a[blockIdx.x * blockDim.x + threadIdx.x] += i;
  }
}
//== while_invariant
//pass
//--blockDim=64 --gridDim=2 --no-inline
__global__ void while_invariant(int* a) {
  unsigned d = 1;
  while (__invariant(__is_pow2(d)), d < 64) {  //~ trap //twin: while (__invariant(d % 3 == 1), d < 64) {
    a[blockIdx.x * blockDim.x + threadIdx.x] ^= d;
    d <<= 1;
  }
}
//== do_invariant
//pass
//--blockDim=32 --gridDim=1
__global__ void do_invariant(int* a) {
  int i = 10;
  do {
    __invariant(i > 0);  //~ trap //twin: __invariant(i > 1);
    a[threadIdx.x] += i;
    --i;
  } while (i > 0);
}
//== access_invariant
//pass
//--blockDim=64 --gridDim=4
__global__ void access_invariant(float* a, const float* b) {
  unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned i = id;
       __global_invariant(__write_implies(
           a, (__write_offset_bytes(a) / sizeof(float)) % (blockDim.x * gridDim.x) == id)),
                __invariant(i % (blockDim.x * gridDim.x) == id), i < 4096;
       i += blockDim.x * gridDim.x)
    a[i] = b[i];  //~ data-race //twin: a[i / 2] = b[i];
}
//== no_read_no_write
//pass
//--blockDim=64 --gridDim=1 --no-inline
__global__ void no_read_no_write(int* a) {
  __shared__ int s[64];
  __assert(__no_read(s));
  s[threadIdx.x] = a[threadIdx.x];
  __assert(!__no_write(s) | true);
  __syncthreads();  //twin:
  __assert(__no_write(s));
  a[threadIdx.x] = s[63 - threadIdx.x];  //~ data-race
}
//== asserted_range
//pass
//--blockDim=8 --gridDim=8
__global__ void asserted_range(int* a) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  __assert(id < 64);  //~ trap //twin: __assert(id < 63);
  a[id] = id;
}
//== assertion_after_if
//pass
//--blockDim=64 --gridDim=1
__global__ void assertion_after_if(int* a, int n) {
  int x = 0;
  if (n > 10)
    x = 2;
  else
    x = 4;
  __assert(x == 2 || x == 4);  //~ trap //twin: __assert(x == 2);
  a[threadIdx.x] = x;
}
//== global_assertion
//pass
//--blockDim=64 --gridDim=1
__global__ void global_assertion(int* a) {
  a[threadIdx.x] = threadIdx.x;
  __syncthreads();
  __global_assert(threadIdx.x < 64);  //~ trap //twin: __global_assert(threadIdx.x < 32);
}
//== uniform_and_distinct
//pass
//--blockDim=64 --gridDim=1
__global__ void uniform_and_distinct(int* a, int n) {
  __assert(__uniform_int(n));
  __assert(__distinct_int(threadIdx.x));
  __assert(__implies(__enabled(), __all(threadIdx.x < 64)));
  a[threadIdx.x] = n;  //~ data-race //twin: a[threadIdx.x >> 1] = threadIdx.x;
}
//== ensures_of_function
//pass
//--blockDim=64 --gridDim=1 --no-inline
__device__ __noinline__ int clamp_to(int x, int top) {
  __requires(top >= 0);
  __ensures(__return_val_int() <= top);
  return x < 0 ? 0 : x > top ? top : x;
}
__global__ void ensures_of_function(int* a, int x) {
  a[threadIdx.x + clamp_to(x, 0)] = x;  //~ data-race //twin: a[threadIdx.x / 4 + clamp_to(x, 0)] = threadIdx.x;
}
//== ensures_and_old
//pass
//--blockDim=64 --gridDim=1
__device__ __noinline__ void bump(int* p) {
  __ensures(*p == __old_int(*p) + 1);
  *p = *p + 1;
}
__global__ void ensures_and_old(int* a) {
  bump(a + threadIdx.x);  //twin: bump(a + threadIdx.x / 2);
}
//== axiom
//pass
//--blockDim=[8,8] --gridDim=1
__axiom(blockDim.x == 8);
__axiom(blockDim.y == 8);
__global__ void axiom(int* a) {
  a[threadIdx.y * 8 + threadIdx.x] = 1;  //~ data-race //twin: a[threadIdx.y * 7 + threadIdx.x] = threadIdx.y;
}
//== assumed_value
//pass
//--blockDim=64 --gridDim=1
__global__ void assumed_value(int* a, int n) {
  __assume(n == 64);
  if (threadIdx.x < n) a[threadIdx.x * n] = n;  //~ data-race //twin: if (threadIdx.x < n) a[threadIdx.x / n] = threadIdx.x;
}
//== at_most_one
//pass
//--blockDim=64 --gridDim=1
__global__ void at_most_one(int* a, int leader) {
  __requires(leader >= 0);
  __requires(leader < 64);
  __assert(__at_most_one(threadIdx.x == leader));
  if (threadIdx.x == leader) a[0] = threadIdx.x;  //~ data-race //twin: if (threadIdx.x <= 1) a[0] = threadIdx.x;
}
//== barrier_invariant
//pass
//--blockDim=64 --gridDim=1
__global__ void barrier_invariant(int* a) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  __barrier_invariant(s[threadIdx.x] == threadIdx.x, threadIdx.x);
  __syncthreads();  //twin:
  a[threadIdx.x] = s[(threadIdx.x + 1) % 64];  //~ data-race
}
//== always_fails
//xfail:BOOGIE_ERROR
//--blockDim=128 --gridDim=2
__global__ void always_fails(int* a) {
  __assert(threadIdx.x < 8);  //~ trap
  a[blockIdx.x * 128 + threadIdx.x] = 1;
}
//== contract_by_comment
//pass
// requires: blockDim.x == 128
// requires: gridDim.x == 1
__global__ void contract_by_comment(int* a) {
  __shared__ int s[128];
  s[threadIdx.x] = a[threadIdx.x];
  __syncthreads();  //twin:
  a[threadIdx.x] = s[127 - threadIdx.x];  //~ data-race
}
