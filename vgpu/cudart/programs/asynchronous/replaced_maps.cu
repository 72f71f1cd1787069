// One kernel works on matrices of several sizes: each block makes its tensor map of a template, as
// grouped products do, or sets all fields of zeros.  The map is changed in shared memory, and
// another warp copies it to global memory.
// arch: compute_90a
// MUTANT: the map is copied before the thread that changes it has done so.
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

constexpr int kTileWidth = 8, kTileHeight = 4, kTile = kTileWidth * kTileHeight;
constexpr ptx::n32_t<128> kMapBytes;

struct Matrix {
  int* data;
  int width, height;
};

#pragma nv_diag_suppress static_var_with_dynamic_init

// The last tile of each matrix, of which a part is outside; of others every second row.
__global__ void last_tiles(const __grid_constant__ CUtensorMap model, const Matrix* matrices,
                           CUtensorMap* maps, int* out) {
  __shared__ alignas(128) CUtensorMap map;
  __shared__ alignas(128) int tile[kTile];
  __shared__ BlockBarrier barrier;
  const Matrix matrix = matrices[blockIdx.x];
  const int t = threadIdx.x;
  if (t == 0) {
    init(&barrier, blockDim.x);
    cde::fence_proxy_async_shared_cta();
    if (blockIdx.x < 2) {
      map = model;
    } else {
      map = CUtensorMap{};
      ptx::tensormap_replace_box_dim(ptx::space_shared, &map, ptx::n32_t<0>{}, kTileWidth);
      ptx::tensormap_replace_box_dim(ptx::space_shared, &map, ptx::n32_t<1>{}, kTileHeight);
      ptx::tensormap_replace_element_size(ptx::space_shared, &map, ptx::n32_t<0>{}, 1);
      ptx::tensormap_replace_element_size(ptx::space_shared, &map, ptx::n32_t<1>{}, 1);
      ptx::tensormap_replace_interleave_layout(ptx::space_shared, &map, ptx::n32_t<0>{});
    }
    ptx::tensormap_replace_global_address(ptx::space_shared, &map, matrix.data);
    ptx::tensormap_replace_global_dim(ptx::space_shared, &map, ptx::n32_t<0>{}, matrix.width);
    ptx::tensormap_replace_global_dim(ptx::space_shared, &map, ptx::n32_t<1>{}, matrix.height);
    ptx::tensormap_replace_global_stride(ptx::space_shared, &map, ptx::n32_t<0>{},
                                         matrix.width * sizeof(int));
    if (blockIdx.x % 2 != 0) {
      ptx::tensormap_replace_element_size(ptx::space_shared, &map, ptx::n32_t<1>{}, 2);
      ptx::tensormap_replace_box_dim(ptx::space_shared, &map, ptx::n32_t<1>{}, 2 * kTileHeight);
    }
    ptx::tensormap_replace_rank(ptx::space_shared, &map, 1);
    ptx::tensormap_replace_elemtype(ptx::space_shared, &map, ptx::n32_t<3>{});
    ptx::tensormap_replace_swizzle_mode(ptx::space_shared, &map, ptx::n32_t<0>{});
    ptx::tensormap_replace_fill_mode(ptx::space_shared, &map, ptx::n32_t<0>{});  //~
  }
#ifndef MUTANT
  __syncthreads();
#endif
  CUtensorMap* const mine = maps + blockIdx.x;
  if (t >= 32) {
    ptx::tensormap_cp_fenceproxy(ptx::sem_release, ptx::scope_gpu, mine, &map, kMapBytes);  //~
  }
  __syncthreads();
  BlockBarrier::arrival_token token;
  if (t == 0) {
    ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, ptx::scope_gpu, mine, kMapBytes);
    cde::cp_async_bulk_tensor_2d_global_to_shared(&tile, mine, matrix.width - 4, matrix.height - 3,
                                                  barrier);
    token = cuda::device::barrier_arrive_tx(barrier, 1, sizeof tile);
  } else {
    token = barrier.arrive();
  }
  barrier.wait(std::move(token));
  if (t < kTile) out[blockIdx.x * kTile + t] = tile[t];
}

CUtensorMap model() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  require(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                           cudaEnableDefault, &found));
  alignas(16) static int nothing[kTile];
  const cuuint64_t size[] = {kTileWidth, kTileHeight}, stride[] = {kTileWidth * sizeof(float)};
  const cuuint32_t box[] = {kTileWidth, kTileHeight}, step[] = {1, 1};
  CUtensorMap map;
  const CUresult result = reinterpret_cast<Encode>(function)(
      &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, nothing, size, stride, box, step,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_32B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
  if (result != CUDA_SUCCESS) std::exit(1);
  return map;
}

int main() {
  const int count = 4;
  Buffer<Matrix> matrices(count);
  Buffer<CUtensorMap> maps(count);
  Buffer<int> out(count * kTile), data(count * 64 * 64);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<int>(i);
  for (int i = 0; i < count; ++i) matrices[i] = {data + i * 64 * 64, 16 + 8 * i, 9 + 5 * i};
  last_tiles<<<count, 64>>>(model(), matrices, maps, out);
  finish();
  bool is_right = true;
  for (int block = 0; block < count; ++block) {
    const Matrix& matrix = matrices[block];
    for (int i = 0; i < kTile; ++i) {
      const int x = matrix.width - 4 + i % kTileWidth;
      const int y = matrix.height - 3 + i / kTileWidth * (1 + block % 2);
      const bool is_inside = x < matrix.width && y < matrix.height;
      is_right &= out[block * kTile + i] == (is_inside ? matrix.data[y * matrix.width + x] : 0);
    }
  }
  return verdict(is_right);
}
