// The kernels of access_kernels.def.  As a program of its own (-DACCESS_KERNELS_MAIN), it runs each
// of them once, for a profiler.
#include "vgpu/litmus/counters/access_kernels.hpp"

namespace warpcheck::litmus {
namespace {

// What no calculation of the kernels gives, so that results are used and never stored.
constexpr unsigned kNever = 0x9e3779b9u;

// Returns a value that may be kNever, as the compiler sees it.
template <int bytes>
__device__ unsigned used(unsigned value) {
  return bytes < 4 ? value + (kNever - 77) : value;
}

struct Place {
  char* global;
  unsigned shared;  // an address in the window of shared memory
};

template <int bytes>
struct GlobalLoad;
template <int bytes>
struct GlobalStore;
template <int bytes>
struct SharedLoad;
template <int bytes>
struct SharedStore;

#define LOAD_AND_STORE(bytes, type)                                                             \
  template <>                                                                                   \
  struct GlobalLoad<bytes> {                                                                    \
    static __device__ unsigned at(Place place, unsigned address) {                              \
      unsigned value;                                                                           \
      asm volatile("ld.global." type " %0, [%1];" : "=r"(value) : "l"(place.global + address)); \
      return used<bytes>(value);                                                                \
    }                                                                                           \
  };                                                                                            \
  template <>                                                                                   \
  struct GlobalStore<bytes> {                                                                   \
    static __device__ unsigned at(Place place, unsigned address) {                              \
      asm volatile("st.global." type " [%0], %1;" ::"l"(place.global + address), "r"(address)); \
      return 0;                                                                                 \
    }                                                                                           \
  };                                                                                            \
  template <>                                                                                   \
  struct SharedLoad<bytes> {                                                                    \
    static __device__ unsigned at(Place place, unsigned address) {                              \
      unsigned value;                                                                           \
      asm volatile("ld.shared." type " %0, [%1];" : "=r"(value) : "r"(place.shared + address)); \
      return used<bytes>(value);                                                                \
    }                                                                                           \
  };                                                                                            \
  template <>                                                                                   \
  struct SharedStore<bytes> {                                                                   \
    static __device__ unsigned at(Place place, unsigned address) {                              \
      asm volatile("st.shared." type " [%0], %1;" ::"r"(place.shared + address), "r"(address)); \
      return 0;                                                                                 \
    }                                                                                           \
  };
LOAD_AND_STORE(1, "u8")
LOAD_AND_STORE(2, "u16")
LOAD_AND_STORE(4, "u32")
#undef LOAD_AND_STORE

#define LOAD_AND_STORE_VECTORS(space, Space, member, constraint)                           \
  template <>                                                                              \
  struct Space##Load<8> {                                                                  \
    static __device__ unsigned at(Place place, unsigned address) {                         \
      unsigned long long value;                                                            \
      asm volatile("ld." space ".u64 %0, [%1];"                                            \
                   : "=l"(value)                                                           \
                   : constraint(place.member + address));                                  \
      return static_cast<unsigned>(value ^ value >> 32);                                   \
    }                                                                                      \
  };                                                                                       \
  template <>                                                                              \
  struct Space##Store<8> {                                                                 \
    static __device__ unsigned at(Place place, unsigned address) {                         \
      asm volatile("st." space ".u64 [%0], %1;" ::constraint(place.member + address),      \
                   "l"(static_cast<unsigned long long>(address)));                         \
      return 0;                                                                            \
    }                                                                                      \
  };                                                                                       \
  template <>                                                                              \
  struct Space##Load<16> {                                                                 \
    static __device__ unsigned at(Place place, unsigned address) {                         \
      unsigned a, b, c, d;                                                                 \
      asm volatile("ld." space ".v4.u32 {%0, %1, %2, %3}, [%4];"                           \
                   : "=r"(a), "=r"(b), "=r"(c), "=r"(d)                                    \
                   : constraint(place.member + address));                                  \
      return a ^ b ^ c ^ d;                                                                \
    }                                                                                      \
  };                                                                                       \
  template <>                                                                              \
  struct Space##Store<16> {                                                                \
    static __device__ unsigned at(Place place, unsigned address) {                         \
      asm volatile("st." space                                                             \
                   ".v4.u32 [%0], {%1, %1, %1, %1};" ::constraint(place.member + address), \
                   "r"(address));                                                          \
      return 0;                                                                            \
    }                                                                                      \
  };
