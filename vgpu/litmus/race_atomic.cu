// Atomics: not with each other, but with plain accesses.
#include <cuda_fp16.h>

#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::zeroed;

// expect: data-race shared
__global__ void atomic_beside_plain_read(int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 1);                      //~ atomic
  out[threadIdx.x] = count;                  //~ read
}
LITMUS(atomic_beside_plain_read) { atomic_beside_plain_read<<<1, 64>>>(zeroed<int>(64)); }

// expect: clean
__global__ void atomic_then_read(int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 1);
  __syncthreads();
  out[threadIdx.x] = count;
}
LITMUS(atomic_then_read) { atomic_then_read<<<1, 64>>>(zeroed<int>(64)); }

// The reset of a counter beside its use.
// expect: data-race shared
__global__ void atomic_beside_plain_write(int* out) {
  __shared__ int count;
  if (threadIdx.x == 32) count = 0;          //~ write
  out[threadIdx.x] = atomicAdd(&count, 1);   //~ atomic
}
LITMUS(atomic_beside_plain_write) { atomic_beside_plain_write<<<1, 64>>>(zeroed<int>(64)); }

// A block-scoped atomic says nothing to other blocks.
// expect: data-race global
__global__ void scope_too_narrow(int* count) {
  atomicAdd_block(count, 1);                 //~ atomic
}
LITMUS(scope_too_narrow) { scope_too_narrow<<<2, 32>>>(zeroed<int>(1)); }

// expect: clean
__global__ void scope_of_its_own_block(int* count) { atomicAdd_block(count + blockIdx.x, 1); }
LITMUS(scope_of_its_own_block) { scope_of_its_own_block<<<2, 32>>>(zeroed<int>(2)); }

// An atomic flag does not order the data behind it.
// expect: data-race global
__global__ void relaxed_flag(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 1;                               //~ write
    atomicExch(flag, 1);
  } else if (atomicAdd(flag, 0) == 1) {
    *out = *data;                            //~ read
  }
}
LITMUS(relaxed_flag) {
  relaxed_flag<<<2, 1>>>(zeroed<int>(1), zeroed<int>(1), zeroed<int>(1));
}

// expect: clean
__global__ void atomic_data(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    atomicExch(data, 1);
    atomicExch(flag, 1);
  } else if (atomicAdd(flag, 0) == 1) {
    *out = atomicAdd(data, 0);
  }
}
LITMUS(atomic_data) {
  atomic_data<<<2, 1>>>(zeroed<int>(1), zeroed<int>(1), zeroed<int>(1));
}

// Sums of floats: the order of the additions is open, but none is lost.
// expect: clean
__global__ void sums_floats(float* total) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, 0.5f);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(total, sum);
}
LITMUS(sums_floats) { sums_floats<<<2, 64>>>(zeroed<float>(1)); }

// expect: data-race shared
__global__ void float_atomic_beside_plain_read(float* total) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, 0.5f);                     //~ atomic
  if (threadIdx.x == 0) atomicAdd(total, sum);  //~ read
}
LITMUS(float_atomic_beside_plain_read) {
  float_atomic_beside_plain_read<<<2, 64>>>(zeroed<float>(1));
}

// Both halves are added to, each by itself.
// expect: data-race global
__global__ void pair_of_halves_beside_a_store(__half2* sum) {
  if (blockIdx.x == 0) {
    atomicAdd(sum, __half2{1.0f, 2.0f});     //~ atomic
  } else {
    sum->y = __half{0.0f};                   //~ write
  }
}
LITMUS(pair_of_halves_beside_a_store) {
  pair_of_halves_beside_a_store<<<2, 1>>>(zeroed<__half2>(1));
}

// expect: clean
__global__ void pair_of_halves(__half2* sum) { atomicAdd(sum, __half2{1.0f, 2.0f}); }
LITMUS(pair_of_halves) { pair_of_halves<<<2, 64>>>(zeroed<__half2>(1)); }

// Neighbours in one word do not meet.
// expect: clean
__global__ void sixteen_bits_beside_a_store(unsigned short* cells) {
  if (blockIdx.x == 0) {
    atomicCAS(cells, 0, 1);
  } else {
    cells[1] = 2;
  }
}
LITMUS(sixteen_bits_beside_a_store) {
  sixteen_bits_beside_a_store<<<2, 1>>>(zeroed<unsigned short>(2));
}

// expect: data-race global
__global__ void sixteen_bits_beside_their_store(unsigned short* cells) {
  if (blockIdx.x == 0) {
    atomicCAS(cells, 0, 1);                  //~ atomic
  } else {
    cells[0] = 2;                            //~ write
  }
}
LITMUS(sixteen_bits_beside_their_store) {
  sixteen_bits_beside_their_store<<<2, 1>>>(zeroed<unsigned short>(2));
}

// The loop that the programming guide makes other atomics of begins with a plain read: a guess.
// expect: data-race global note
__global__ void guess_of_a_swap(unsigned long long* sum, const double* values) {
  unsigned long long old = *sum, assumed;    //~ read
  do {
    assumed = old;
    const double added = values[threadIdx.x] + __longlong_as_double(assumed);
    old = atomicCAS(sum, assumed, __double_as_longlong(added));  //~ atomic
  } while (assumed != old);
}
LITMUS(guess_of_a_swap) {
  guess_of_a_swap<<<1, 64>>>(zeroed<unsigned long long>(1), zeroed<double>(64));
}

// The same as long as the new value is larger; what the guess made of a maximum is nobody's data.
// expect: data-race global note
__global__ void guess_of_a_maximum(int* maximum, const int* values) {
  __threadfence();
  int old = *maximum;                        //~ read
  while (static_cast<int>(threadIdx.x) + values[threadIdx.x] > old) {
    const int assumed = old;
    old = atomicCAS(maximum, assumed, threadIdx.x + values[threadIdx.x]);  //~ atomic
    if (old == assumed) break;
  }
}
LITMUS(guess_of_a_maximum) { guess_of_a_maximum<<<2, 64>>>(zeroed<int>(1), zeroed<int>(64)); }

// Where the first read is an atomic too, nothing races.
// expect: clean
__global__ void guess_by_an_atomic(unsigned long long* sum, const double* values) {
  unsigned long long old = atomicAdd(sum, 0ull), assumed;
  do {
    assumed = old;
    const double added = values[threadIdx.x] + __longlong_as_double(assumed);
    old = atomicCAS(sum, assumed, __double_as_longlong(added));
  } while (assumed != old);
}
LITMUS(guess_by_an_atomic) {
  guess_by_an_atomic<<<1, 64>>>(zeroed<unsigned long long>(1), zeroed<double>(64));
}

// A guess that goes into a result before any swap has found it.
// expect: data-race global
__global__ void guess_that_is_used(int* count, int* out) {
  const int guess = *count;                  //~ read
  out[threadIdx.x] = guess;
  atomicCAS(count, guess, guess + 1);        //~ atomic
}
LITMUS(guess_that_is_used) { guess_that_is_used<<<1, 64>>>(zeroed<int>(1), zeroed<int>(64)); }

// A guess beside a plain store.
// expect: data-race global
// expect: data-race global note
__global__ void guess_beside_a_store(int* count) {
  if (threadIdx.x == 32) {
    *count = 5;                              //~ write
    return;
  }
  int old = *count, assumed;                 //~ read
  do {
    assumed = old;
    old = atomicCAS(count, assumed, assumed + 1);  //~ atomic
  } while (assumed != old);
}
LITMUS(guess_beside_a_store) { guess_beside_a_store<<<1, 64>>>(zeroed<int>(1)); }
