// mbarriers, and asynchronous copies that they or groups count.
#include "vgpu/litmus/async_ptx.hpp"
#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::zeroed;

// expect: clean
__global__ void object_hands_on(int* out) {
  __shared__ int s[64];
  __shared__ unsigned long long object;
  const int t = threadIdx.x;
  if (t == 0) INIT_OBJECT(&object, 64);
  __syncthreads();
  s[t] = t;
  ARRIVE(".shared", &object);
  WAIT(".shared", &object, 0);
  out[t] = s[63 - t];
}
LITMUS(object_hands_on) { object_hands_on<<<1, 64>>>(zeroed<int>(64)); }

// It counts one arrival more than there are threads.
// expect: deadlock
__global__ void object_with_a_wrong_count(int* out) {
  __shared__ unsigned long long object;
  if (threadIdx.x == 0) INIT_OBJECT(&object, 65);
  __syncthreads();
  ARRIVE(".shared", &object);
  WAIT(".shared", &object, 0);                  //~ spin
  out[threadIdx.x] = 1;
}
LITMUS(object_with_a_wrong_count) { object_with_a_wrong_count<<<1, 64>>>(zeroed<int>(64)); }

// expect: data-race shared
__global__ void object_not_waited_for(int* out) {
  __shared__ int s[64];
  __shared__ unsigned long long object;
  const int t = threadIdx.x;
  if (t == 0) INIT_OBJECT(&object, 64);
  s[t] = 0;
  __syncthreads();
  s[t] = t;                                     //~ write
  ARRIVE(".shared", &object);
  out[t] = s[63 - t];                           //~ read
}
LITMUS(object_not_waited_for) { object_not_waited_for<<<1, 64>>>(zeroed<int>(64)); }

// expect: data-race shared
__global__ void object_with_relaxed_arrival(int* out) {
  __shared__ int s[64];
  __shared__ unsigned long long object;
  const int t = threadIdx.x;
  if (t == 0) INIT_OBJECT(&object, 64);
  __syncthreads();
  s[t] = t;                                     //~ write
  ARRIVE(".relaxed.cta.shared::cta", &object);
  WAIT(".shared", &object, 0);
  out[t] = s[t ^ 32];                           //~ read
}
LITMUS(object_with_relaxed_arrival) { object_with_relaxed_arrival<<<1, 64>>>(zeroed<int>(64)); }

// A fence before the relaxed arrival releases, and one after a relaxed wait acquires.
// expect: clean
__global__ void object_with_fences(int* out) {
  __shared__ int s[64];
  __shared__ unsigned long long object;
  const int t = threadIdx.x;
  if (t == 0) INIT_OBJECT(&object, 64);
  __syncthreads();
  s[t] = t;
  DO("fence.acq_rel.cta;");
  ARRIVE(".relaxed.cta.shared::cta", &object);
  WAIT(".relaxed.cta.shared::cta", &object, 0);
  DO("fence.acq_rel.cta;");
  out[t] = s[t ^ 32];
}
LITMUS(object_with_fences) { object_with_fences<<<1, 64>>>(zeroed<int>(64)); }

#define COPY_WORD(shared, global)                                                            \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(ADDRESS_OF(shared)),         \
               "l"(__cvta_generic_to_global(global))                                         \
               : "memory")

// Two stages: what was copied before the latest group is there.
// expect: clean
__global__ void copies_of_the_group_before(const int* in, int* out) {
  __shared__ int s[2][32];
  const int t = threadIdx.x;
  COPY_WORD(&s[0][t], in + t);
  DO("cp.async.commit_group;");
  COPY_WORD(&s[1][t], in + 32 + t);
  DO("cp.async.commit_group;");
  DO("cp.async.wait_group 1;");
  out[t] = s[0][t];
  DO("cp.async.wait_all;");
  out[t] += s[1][t];
}
LITMUS(copies_of_the_group_before) {
  copies_of_the_group_before<<<1, 32>>>(zeroed<int>(64), zeroed<int>(32));
}

// expect: data-race shared
__global__ void copies_of_the_latest_group(const int* in, int* out) {
  __shared__ int s[2][32];
  const int t = threadIdx.x;
  COPY_WORD(&s[0][t], in + t);
  DO("cp.async.commit_group;");
  COPY_WORD(&s[1][t], in + 32 + t);             //~ write
  DO("cp.async.commit_group;");
  DO("cp.async.wait_group 1;");
  out[t] = s[1][t];                             //~ read
}
LITMUS(copies_of_the_latest_group) {
  copies_of_the_latest_group<<<1, 32>>>(zeroed<int>(64), zeroed<int>(32));
}

// expect: clean
__global__ void copies_passed_on(const int* in, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  COPY_WORD(&s[t], in + t);
  DO("cp.async.wait_all;");
  __syncthreads();
  out[t] = s[63 - t];
}
LITMUS(copies_passed_on) { copies_passed_on<<<1, 64>>>(zeroed<int>(64), zeroed<int>(64)); }

// Each thread waits, but only after the barrier.
// expect: data-race shared
__global__ void copies_waited_for_too_late(const int* in, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  COPY_WORD(&s[t], in + t);                     //~ write
  __syncthreads();
  DO("cp.async.wait_all;");
  out[t] = s[63 - t];                           //~ read
}
LITMUS(copies_waited_for_too_late) {
  copies_waited_for_too_late<<<1, 64>>>(zeroed<int>(64), zeroed<int>(64));
}

// expect: clean
__global__ void copies_counted(const int* in, int* out) {
  __shared__ int s[64];
  __shared__ unsigned long long object;
  const int t = threadIdx.x;
  if (t == 0) INIT_OBJECT(&object, 64);
  __syncthreads();
  COPY_WORD(&s[t], in + t);
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(ADDRESS_OF(&object))
               : "memory");
  WAIT(".shared", &object, 0);
  out[t] = s[63 - t];
}
LITMUS(copies_counted) { copies_counted<<<1, 64>>>(zeroed<int>(64), zeroed<int>(64)); }

// The threads arrive, and their copies do not.
// expect: data-race shared
__global__ void copies_not_counted(const int* in, int* out) {
  __shared__ int s[64];
  __shared__ unsigned long long object;
  const int t = threadIdx.x;
  if (t == 0) INIT_OBJECT(&object, 64);
  __syncthreads();
  COPY_WORD(&s[t], in + t);                     //~ write
  ARRIVE(".shared", &object);
  WAIT(".shared", &object, 0);
  out[t] = s[63 - t];                           //~ read
}
LITMUS(copies_not_counted) { copies_not_counted<<<1, 64>>>(zeroed<int>(64), zeroed<int>(64)); }
