// Tiles of tensors that tensor maps describe: clipped at edges, swizzled, with steps, reduced, and
// for all blocks of a cluster; maps as parameters, in constant and in global memory.
// arch: compute_90
// MUTANT: no proxy fence before a tile is copied back.
// expect: data-race
#include <cuda.h>
#include <cuda/barrier>
#include <cuda/ptx>
#include <utility>

#include "check.hpp"

namespace cde = cuda::device::experimental;
namespace ptx = cuda::ptx;
using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;
using Encode = decltype(&cuTensorMapEncodeTiled);

constexpr int kWidth = 40, kHeight = 20;  // of the matrix
constexpr int kTileWidth = 16, kTileHeight = 8;

#pragma nv_diag_suppress static_var_with_dynamic_init

// The first thread copies so many bytes to shared memory, and all wait for them.
template <class Copy>
__device__ void bring(BlockBarrier& barrier, std::size_t bytes, Copy copy) {
  if (threadIdx.x == 0) {
    init(&barrier, blockDim.x);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  BlockBarrier::arrival_token token;
  if (threadIdx.x == 0) {
    copy();
    token = cuda::device::barrier_arrive_tx(barrier, 1, bytes);
  } else {
    token = barrier.arrive();
  }
  barrier.wait(std::move(token));
}

// A tile of the matrix, each element greater by one.
__global__ void add_one(const __grid_constant__ CUtensorMap map, int x, int y) {
  __shared__ alignas(128) int tile[kTileHeight][kTileWidth];
  __shared__ BlockBarrier barrier;
  bring(barrier, sizeof tile,
        [&] { cde::cp_async_bulk_tensor_2d_global_to_shared(&tile, &map, x, y, barrier); });
  for (int i = threadIdx.x; i < kTileWidth * kTileHeight; i += blockDim.x) {
    (&tile[0][0])[i] += 1;  //~
  }
#ifndef MUTANT
  cde::fence_proxy_async_shared_cta();
#endif
  __syncthreads();
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_tensor_2d_shared_to_global(&map, x, y, &tile);  //~
    cde::cp_async_bulk_commit_group();
    cde::cp_async_bulk_wait_group_read<0>();
  }
}

// 8 rows of 128 bytes, columns of which are read without bank conflicts: chunk x of row y is at
// x ^ y.
__global__ void transpose(const __grid_constant__ CUtensorMap map, int4* out) {
  __shared__ alignas(1024) int4 tile[8][8];
  __shared__ BlockBarrier barrier;
  bring(barrier, sizeof tile,
        [&] { cde::cp_async_bulk_tensor_2d_global_to_shared(&tile, &map, 0, 0, barrier); });
  const int x = threadIdx.x % 8, y = threadIdx.x / 8;
  out[x * 8 + y] = tile[y][x ^ y];
}

__constant__ CUtensorMap constant_map;

// A box of 8 x 2 x 2 floats, every third row and every second plane of a volume.
__global__ void sample(const CUtensorMap* map, float* out, int z) {
  __shared__ alignas(128) float box[32];
  __shared__ BlockBarrier barrier;
  bring(barrier, sizeof box, [&] {
    const CUtensorMap* const from = map == nullptr ? &constant_map : map;
    cde::cp_async_bulk_tensor_3d_global_to_shared(&box, from, -4, 1, z, barrier);
  });
  out[threadIdx.x] = box[threadIdx.x];
}

__global__ void add_up(const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) unsigned ones[kTileHeight * kTileWidth];
  for (unsigned& each : ones) each = 1;
  cde::fence_proxy_async_shared_cta();
  if (threadIdx.x == 0) {
    const int at[2] = {kWidth - 8, static_cast<int>(blockIdx.x)};
    ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, &map, at,
                                     ones);
    cde::cp_async_bulk_commit_group();
    cde::cp_async_bulk_wait_group_read<0>();
  }
}

// The first block of a cluster brings a row to both.
__global__ void __cluster_dims__(2, 1, 1) share(const __grid_constant__ CUtensorMap map, int* out) {
  __shared__ alignas(128) int row[32];
  __shared__ alignas(8) unsigned long long object;
  const auto barrier = static_cast<unsigned>(__cvta_generic_to_shared(&object));
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(row));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
    asm volatile(
        "{.reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], 128;}" ::"r"(barrier)
        : "memory");
  }
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
  if (threadIdx.x == 0 && blockIdx.x % 2 == 0) {
    asm volatile(
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%2}], [%3], %4;" ::"r"(to),
        "l"(&map), "r"(8), "r"(barrier), "h"(static_cast<unsigned short>(3))
        : "memory");
  }
  for (int done = 0; done == 0;) {
    asm volatile(
        "{.reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; "
        "selp.b32 %0, 1, 0, p;}"
        : "=r"(done)
        : "r"(barrier)
        : "memory");
  }
  out[blockIdx.x * 32 + threadIdx.x] = row[threadIdx.x];
}

struct Tensor {
  CUtensorMapDataType type;
  int rank;
  void* data;
  cuuint64_t size[3];
  cuuint64_t stride[2];
  cuuint32_t box[3];
  cuuint32_t step[3] = {1, 1, 1};
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
};

