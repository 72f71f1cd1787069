// What the pipelines here have in common: mbarriers, copies of tiles and fences as macros, so that
// a finding names the line where one stands; tensor maps of matrices; and the defect that a run
// has.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <cstring>

#include "../check.hpp"

// A run has the defect that its argument names.  Kernels get its number in `defect`.
#define IF(name) if (defect == name)
#define UNLESS(name) if (defect != name)

#define DO(text) asm volatile(text ::: "memory")
#define ADDRESS(shared) static_cast<std::uint32_t>(__cvta_generic_to_shared(shared))

#define INIT(object, count) \
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(object), "r"(count) : "memory")
#define ARRIVE(object) \
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(object) : "memory")
#define EXPECT(object, bytes)                                                                     \
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(object), "r"(bytes) \
               : "memory")
// Arrives at the mbarrier at the same place in the block of that rank.
#define ARRIVE_THERE(object, rank)                                                      \
  asm volatile(                                                                         \
      "{.reg .b32 there; mapa.shared::cluster.u32 there, %0, %1;\n"                     \
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];}" ::"r"(object), \
      "r"(rank)                                                                         \
      : "memory")
#define WAIT(object, parity)                                                                 \
  asm volatile(                                                                              \
      "{.reg .pred done;\nAGAIN:\n"                                                          \
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1, 0x989680;\n" \
      "@!done bra AGAIN;\n}" ::"r"(object),                                                  \
      "r"(parity)                                                                            \
      : "memory")

#define TILE_IN(shared, map, x, y, object)                                               \
  asm volatile(                                                                          \
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes" \
      ".L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared),                   \
      "l"(map), "r"(x), "r"(y), "r"(object), "l"(0x14f0000000000000)                     \
      : "memory")
#define TILE_TO_BOTH(shared, map, x, y, object)                                          \
  asm volatile(                                                                          \
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes" \
      ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared),               \
      "l"(map), "r"(x), "r"(y), "r"(object), "h"(static_cast<std::uint16_t>(3))          \
      : "memory")
#define TILE_OUT(map, x, y, shared)                                                             \
  asm volatile(                                                                                 \
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"( \
          map),                                                                                 \
      "r"(x), "r"(y), "r"(shared)                                                               \
      : "memory")
#define PREFETCH_MAP(map) asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory")

__device__ inline bool is_elected() {
  std::uint32_t elected;
  asm volatile("{.reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p;}" : "=r"(elected));
  return elected != 0;
}
__device__ inline std::uint32_t cluster_rank() {
  std::uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// A stage of a ring, and the parity of its round.
template <int kStages>
struct Ring {
  std::uint32_t stage = 0, parity = 0;
  __device__ void next() {
    if (++stage == kStages) stage = 0, parity ^= 1;
  }
};

// A matrix of rows x columns in global memory, and boxes of it.
inline CUtensorMap map_of(CUtensorMapDataType type, std::size_t bytes, void* data, int rows,
                          int columns, int box_rows, int box_columns, CUtensorMapSwizzle swizzle) {
  using Encode = decltype(&cuTensorMapEncodeTiled);
  void* encode = nullptr;
  cudaDriverEntryPointQueryResult found{};
  require(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000,
                                           cudaEnableDefault, &found));
  const cuuint64_t size[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t stride[] = {columns * bytes};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(box_columns),
                            static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t step[] = {1, 1};
  CUtensorMap map{};
  const CUresult result = reinterpret_cast<Encode>(encode)(
      &map, type, 2, data, size, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
      CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) std::exit(1);
  return map;
}

// Returns the number of the defect that the program's argument names; 0: none.
template <std::size_t kNames>
int defect_of(int count, char** arguments, const char* const (&names)[kNames]) {
  for (int i = 1; count > 1 && i < static_cast<int>(kNames); ++i) {
    if (std::strcmp(arguments[1], names[i]) == 0) return i;
  }
  return 0;
}
