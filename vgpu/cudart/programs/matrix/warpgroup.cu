// Products of a warpgroup: matrices along and across k, swizzled and not, a in registers, sparse a,
// groups of products.
// arch: compute_90a
// MUTANT: the results are looked at before the group has been waited for.
// expect: uninitialized-read
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "check.hpp"

constexpr int kRows = 64, kColumns = 16;

// Where a matrix begins, and how far apart its parts are.
//   mode: 0 no swizzling, 1 of 128 bytes
//   base_offset: rows of 128 bytes from a multiple of 1,024 to the pattern of swizzling
__device__ std::uint64_t descriptor(const void* shared, unsigned leading, unsigned stride,
                                    std::uint64_t mode, std::uint64_t base_offset = 0) {
  const std::uint64_t start = __cvta_generic_to_shared(shared);
  return start >> 4 | std::uint64_t{leading >> 4} << 16 | std::uint64_t{stride >> 4} << 32 |
         base_offset << 49 | mode << 62;
}

__device__ unsigned swizzled(unsigned offset) { return offset ^ (offset >> 7 & 7) << 4; }

__device__ void begin() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ void commit_and_wait() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

// Where register `i` of a thread's result stands.
__device__ int row_of(int i) {
  return threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + i / 2 % 2 * 8;
}
__device__ int column_of(int i) { return i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2; }

// Rows of 64 halves, four steps of k one after the other.
__global__ void along_k(const __half* a, const __half* b, float* out) {
  constexpr int kDepth = 64, kBaseOffset = 3;
  __shared__ alignas(1024) char a_tile[kRows * kDepth * 2];
  __shared__ alignas(1024) char tiles[1024 + kColumns * kDepth * 2];
  char* const b_tile = tiles + kBaseOffset * 128;
  for (int i = threadIdx.x; i < kRows * kDepth; i += blockDim.x) {
    *reinterpret_cast<__half*>(a_tile + swizzled(2 * i)) = a[i];
    if (i < kColumns * kDepth) *reinterpret_cast<__half*>(b_tile + swizzled(2 * i)) = b[i];
  }
  begin();
  float d[8];
  for (int step = 0; step < 4; ++step) {
    asm volatile(
        "{.reg .pred adds; setp.ne.s32 adds, %10, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, "
        "%9, adds, 1, 1, 0, 0;}"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
          "+f"(d[7])
        : "l"(descriptor(a_tile + 32 * step, 16, 1024, 1)),
          "l"(descriptor(b_tile + 32 * step, 16, 1024, 1, kBaseOffset)), "r"(step));  //~
  }
#ifdef MUTANT
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  if (d[0] > 1e6f) out[0] = 1;  //~
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#else
  commit_and_wait();
#endif
  for (int i = 0; i < 8; ++i) out[row_of(i) * kColumns + column_of(i)] = d[i];
}

// Neighbours in memory are of one column of a, and of one row of b; the product is negated.
__global__ void across_k(const __nv_bfloat16* a, const __nv_bfloat16* b, float* out) {
  constexpr int kDepth = 16;
  __shared__ alignas(1024) char a_tile[kRows * kDepth * 2];
  __shared__ alignas(128) char b_tile[kColumns * kDepth * 2];
  for (int i = threadIdx.x; i < kRows * kDepth; i += blockDim.x) {
    const int row = i / kDepth, k = i % kDepth;
    *reinterpret_cast<__nv_bfloat16*>(a_tile + swizzled(k * 128 + row * 2)) = a[i];
    if (row < kColumns) {
      *reinterpret_cast<__nv_bfloat16*>(b_tile + row / 8 * 256 + k / 8 * 128 + k % 8 * 16 +
                                        row % 8 * 2) = b[i];
    }
  }
  begin();
  float d[8] = {};
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, "
      "%9, 1, -1, 1, 1, 1;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7])
      : "l"(descriptor(a_tile, 16, 1024, 1)), "l"(descriptor(b_tile, 128, 256, 0)));
  commit_and_wait();
  for (int i = 0; i < 8; ++i) out[row_of(i) * kColumns + column_of(i)] = d[i];
}

// a in registers, b in plain rows of 16 bytes; added to what the registers held.
__global__ void from_registers(const signed char* a, const unsigned char* b, int* out) {
  constexpr int kDepth = 32;
  __shared__ alignas(128) unsigned char b_tile[kColumns * kDepth];
  for (int i = threadIdx.x; i < kColumns * kDepth; i += blockDim.x) {
    const int column = i / kDepth, k = i % kDepth;
    b_tile[column / 8 * 256 + k / 16 * 128 + column % 8 * 16 + k % 16] = b[i];
  }
  begin();
  unsigned words[4];
  for (int i = 0; i < 4; ++i) {
    const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + i % 2 * 8;
    words[i] =
        *reinterpret_cast<const unsigned*>(a + row * kDepth + threadIdx.x % 4 * 4 + i / 2 * 16);
  }
  int d[8];
  for (int& each : d) each = 1;
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n16k32.s32.s8.u8 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, "
      "%10, %11}, %12, 1;"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]),
        "+r"(d[7])
      : "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]),
        "l"(descriptor(b_tile, 128, 256, 0)));
  commit_and_wait();
  for (int i = 0; i < 8; ++i) out[row_of(i) * kColumns + column_of(i)] = d[i];
}