CUtensorMap encoded(const Tensor& tensor) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  require(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                           cudaEnableDefault, &found));
  CUtensorMap map;
  const CUresult result = reinterpret_cast<Encode>(function)(
      &map, tensor.type, tensor.rank, tensor.data, tensor.size, tensor.stride, tensor.box,
      tensor.step, CU_TENSOR_MAP_INTERLEAVE_NONE, tensor.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) std::exit(1);
  return map;
}

bool clips_at_edges() {
  Buffer<int> matrix(kWidth * kHeight);
  for (int i = 0; i < kWidth * kHeight; ++i) matrix[i] = i;
  const CUtensorMap map = encoded({CU_TENSOR_MAP_DATA_TYPE_INT32,
                                   2,
                                   matrix,
                                   {kWidth, kHeight},
                                   {kWidth * sizeof(int)},
                                   {kTileWidth, kTileHeight}});
  add_one<<<1, 32>>>(map, 8, 4);
  add_one<<<1, 32>>>(map, 0, 15);
  finish();
  bool is_right = true;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const bool in_first = x >= 8 && x < 24 && y >= 4 && y < 12, in_second = x < 16 && y >= 15;
      is_right &= matrix[y * kWidth + x] == y * kWidth + x + in_first + in_second;
    }
  }
  return is_right;
}

bool swizzles() {
  Buffer<int> rows(256), columns(256);
  for (int i = 0; i < 256; ++i) rows[i] = i;
  const CUtensorMap map = encoded({CU_TENSOR_MAP_DATA_TYPE_INT32,
                                   2,
                                   rows,
                                   {32, 8},
                                   {128},
                                   {32, 8},
                                   {1, 1, 1},
                                   CU_TENSOR_MAP_SWIZZLE_128B});
  transpose<<<1, 64>>>(map, reinterpret_cast<int4*>(static_cast<int*>(columns)));
  finish();
  bool is_right = true;
  for (int i = 0; i < 256; ++i) {
    const int x = i / 32, y = i / 4 % 8;
    is_right &= columns[i] == y * 32 + x * 4 + i % 4;
  }
  return is_right;
}

bool takes_steps() {
  constexpr int kX = 12, kY = 5, kZ = 4;
  Buffer<float> volume(kX * kY * kZ);
  for (int i = 0; i < kX * kY * kZ; ++i) volume[i] = i + 1;
  const CUtensorMap map = encoded({CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                                   3,
                                   volume,
                                   {kX, kY, kZ},
                                   {kX * sizeof(float), kX * kY * sizeof(float)},
                                   {8, 6, 3},
                                   {1, 3, 2}});
  require(cudaMemcpyToSymbol(constant_map, &map, sizeof map));
  CUtensorMap* in_global = nullptr;
  require(cudaMalloc(&in_global, sizeof map));
  require(cudaMemcpy(in_global, &map, sizeof map, cudaMemcpyHostToDevice));
  Buffer<float> boxes(64);
  sample<<<1, 32>>>(nullptr, boxes, 0);
  sample<<<1, 32>>>(in_global, boxes + 32, 1);
  finish();
  require(cudaFree(in_global));
  bool is_right = true;
  for (int i = 0; i < 64; ++i) {
    const int x = i % 8 - 4, y = 1 + i / 8 % 2 * 3, z = i / 32 + i / 16 % 2 * 2;
    const bool is_inside = x >= 0 && y < kY && z < kZ;
    is_right &= boxes[i] == (is_inside ? (z * kY + y) * kX + x + 1 : 0);
  }
  return is_right;
}

bool reduces() {
  Buffer<unsigned> sums(kWidth * kHeight);
  const CUtensorMap map = encoded({CU_TENSOR_MAP_DATA_TYPE_UINT32,
                                   2,
                                   sums,
                                   {kWidth, kHeight},
                                   {kWidth * sizeof(int)},
                                   {kTileWidth, kTileHeight}});
  add_up<<<3, 1>>>(map);
  finish();
  bool is_right = true;
  for (int y = 0; y < kHeight; ++y) {
    unsigned expected = 0;
    for (int block = 0; block < 3; ++block) expected += y >= block && y < block + kTileHeight;
    for (int x = 0; x < kWidth; ++x) {
      is_right &= sums[y * kWidth + x] == (x >= kWidth - 8 ? expected : 0);
    }
  }
  return is_right;
}

bool multicasts() {
  Buffer<int> row(64), copies(64);
  for (int i = 0; i < 64; ++i) row[i] = i;
  const CUtensorMap map = encoded({CU_TENSOR_MAP_DATA_TYPE_INT32, 1, row, {64}, {}, {32}});
  share<<<2, 32>>>(map, copies);
  finish();
  bool is_right = true;
  for (int i = 0; i < 64; ++i) is_right &= copies[i] == 8 + i % 32;
  return is_right;
}

int main() {
  return verdict(clips_at_edges() & swizzles() & takes_steps() & reduces() & multicasts());
}
