// Functions: recursion, calls through registers, virtual functions, alloca, assertions.
#include <cassert>

#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::zeroed;

// A stack of 1,024 bytes holds some sixty calls.
// expect: out-of-bounds local
__device__ __noinline__ int descend(int n, int* out) {
  if (n == 0) return 0;
  const int below = descend(n - 1, out);     //~ call
  out[threadIdx.x] += below;
  return below + n;
}
__global__ void recurses_too_deep(int* out, int n) { out[threadIdx.x] += descend(n, out); }
LITMUS(recurses_too_deep) { recurses_too_deep<<<1, 32>>>(zeroed<int>(32), 10000); }

// expect: clean
__global__ void recurses(int* out, int n) { out[threadIdx.x] += descend(n, out); }
LITMUS(recurses_as_deep_as_it_may) { recurses<<<1, 32>>>(zeroed<int>(32), 10); }

// expect: clean
LITMUS(recurses_on_a_larger_stack) {
  cudaDeviceSetLimit(cudaLimitStackSize, 65536);
  recurses<<<1, 32>>>(zeroed<int>(32), 300);
}

// Both sides of a race lie in functions that a table names.
// expect: data-race shared
using Step = void (*)(int*, int);
__device__ void put(int* shared, int i) { shared[i] = i; }             //~ write
__device__ void fetch(int* shared, int i) { shared[i + 64] = shared[i ^ 32]; }  //~ read
__device__ Step steps[2] = {put, fetch};
__global__ void steps_without_a_barrier(int* out, int n) {
  __shared__ int shared[128];
  for (int i = 0; i < n; ++i) steps[i](shared, static_cast<int>(threadIdx.x));
  out[threadIdx.x] = shared[threadIdx.x + 64];
}
LITMUS(steps_without_a_barrier) { steps_without_a_barrier<<<1, 64>>>(zeroed<int>(64), 2); }

// expect: clean
__global__ void steps_with_a_barrier(int* out, int n) {
  __shared__ int shared[128];
  for (int i = 0; i < n; ++i) {
    steps[i](shared, static_cast<int>(threadIdx.x));
    __syncthreads();
  }
  out[threadIdx.x] = shared[threadIdx.x + 64];
}
LITMUS(steps_with_a_barrier) { steps_with_a_barrier<<<1, 64>>>(zeroed<int>(64), 2); }

// expect: out-of-bounds global
struct Shape {
  int size;
  __device__ explicit Shape(int s) : size(s) {}
  __device__ virtual int area(const int*, int) const { return size; }
  __device__ virtual ~Shape() {}
};
struct Lookup : Shape {
  using Shape::Shape;
  __device__ int area(const int* table, int i) const override {
    return table[i * size];                  //~ read
  }
};
__global__ void a_virtual_function_reads_too_far(int* out, const int* table, int size) {
  const Shape shape(size);
  const Lookup lookup(size);
  const Shape* const one = threadIdx.x % 2 == 0 ? &shape : &lookup;
  out[threadIdx.x] = one->area(table, static_cast<int>(threadIdx.x));
}
LITMUS(a_virtual_function_reads_too_far) {
  a_virtual_function_reads_too_far<<<1, 64>>>(zeroed<int>(64), zeroed<int>(64), 2);
}

// expect: clean
LITMUS(a_virtual_function_reads_its_own) {
  a_virtual_function_reads_too_far<<<1, 64>>>(zeroed<int>(64), zeroed<int>(64), 1);
}

// A table of functions with a gap.
using Value = int (*)(int);
__device__ int one_more(int i) { return i + 1; }
__device__ Value value_functions[3] = {one_more, nullptr, one_more};
// expect: trap
__global__ void calls_what_is_no_function(int* out, int modulus) {
  const int i = static_cast<int>(threadIdx.x);
  out[i] = value_functions[i % modulus](i);           //~ call
}
LITMUS(calls_what_is_no_function) { calls_what_is_no_function<<<1, 32>>>(zeroed<int>(32), 2); }

// expect: clean
LITMUS(calls_what_is_a_function) { calls_what_is_no_function<<<1, 32>>>(zeroed<int>(32), 1); }

// alloca gives memory of the function, not written yet.
// expect: uninitialized-read local
__device__ __noinline__ void count_own(int* out, int n, int written) {
  int* const own = static_cast<int*>(alloca(n * sizeof(int)));
  for (int i = 0; i < written; ++i) own[i] = i;
  for (int i = 0; i < n; ++i) {
    if (own[i] > 1) atomicAdd(out, i);       //~ read //~ branch
  }
}
__global__ void reads_fresh_stack(int* out, int n, int written) { count_own(out, n, written); }
LITMUS(reads_fresh_stack) { reads_fresh_stack<<<1, 32>>>(zeroed<int>(1), 8, 7); }

// expect: clean
LITMUS(reads_written_stack) { reads_fresh_stack<<<1, 32>>>(zeroed<int>(1), 8, 8); }

// expect: trap
__global__ void asserts_too_much(int limit) {
  assert(static_cast<int>(threadIdx.x) < limit);  //~ assert
}
LITMUS(asserts_too_much) { asserts_too_much<<<1, 64>>>(63); }

// expect: clean
LITMUS(asserts_what_holds) { asserts_too_much<<<1, 64>>>(64); }

// Values cross a barrier in functions that recursion has entered; all threads of the block go.
__device__ __noinline__ int exchange(int* shared, int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (n == 0) return shared[i];
  shared[i] += n;
  __syncthreads();
  const int other = shared[i ^ 32];
  __syncthreads();
  return exchange(shared, n - 1) + other;
}
// expect: clean
__global__ void recursion_with_barriers(int* out, int n) {
  __shared__ int shared[64];
  shared[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = exchange(shared, n);
}
LITMUS(recursion_with_barriers) { recursion_with_barriers<<<1, 64>>>(zeroed<int>(64), 5); }