// Of each four elements of a row of a, two are there; `metadata` says which.  A pair of lanes of
// each four has it: the second one.
__global__ void sparse(const __half* a, const __half* b, const unsigned* metadata, float* out) {
  constexpr int kDepth = 32, kKept = kDepth / 2;
  __shared__ alignas(128) char a_tile[kRows * kKept * 2];
  __shared__ alignas(128) char b_tile[kColumns * kDepth * 2];
  for (int i = threadIdx.x; i < kRows * kKept; i += blockDim.x) {
    const int row = i / kKept, k = i % kKept;
    *reinterpret_cast<__half*>(a_tile + row / 8 * 256 + k / 8 * 128 + row % 8 * 16 + k % 8 * 2) =
        a[i];
  }
  for (int i = threadIdx.x; i < kColumns * kDepth; i += blockDim.x) {
    const int column = i / kDepth, k = i % kDepth;
    *reinterpret_cast<__half*>(b_tile + column / 8 * 512 + k / 8 * 128 + column % 8 * 16 +
                               k % 8 * 2) = b[i];
  }
  begin();
  float d[8] = {};
  asm volatile(
      "wgmma.mma_async.sp.sync.aligned.m64n16k32.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, "
      "%9, %10, 1, 1, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7])
      : "l"(descriptor(a_tile, 128, 256, 0)), "l"(descriptor(b_tile, 128, 512, 0)),
        "r"(metadata[threadIdx.x]));
  commit_and_wait();
  for (int i = 0; i < 8; ++i) out[row_of(i) * kColumns + column_of(i)] = d[i];
}

// Small integers, which all types have, rows of a and columns of b.
template <typename T>
void fill(Buffer<T>& matrix, int step, int bound) {
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    matrix[i] = static_cast<T>(static_cast<float>(static_cast<int>(i) * step % bound));
  }
}

template <typename A, typename B, typename D>
bool is_product(Buffer<A>& a, Buffer<B>& b, Buffer<D>& d, int sign, int before) {
  const int depth = static_cast<int>(a.size()) / kRows;
  bool is_right = true;
  for (int i = 0; i < kRows * kColumns; ++i) {
    float sum = 0;
    for (int k = 0; k < depth; ++k) {
      sum += static_cast<float>(a[i / kColumns * depth + k]) *
             static_cast<float>(b[i % kColumns * depth + k]);
    }
    is_right &= static_cast<float>(d[i]) == static_cast<float>(before) + sign * sum;
  }
  return is_right;
}

// Compares the product of a sparse matrix with that of the same matrix with its zeros.
bool multiplies_sparse() {
  constexpr int kDepth = 32, kChunks = kDepth / 4;
  Buffer<__half> kept(kRows * kDepth / 2), whole(kRows * kDepth), b(kColumns * kDepth);
  Buffer<unsigned> metadata(128);
  Buffer<float> d(kRows * kColumns);
  fill(kept, 7, 13);
  fill(b, 5, 11);
  for (unsigned& word : metadata) word = 0;
  for (int i = 0; i < kRows * kDepth; ++i) whole[i] = 0.0f;
  for (int row = 0; row < kRows; ++row) {
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      const int first = (row + chunk) % 3, second = first + 1 + (row * chunk) % (3 - first);
      whole[row * kDepth + 4 * chunk + first] = kept[row * kDepth / 2 + 2 * chunk];
      whole[row * kDepth + 4 * chunk + second] = kept[row * kDepth / 2 + 2 * chunk + 1];
      const int thread = row / 16 * 32 + row % 8 * 4 + 2 + chunk / 4;
      metadata[thread] |= (first | second << 2) << (row % 16 / 8 * 16 + chunk % 4 * 4);
    }
  }
  sparse<<<1, 128>>>(kept, b, metadata, d);
  finish();
  return is_product(whole, b, d, 1, 0);
}

int main() {
  Buffer<__half> a(kRows * 64), b(kColumns * 64);
  Buffer<__nv_bfloat16> a_across(kRows * 16), b_across(kColumns * 16);
  Buffer<signed char> a_bytes(kRows * 32);
  Buffer<unsigned char> b_bytes(kColumns * 32);
  Buffer<float> d(kRows * kColumns), d_across(kRows * kColumns);
  Buffer<int> d_bytes(kRows * kColumns);
  fill(a, 7, 13);
  fill(b, 5, 11);
  fill(a_across, 3, 17);
  fill(b_across, 11, 7);
  fill(a_bytes, 9, 19);
  fill(b_bytes, 13, 23);
  along_k<<<1, 128>>>(a, b, d);
  across_k<<<1, 128>>>(a_across, b_across, d_across);
  from_registers<<<1, 128>>>(a_bytes, b_bytes, d_bytes);
  finish();
  return verdict(is_product(a, b, d, 1, 0) & is_product(a_across, b_across, d_across, -1, 0) &
                 is_product(a_bytes, b_bytes, d_bytes, 1, 1) & multiplies_sparse());
}
