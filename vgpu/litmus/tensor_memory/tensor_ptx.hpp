// PTX of tensor memory for litmus programs, as macros: a finding names the line where one stands.
#pragma once

#include <cstdint>

#include "vgpu/litmus/async_ptx.hpp"

// Addresses in tensor memory have the lane in the upper half and the column in the lower one.
#define ALLOCATE(shared, columns)                                                         \
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"( \
                   ADDRESS_OF(shared)),                                                   \
               "r"(columns)                                                               \
               : "memory")
#define DEALLOCATE(address, columns)                                                   \
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address), \
               "r"(columns)                                                            \
               : "memory")
#define RELINQUISH() DO("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;")
#define FENCE_BEFORE() DO("tcgen05.fence::before_thread_sync;")
#define FENCE_AFTER() DO("tcgen05.fence::after_thread_sync;")
#define WAIT_LOADS() DO("tcgen05.wait::ld.sync.aligned;")
#define WAIT_STORES() DO("tcgen05.wait::st.sync.aligned;")
#define LOAD_TENSOR(value, address) \
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(value) : "r"(address))
#define STORE_TENSOR(address, value)                                                          \
  asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(address), "r"(value) \
               : "memory")
#define COMMIT(object)                                                                     \
  asm volatile(                                                                            \
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"( \
          ADDRESS_OF(object))                                                              \
      : "memory")

// 128 rows of 32 bytes of a, 8 columns of b, in plain tiles of 8 x 16.
#define MATRIX(shared) \
  (static_cast<std::uint64_t>(ADDRESS_OF(shared)) >> 4 | 8ull << 16 | 16ull << 32 | 1ull << 46)
// M = 128, N = 8, s32 of s8
#define INTEGERS (2u << 4 | 1u << 7 | 1u << 10 | 1u << 17 | 8u << 24)
#define MULTIPLY(d, a, b)                                                                        \
  asm volatile(                                                                                  \
      "{.reg .pred p; setp.ne.u32 p, 0, 0; tcgen05.mma.cta_group::1.kind::i8 [%0], %1, %2, %3, " \
      "p;}" ::"r"(d),                                                                            \
      "l"(MATRIX(a)), "l"(MATRIX(b)), "r"(INTEGERS)                                              \
      : "memory")

// Where the allocated columns are, and the lanes of the warp.
#define TENSOR_KERNEL             \
  __shared__ std::uint32_t place; \
  const int t = threadIdx.x;      \
  [[maybe_unused]] const std::uint32_t lanes = t / 32 * 32 << 16
// The same, with operands of a product and an mbarrier for it.
#define PRODUCT_KERNEL                 \
  __shared__ alignas(128) int a[1024]; \
  __shared__ alignas(128) int b[64];   \
  __shared__ unsigned long long ended; \
  TENSOR_KERNEL
#define FILL()                                         \
  for (int i = t; i < 1024; i += blockDim.x) a[i] = i; \
  if (t < 64) b[t] = t;                                \
  if (t == 0) INIT_OBJECT(&ended, 1);                  \
  DO("fence.proxy.async.shared::cta;")
#define MEET()     \
  FENCE_BEFORE();  \
  __syncthreads(); \
  FENCE_AFTER()
