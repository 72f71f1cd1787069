// Copies of tiles by tensor maps: what the asynchronous proxy does, and what lies under a map.
#include <cuda.h>

#include <cstdint>

#include "vgpu/litmus/async_ptx.hpp"
#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::unwritten;
using warpcheck::litmus::zeroed;

#define TILE_IN(shared, map, x, y, object)                                                     \
  asm volatile(                                                                                \
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], " \
      "[%1, {%2, %3}], [%4];" ::"r"(ADDRESS_OF(shared)),                                       \
      "l"(map), "r"(x), "r"(y), "r"(ADDRESS_OF(object))                                        \
      : "memory")
#define TILE_OUT(map, x, y, shared)                                                         \
  asm volatile(                                                                             \
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" :: \
          "l"(map),                                                                         \
      "r"(x), "r"(y), "r"(ADDRESS_OF(shared))                                               \
      : "memory")

constexpr int kWidth = 32, kHeight = 8;  // of the tensor
constexpr int kBytes = 8 * 4 * 4;        // of a tile: 8 x 4 ints

// rows: that the map says there are
CUtensorMap map_of(int* tensor, int rows = kHeight) {
  using Encode = decltype(&cuTensorMapEncodeTiled);
  void* encode = nullptr;
  cudaDriverEntryPointQueryResult found{};
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault,
                                   &found);
  const cuuint64_t size[] = {kWidth, static_cast<cuuint64_t>(rows)}, stride[] = {kWidth * 4};
  const cuuint32_t box[] = {8, 4}, step[] = {1, 1};
  CUtensorMap map{};
  reinterpret_cast<Encode>(encode)(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, tensor, size, stride,
                                   box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                   CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return map;
}

// Half of the tile is below the tensor.
// expect: clean
__global__ void tile_in(const __grid_constant__ CUtensorMap map, int* out) {
  __shared__ alignas(128) int s[32];
  __shared__ unsigned long long object;
  const int t = threadIdx.x;
  if (t == 0) {
    INIT_OBJECT(&object, 1);
    EXPECT(&object, kBytes);
    TILE_IN(s, &map, 8, kHeight - 2, &object);
  }
  __syncthreads();
  WAIT(".shared", &object, 0);
  out[t] = s[31 - t];
}
LITMUS(tile_in) { tile_in<<<1, 32>>>(map_of(zeroed<int>(kWidth * kHeight)), zeroed<int>(32)); }

// expect: data-race shared
__global__ void tile_not_waited_for(const __grid_constant__ CUtensorMap map, int* out) {
  __shared__ alignas(128) int s[32];
  __shared__ unsigned long long object;
  const int t = threadIdx.x;
  if (t == 0) {
    INIT_OBJECT(&object, 1);
    EXPECT(&object, kBytes);
    TILE_IN(s, &map, 8, 2, &object);            //~ write
  }
  __syncthreads();
  out[t] = s[31 - t];                           //~ read
}
LITMUS(tile_not_waited_for) {
  tile_not_waited_for<<<1, 32>>>(map_of(zeroed<int>(kWidth * kHeight)), zeroed<int>(32));
}

// expect: clean
__global__ void tile_out(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) int s[32];
  s[threadIdx.x] = threadIdx.x;
  DO("fence.proxy.async.shared::cta;");
  __syncthreads();
  if (threadIdx.x == 0) {
    TILE_OUT(&map, 8, 6, s);
    DO("cp.async.bulk.commit_group;");
    DO("cp.async.bulk.wait_group 0;");
  }
}
LITMUS(tile_out) { tile_out<<<1, 32>>>(map_of(zeroed<int>(kWidth * kHeight))); }

// expect: data-race shared
__global__ void tile_out_without_fence(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) int s[32];
  s[threadIdx.x] = threadIdx.x;                 //~ write
  __syncthreads();
  if (threadIdx.x == 0) {
    TILE_OUT(&map, 8, 2, s);                    //~ read
    DO("cp.async.bulk.commit_group;");
    DO("cp.async.bulk.wait_group 0;");
  }
}
LITMUS(tile_out_without_fence) {
  tile_out_without_fence<<<1, 32>>>(map_of(zeroed<int>(kWidth * kHeight)));
}

// Makes the map at `to` in global memory, for this thread's copies.
__device__ void make_map(CUtensorMap* to, const CUtensorMap& from) {
  for (int i = 0; i < 8; ++i) {
    reinterpret_cast<int4*>(to)[i] = reinterpret_cast<const int4*>(&from)[i];
  }
  DO("fence.proxy.tensormap::generic.release.gpu;");
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(to) : "memory");
}

// A store reads its map until its group has been waited for.
// expect: clean
__global__ void map_changed_after_store(const __grid_constant__ CUtensorMap map,
                                        CUtensorMap* changed) {
  __shared__ alignas(128) int s[32];
  s[threadIdx.x] = threadIdx.x;
  DO("fence.proxy.async.shared::cta;");
  __syncthreads();
  if (threadIdx.x == 0) {
    make_map(changed, map);
    TILE_OUT(changed, 8, 2, s);
    DO("cp.async.bulk.commit_group;");
    DO("cp.async.bulk.wait_group.read 0;");
    make_map(changed, map);
    TILE_OUT(changed, 0, 2, s);
    DO("cp.async.bulk.commit_group;");
    DO("cp.async.bulk.wait_group 0;");
  }
}
LITMUS(map_changed_after_store) {
  map_changed_after_store<<<1, 32>>>(map_of(zeroed<int>(kWidth * kHeight)),
                                     unwritten<CUtensorMap>(1));
}