LOAD_AND_STORE_VECTORS("global", Global, global, "l")
LOAD_AND_STORE_VECTORS("shared", Shared, shared, "r")
#undef LOAD_AND_STORE_VECTORS

struct GlobalReduction {
  static __device__ unsigned at(Place place, unsigned address) {
    asm volatile("red.global.add.u32 [%0], %1;" ::"l"(place.global + address), "r"(threadIdx.x));
    return 0;
  }
};
struct GlobalAtomic {
  static __device__ unsigned at(Place place, unsigned address) {
    unsigned value;
    asm volatile("atom.global.add.u32 %0, [%1], %2;"
                 : "=r"(value)
                 : "l"(place.global + address), "r"(threadIdx.x));
    return value;
  }
};
struct SharedAtomic {
  static __device__ unsigned at(Place place, unsigned address) {
    unsigned value;
    asm volatile("atom.shared.add.u32 %0, [%1], %2;"
                 : "=r"(value)
                 : "r"(place.shared + address), "r"(threadIdx.x));
    return value;
  }
};

template <int count>
struct LoadMatrix;
template <>
struct LoadMatrix<1> {
  static __device__ unsigned at(Place place, unsigned address) {
    unsigned a;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(a)
                 : "r"(place.shared + address));
    return a;
  }
};
template <>
struct LoadMatrix<2> {
  static __device__ unsigned at(Place place, unsigned address) {
    unsigned a, b;
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(a), "=r"(b)
                 : "r"(place.shared + address));
    return a ^ b;
  }
};
#define LOAD_FOUR(name, trans)                                                                 \
  name {                                                                                       \
    static __device__ unsigned at(Place place, unsigned address) {                             \
      unsigned a, b, c, d;                                                                     \
      asm volatile("ldmatrix.sync.aligned.m8n8.x4" trans ".shared.b16 {%0, %1, %2, %3}, [%4];" \
                   : "=r"(a), "=r"(b), "=r"(c), "=r"(d)                                        \
                   : "r"(place.shared + address));                                             \
      return a ^ b ^ c ^ d;                                                                    \
    }                                                                                          \
  }
template <>
LOAD_FOUR(struct LoadMatrix<4>, "");
LOAD_FOUR(struct LoadTransposed, ".trans");
#undef LOAD_FOUR
struct StoreMatrix {
  static __device__ unsigned at(Place place, unsigned address) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %1, %1, %1};" ::"r"(
                     place.shared + address),
                 "r"(address));
    return 0;
  }
};

}  // namespace

#define WHOLE(name, threads)
#define ACCESS(name, operation, address, active)                                        \
  __global__ void name(char* memory, unsigned* out) {                                   \
    __shared__ alignas(128) char shared[kSharedBytes];                                  \
    const unsigned lane = threadIdx.x;                                                  \
    unsigned value = 0;                                                                 \
    const Place place{memory, static_cast<unsigned>(__cvta_generic_to_shared(shared))}; \
    if (active) value = operation::at(place, address);                                  \
    if (value == kNever) out[lane] = value;                                             \
  }
#include "vgpu/litmus/counters/access_kernels.def"
#undef ACCESS
#undef WHOLE

// memory is all zeros, so indices that are read from it are 0.

__global__ void local_array(char* memory, unsigned* out) {
  const unsigned n = *reinterpret_cast<unsigned*>(memory);
  volatile unsigned array[16];
  array[n % 16] = threadIdx.x;
  if (array[(n + 1) % 16] == kNever) out[threadIdx.x] = n;
}

__global__ void local_array_of_8_bytes(char* memory, unsigned* out) {
  const unsigned n = *reinterpret_cast<unsigned*>(memory);
  volatile unsigned long long array[16];
  array[n % 16] = threadIdx.x;
  if (array[(n + 1) % 16] == kNever) out[threadIdx.x] = n;
}

__global__ void local_array_by_lane(char*, unsigned* out) {
  volatile unsigned array[32];
  array[threadIdx.x % 32] = threadIdx.x;
  if (array[threadIdx.x * 5 % 32] == kNever) out[threadIdx.x] = 1;
}

__global__ void transpose_without_tile(char* memory, unsigned*) {
  const auto* const in = reinterpret_cast<const unsigned*>(memory);
  auto* const transposed = reinterpret_cast<unsigned*>(memory) + 1024;
  const unsigned x = threadIdx.x;
  for (unsigned y = 0; y < 32; ++y) transposed[x * 32 + y] = in[y * 32 + x];
}

