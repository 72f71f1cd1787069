// What orders threads in the kernels of this folder, and the strong accesses by which blocks talk.
//
// Each kernel has an enumeration of its orders and is compiled with one that is `missing`: none,
// but in kernels/specimens/fast_mutants.  So kernel and mutant are one text, and a mutant lacks
// exactly one barrier, fence or strong access.
#pragma once

#include <cstdint>

namespace fast {

constexpr unsigned kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffU;

template <auto missing, auto here>
__device__ __forceinline__ void block_barrier() {
  if constexpr (missing != here) __syncthreads();
}

template <auto missing, auto here>
__device__ __forceinline__ void warp_barrier() {
  if constexpr (missing != here) __syncwarp();
}

// Before a strong write or an atomic it releases, after a strong read or an atomic it acquires (PTX
// ISA 8.8).
template <auto missing, auto here>
__device__ __forceinline__ void device_fence() {
  if constexpr (missing != here) __threadfence();
}

// Single-copy atomic, and seen by all blocks; they order nothing else.  Where `strong` is missing,
// an access of the same bytes that the memory model calls weak.
template <bool strong = true>
__device__ __forceinline__ std::uint32_t load_relaxed(const std::uint32_t* place) {
  std::uint32_t value;
  if constexpr (strong) {
    asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(value) : "l"(place) : "memory");
  } else {
    asm volatile("ld.u32 %0, [%1];" : "=r"(value) : "l"(place) : "memory");
  }
  return value;
}

template <bool strong = true>
__device__ __forceinline__ std::uint64_t load_relaxed(const std::uint64_t* place) {
  std::uint64_t value;
  if constexpr (strong) {
    asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(value) : "l"(place) : "memory");
  } else {
    asm volatile("ld.u64 %0, [%1];" : "=l"(value) : "l"(place) : "memory");
  }
  return value;
}

template <bool strong = true>
__device__ __forceinline__ void store_relaxed(std::uint32_t* place, std::uint32_t value) {
  if constexpr (strong) {
    asm volatile("st.relaxed.gpu.u32 [%0], %1;" : : "l"(place), "r"(value) : "memory");
  } else {
    asm volatile("st.u32 [%0], %1;" : : "l"(place), "r"(value) : "memory");
  }
}

template <bool strong = true>
__device__ __forceinline__ void store_relaxed(std::uint64_t* place, std::uint64_t value) {
  if constexpr (strong) {
    asm volatile("st.relaxed.gpu.u64 [%0], %1;" : : "l"(place), "l"(value) : "memory");
  } else {
    asm volatile("st.u64 [%0], %1;" : : "l"(place), "l"(value) : "memory");
  }
}

}  // namespace fast
