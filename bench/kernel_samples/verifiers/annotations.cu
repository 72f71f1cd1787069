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
//== chosen_base
//pass
//--blockDim=64 --gridDim=64 --no-inline
__global__ void chosen_base(int* p, int* q, int c) {
  int* x = c ? p : q;
  __assert(__ptr_base(x) == __ptr_base(p) || __ptr_base(x) == __ptr_base(q));
  x[blockIdx.x * blockDim.x + threadIdx.x] = 1;  //~ data-race //twin: x[blockIdx.x + threadIdx.x] = blockIdx.x;
}
//== swapped_bases
//pass
//--blockDim=32 --gridDim=4
__global__ void swapped_bases(float* in, float* out, int steps) {
  float *a = in, *b = out;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int s = 0; __invariant(__ptr_base(a) == __ptr_base(in) | __ptr_base(a) == __ptr_base(out)),
       __invariant(__ptr_base(b) == __ptr_base(in) | __ptr_base(b) == __ptr_base(out)), s < steps; s++) {
    b[i] = a[i] * 2;  //~ data-race //twin: b[i] = a[i ^ 1] * 2;
    float* t = a; a = b; b = t;
  }
}
//== other_thread
//pass
//--blockDim=64 --gridDim=1
__global__ void other_thread(int* a, int k) {
  __requires(k == __other_int(k));
  __assert(__uniform_int(k));
  __assert(__implies(threadIdx.x != __other_int(threadIdx.x), __distinct_int(threadIdx.x + k)));
  a[threadIdx.x] = k;  //~ data-race //twin: a[threadIdx.x & 62] = threadIdx.x;
}
//== global_requirement
//pass
//--blockDim=64 --gridDim=2
__global__ void global_requirement(int* a, int n) {
  __global_requires(n >= 64);
  __global_requires(n <= 4096);
  __global_ensures(n >= 64);
  a[blockIdx.x * n + threadIdx.x] = 3;  //~ data-race //twin: a[blockIdx.x * (n - 64) + threadIdx.x] = blockIdx.x;
}
//== no_overflow
//pass
//--blockDim=64 --gridDim=2
__global__ void no_overflow(unsigned* a, unsigned n) {
  __requires(__add_noovfl_unsigned(n, 128));
  __requires(n <= 1000);
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x + n;
  a[i] = n;  //~ data-race //twin: a[i / 2] = i;
}
//== sum_of_bytes
//pass
//--blockDim=64 --gridDim=2
__global__ void sum_of_bytes(unsigned* a) {
  unsigned char x = threadIdx.x;
  __assert(__add_noovfl_unsigned_char(x, 1) > 0);  //~ trap //twin: __assert(__add_noovfl_unsigned_char(x, 1) > 1);
  a[blockIdx.x * 64 + threadIdx.x] = x;
}
//== numbered_barrier_invariants
//pass
//--blockDim=64 --gridDim=1
__global__ void numbered_barrier_invariants(unsigned* out) {
  __shared__ unsigned len[64];
  unsigned t = threadIdx.x;
  len[t] = t;
  __barrier_invariant_1(len[t] == t, t);
  __barrier_invariant_2(len[t] <= 64, t, (t + 1) % 64);
  __syncthreads();  //twin:
  out[t] = len[(t + 1) % 64];  //~ data-race
}
//== snapshot
//pass
//--blockDim=64 --gridDim=1
__global__ void snapshot(int* out) {
  __shared__ int s[64];
  __shared__ int g[64];
  s[threadIdx.x] = threadIdx.x;
  __array_snapshot(g, s);
  __syncthreads();  //twin:
  out[threadIdx.x] = s[63 - threadIdx.x];  //~ data-race
}
//== uninterpreted_function
//pass
//--blockDim=64 --gridDim=1
DECLARE_UF_BINARY(A, unsigned, unsigned, unsigned);
__global__ void uninterpreted_function(unsigned* out) {
  __assert(true);
  out[threadIdx.x] = A(threadIdx.x, 2u);  //~ data-race //twin: out[threadIdx.x / 2] = A(threadIdx.x, 2u);
}
//== function_wide_invariant
//pass
//--blockDim=64 --gridDim=1
__global__ void function_wide_invariant(int* a) {
  __function_wide_invariant(__write_implies(a, __write_offset_bytes(a) / sizeof(int) == threadIdx.x));
  __function_wide_candidate_invariant(__no_read(a));
  for (int i = 0; i < 10; i++) {
    a[threadIdx.x] = i;  //~ data-race //twin: a[threadIdx.x ^ (i & 1)] = i;
  }
}
//== ensured_result
//pass
//--blockDim=64 --gridDim=1 --no-inline
__device__ int bar(int x);
__device__ __noinline__ int bar(int x) {
  __requires(x >= 0);
  __ensures(__return_val() >= 0);
  __ensures(__implies(__enabled(), __return_val_int() == x % 64));
  return x % 64;
}
__global__ void ensured_result(int* a) {
  a[bar(threadIdx.x)] = 1;  //~ data-race //twin: a[bar(threadIdx.x / 2)] = threadIdx.x;
}
//== uniform_function
//pass
//--blockDim=64 --gridDim=64 --no-inline
__device__ void write_own(int* p) {
  __requires(__uniform_int(blockIdx.x) & __uniform_bool(__enabled()));
  p[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x;  //~ data-race
}
__global__ void uniform_function(int* p, bool c) {
  if (c) write_own(p);  //twin: if (c) write_own(p - blockIdx.x * 32);
}
//== read_and_write_invariants
//pass
//--blockDim=64 --gridDim=1
__global__ void read_and_write_invariants(int* a, int* b, int n) {
  for (int i = threadIdx.x;
       __invariant(__implies(__write(a), (__write_offset_bytes(a) / sizeof(int)) % blockDim.x == threadIdx.x)),
       __invariant(__implies(__read(b), (__read_offset_bytes(b) / sizeof(int)) % blockDim.x == threadIdx.x)),
       __invariant(i % blockDim.x == threadIdx.x), i < n; i += blockDim.x)
    a[i] = b[i];  //~ data-race //twin: a[i - threadIdx.x] = b[i];
}
//== atomic_claims
//pass
//--blockDim=64 --gridDim=4
// lengths: b = 256
__global__ void atomic_claims(unsigned* a, unsigned* b) {
  __assert(__no_atomic(a));
  unsigned i = atomicAdd(a, 1u);
  __assert(__atomic_implies(a, __atomic_offset_bytes(a) == 0));
  __assert(__atomic_has_taken_value(a, 0, 3));
  if (i < 256) b[i] = threadIdx.x;  //~ data-race //twin: if (i < 256) b[i / 2] = threadIdx.x;
}
//== goto_invariant
//pass
//--blockDim=64 --gridDim=1
__global__ void goto_invariant(int* a) {
  int i = 0;
head:
  __assert(i >= 0); __assert(i <= 100);  //~ trap //twin: __assert(i < 100);
  if (i < 100) {
    a[threadIdx.x] += i;
    i++;
    goto head;
  }
}
//== requires_pointers
//pass
//--blockDim=64 --gridDim=2
__global__ void requires_pointers(int* a, int* b) {
  __requires(a != b);
  __requires(a != 0);
  a[blockIdx.x * 64 + threadIdx.x] = b[threadIdx.x];  //~ data-race //twin: a[threadIdx.x] = b[threadIdx.x] + blockIdx.x;
}
//== same_group
//pass
//--blockDim=64 --gridDim=2
__global__ void same_group(int* a) {
  __assert(__implies(__same_group, blockIdx.x == __other_int(blockIdx.x)));
  __assume(__same_group | true);
  a[blockIdx.x * 64 + threadIdx.x] = blockIdx.x;  //~ data-race //twin: a[threadIdx.x] = blockIdx.x;
}
//== requires_distinct
//pass
//--blockDim=64 --gridDim=2
__device__ void put(int* a, int i) {
  __requires(__distinct_int(i));
  a[i] = blockIdx.x;  //~ data-race
}
__global__ void requires_distinct(int* a) {
  put(a, 2 * (blockIdx.x * blockDim.x + threadIdx.x));  //twin: put(a, blockIdx.x + threadIdx.x);
}
//== requires_flag
//pass
//--blockDim=64 --gridDim=1
__global__ void requires_flag(int* a, bool b, int k) {
  __requires(b);
  __requires(k > 0 && k <= 3);
  if (!b) a[0] = threadIdx.x;
  a[threadIdx.x * k] = 2;  //~ data-race //twin: if (b) a[threadIdx.x / k] = threadIdx.x;
}
//== requires_float
//pass
//--blockDim=64 --gridDim=1
__global__ void requires_float(float* a, float x) {
  __requires(x > 0.0f);
  __requires(x == x);  //twin: __requires(x < 2.0f);
  if (!(x > 0.0f)) a[0] = threadIdx.x;
  a[threadIdx.x] = x;  //~ data-race //twin: a[threadIdx.x / 2] = x + threadIdx.x;
}
//== requires_bytes
//pass
//--blockDim=64 --gridDim=1
__global__ void requires_bytes(int* a, unsigned n) {
  __requires(n == sizeof(float) * 16);
  __requires(n * sizeof(int) < (1 << 20));
  a[threadIdx.x % n] = threadIdx.x;  //~ data-race //twin: a[threadIdx.x % (n / 2)] = threadIdx.x;
}
//== requires_fields
//pass
//--blockDim=64 --gridDim=2
struct Dims { int w, h; };
__global__ void requires_fields(int* a, Dims d) {
  __requires(d.w == 128 && d.h > 0 && d.h <= 64);
  for (int y = 0; y < d.h; ++y) a[y * d.w + blockIdx.x * 64 + threadIdx.x] = y;  //~ data-race //twin: for (int y = 0; y < d.h; ++y) a[y * (d.w / 2) + blockIdx.x * 64 + threadIdx.x] = y;
}