template <int width>
__device__ void transpose_by(char* memory) {
  __shared__ unsigned tile[32][width];
  const auto* const in = reinterpret_cast<const unsigned*>(memory);
  auto* const transposed = reinterpret_cast<unsigned*>(memory) + 1024;
  const unsigned x = threadIdx.x;
#pragma unroll 1
  for (unsigned y = 0; y < 32; ++y) tile[y][x] = in[y * 32 + x];
  __syncthreads();
#pragma unroll 1
  for (unsigned y = 0; y < 32; ++y) transposed[y * 32 + x] = tile[x][y];
}
__global__ void transpose_by_tile(char* memory, unsigned*) { transpose_by<32>(memory); }
__global__ void transpose_by_padded_tile(char* memory, unsigned*) { transpose_by<33>(memory); }

__global__ void reduce_interleaved(char* memory, unsigned* out) {
  __shared__ unsigned sums[256];
  const unsigned t = threadIdx.x;
  sums[t] = reinterpret_cast<const unsigned*>(memory)[t];
#pragma unroll 1
  for (unsigned s = 1; s < 256; s *= 2) {
    __syncthreads();
    const unsigned at = 2 * s * t;
    if (at < 256) sums[at] += sums[at + s];
  }
  if (t == 0) out[0] = sums[0];
}

__global__ void reduce_contiguous(char* memory, unsigned* out) {
  __shared__ unsigned sums[256];
  const unsigned t = threadIdx.x;
  sums[t] = reinterpret_cast<const unsigned*>(memory)[t];
#pragma unroll 1
  for (unsigned s = 128; s != 0; s /= 2) {
    __syncthreads();
    if (t < s) sums[t] += sums[t + s];
  }
  if (t == 0) out[0] = sums[0];
}

template <unsigned of_list, unsigned of_element>
__device__ void walk_lists(char* memory) {
  __shared__ unsigned words[1024];
  auto* const all = reinterpret_cast<unsigned*>(memory);
  const unsigned list = threadIdx.x * of_list;
#pragma unroll 1
  for (unsigned k = 0; k < 32; ++k) words[list + k * of_element] = all[list + k * of_element];
#pragma unroll 1
  for (unsigned k = 0; k < 32; ++k) all[list + k * of_element] = words[list + k * of_element] + 1;
}
__global__ void lists_interleaved(char* memory, unsigned*) { walk_lists<1, 32>(memory); }
__global__ void lists_contiguous(char* memory, unsigned*) { walk_lists<32, 1>(memory); }

__device__ void count(unsigned value, unsigned* out) {
  __shared__ unsigned bins[64];
  if (threadIdx.x < 64) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[value % 64], threadIdx.x);
  __syncthreads();
  if (threadIdx.x < 64) out[threadIdx.x] = bins[threadIdx.x];
}
__global__ void histogram_of_one_value(char* memory, unsigned* out) {
  count(reinterpret_cast<const unsigned*>(memory)[threadIdx.x], out);
}
__global__ void histogram_of_all_values(char* memory, unsigned* out) {
  count(reinterpret_cast<const unsigned*>(memory)[threadIdx.x] + threadIdx.x, out);
}

const std::vector<AccessKernel>& access_kernels() {
  static const std::vector<AccessKernel> kernels{
#define ACCESS(name, ...) {#name, 32, name},
#define WHOLE(name, threads) {#name, threads, name},
#include "vgpu/litmus/counters/access_kernels.def"
#undef ACCESS
#undef WHOLE
  };
  return kernels;
}

void run(const AccessKernel& kernel) {
  char* memory = nullptr;
  unsigned* out = nullptr;
  cudaMalloc(&memory, kGlobalBytes);
  cudaMalloc(&out, 256 * sizeof(unsigned));
  cudaMemset(memory, 0, kGlobalBytes);
  kernel.kernel<<<1, kernel.threads>>>(memory, out);
  cudaDeviceSynchronize();
  cudaFree(memory);
  cudaFree(out);
}

}  // namespace warpcheck::litmus

#ifdef ACCESS_KERNELS_MAIN
#include <cstdio>

int main() {
  for (const auto& kernel : warpcheck::litmus::access_kernels()) {
    warpcheck::litmus::run(kernel);
  }
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) std::printf("%s\n", cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}
#endif