// expect: data-race global
__global__ void map_changed_under_store(const __grid_constant__ CUtensorMap map,
                                        CUtensorMap* changed) {
  __shared__ alignas(128) int s[32];
  s[threadIdx.x] = threadIdx.x;
  DO("fence.proxy.async.shared::cta;");
  __syncthreads();
  if (threadIdx.x == 0) {
    make_map(changed, map);
    TILE_OUT(changed, 8, 2, s);                 //~ read
    DO("cp.async.bulk.commit_group;");
    *reinterpret_cast<int*>(changed) = 0;       //~ write
    DO("cp.async.bulk.wait_group 0;");
  }
}
LITMUS(map_changed_under_store) {
  map_changed_under_store<<<1, 32>>>(map_of(zeroed<int>(kWidth * kHeight)),
                                     unwritten<CUtensorMap>(1));
}

// Two blocks write the same columns.
// expect: data-race global
__global__ void tiles_overlap(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) int s[32];
  s[threadIdx.x] = threadIdx.x + blockIdx.x;
  DO("fence.proxy.async.shared::cta;");
  __syncthreads();
  if (threadIdx.x == 0) {
    TILE_OUT(&map, 4 * blockIdx.x, 2, s);       //~ write
    DO("cp.async.bulk.commit_group;");
    DO("cp.async.bulk.wait_group 0;");
  }
}
LITMUS(tiles_overlap) { tiles_overlap<<<2, 32>>>(map_of(zeroed<int>(kWidth * kHeight))); }

// The map has a row more than the memory.
// expect: out-of-bounds global
__global__ void tensor_beyond_its_memory(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) int s[32];
  s[threadIdx.x] = threadIdx.x;
  DO("fence.proxy.async.shared::cta;");
  __syncthreads();
  if (threadIdx.x == 0) {
    TILE_OUT(&map, 8, kHeight - 3, s);          //~ write
    DO("cp.async.bulk.commit_group;");
    DO("cp.async.bulk.wait_group 0;");
  }
}
LITMUS(tensor_beyond_its_memory) {
  tensor_beyond_its_memory<<<1, 32>>>(map_of(zeroed<int>(kWidth * kHeight), kHeight + 1));
}

// expect: misaligned-access shared
__global__ void tile_misaligned(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) int s[64];
  s[threadIdx.x + 4] = threadIdx.x;
  DO("fence.proxy.async.shared::cta;");
  __syncthreads();
  if (threadIdx.x == 0) {
    TILE_OUT(&map, 8, 2, s + 4);                //~ read
    DO("cp.async.bulk.commit_group;");
    DO("cp.async.bulk.wait_group 0;");
  }
}
LITMUS(tile_misaligned) { tile_misaligned<<<1, 32>>>(map_of(zeroed<int>(kWidth * kHeight))); }

// Bytes that nothing has encoded.
// expect: trap
__global__ void no_tensor_map(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) int s[32];
  s[threadIdx.x] = threadIdx.x;
  DO("fence.proxy.async.shared::cta;");
  __syncthreads();
  if (threadIdx.x == 0) TILE_OUT(&map, 8, 2, s);  //~ access
}
LITMUS(no_tensor_map) { no_tensor_map<<<1, 32>>>(CUtensorMap{}); }

// Where a GPU stops with an illegal instruction.
// expect: trap
__global__ void tile_before_the_tensor(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) int s[32];
  s[threadIdx.x] = threadIdx.x;
  DO("fence.proxy.async.shared::cta;");
  __syncthreads();
  if (threadIdx.x == 0) TILE_OUT(&map, 8, -1, s);  //~ access
}
LITMUS(tile_before_the_tensor) {
  tile_before_the_tensor<<<1, 32>>>(map_of(zeroed<int>(kWidth * kHeight)));
}

// expect: trap
__global__ void tile_across_chunks(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) int s[32];
  s[threadIdx.x] = threadIdx.x;
  DO("fence.proxy.async.shared::cta;");
  __syncthreads();
  if (threadIdx.x == 0) TILE_OUT(&map, 5, 2, s);  //~ access
}
LITMUS(tile_across_chunks) {
  tile_across_chunks<<<1, 32>>>(map_of(zeroed<int>(kWidth * kHeight)));
}

// What nobody has written is as undefined in shared memory.
// expect: uninitialized-read global
__global__ void undefined_tile(const __grid_constant__ CUtensorMap map, int* out) {
  __shared__ alignas(128) int s[32];
  __shared__ unsigned long long object;
  const int t = threadIdx.x;
  if (t == 0) {
    INIT_OBJECT(&object, 1);
    EXPECT(&object, kBytes);
    TILE_IN(s, &map, 8, 2, &object);            //~ read
  }
  __syncthreads();
  WAIT(".shared", &object, 0);
  if (s[t] == 7) out[t] = 1;                    //~ branch
}
LITMUS(undefined_tile) {
  undefined_tile<<<1, 32>>>(map_of(unwritten<int>(kWidth * kHeight)), zeroed<int>(32));
}
