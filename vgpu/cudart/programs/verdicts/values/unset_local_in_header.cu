// A variable that is not set on every path is the program's, wherever it is read: the headers of CUB, of
// cooperative groups and of wmma read what they are given.  Each defect has a twin that sets the variable, or
// tells the library how many items count.
//
// build: -arch=compute_80
// case block_sum: | | block_sum
// expect block_sum: error uninitialized-read block copy
// case block_sum_g: -G | | block_sum
// expect block_sum_g: error uninitialized-read
// case block_sum_runs: | --runs 3 | block_sum
// expect block_sum_runs: error uninitialized-read block copy
// case block_scan: | | block_scan
// expect block_scan: error uninitialized-read scan copy
// case tile_sum: | | tile_sum
// expect tile_sum: error uninitialized-read tile copy
// case tile_sum_g: -G | | tile_sum
// expect tile_sum_g: error uninitialized-read
// case warp_sum: | | warp_sum
// expect warp_sum: error uninitialized-read warp copy
// case never_set: | | never_set
// expect never_set: error uninitialized-read never copy
// case branch: | | branch
// expect branch: error uninitialized-read any decides
// case product: | | product
// expect product: error uninitialized-read product copy
// case never_set_g: -G | | never_set
// expect never_set_g: error uninitialized-read
// case many: | --runs 4 | many
// expect many: error uninitialized-read many copy
// case zero: | | zero
// expect zero: clean
// case zero_g: -G | | zero
// expect zero_g: clean
// case counted: | | counted
// expect counted: clean
// case counted_g: -G | | counted
// expect counted_g: clean
// case filled_product: | | filled_product
// expect filled_product: clean
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <cstring>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>

namespace cg = cooperative_groups;
using namespace nvcuda;
using Reduce = cub::BlockReduce<float, 128>;

__global__ void block_sum(const float* in, float* out, int n) {
  __shared__ Reduce::TempStorage temp;
  const int i = blockIdx.x * 128 + threadIdx.x;
  float v;
  if (i < n) v = in[i];
  const float sum = Reduce(temp).Sum(v);  //~ block
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void block_scan(const float* in, float* out, int n) {
  using Scan = cub::BlockScan<float, 128>;
  __shared__ Scan::TempStorage temp;
  const int i = blockIdx.x * 128 + threadIdx.x;
  float v;
  if (i < n) v = in[i];
  Scan(temp).InclusiveSum(v, v);  //~ scan
  if (threadIdx.x == 127) out[blockIdx.x] = v;
}

__global__ void tile_sum(const float* in, float* out, int n) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const int i = blockIdx.x * 128 + threadIdx.x;
  float v;
  if (i < n) v = in[i];
  const float sum = cg::reduce(tile, v, cg::plus<float>());  //~ tile
  if (threadIdx.x == 96) out[blockIdx.x] = sum;
}

__global__ void warp_sum(const float* in, float* out, int n) {
  __shared__ cub::WarpReduce<float>::TempStorage temp[4];
  const int i = blockIdx.x * 128 + threadIdx.x;
  float v;
  if (i < n) v = in[i];
  const float sum = cub::WarpReduce<float>(temp[threadIdx.x / 32]).Sum(v);  //~ warp
  if (threadIdx.x == 96) out[blockIdx.x] = sum;
}

__global__ void never_set(float* out) {
  __shared__ Reduce::TempStorage temp;
  float v;
  const float sum = Reduce(temp).Sum(v);  //~ never
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void branch(const float* in, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  float v;
  if (i < n) v = in[i];
  const float most = cg::reduce(cg::tiled_partition<32>(cg::this_thread_block()), v,  //~ any
                                cg::greater<float>());
  if (most > 3) out[blockIdx.x] = 1;  //~ decides
}

// More blocks than are resident: what an earlier one has left in a register is no schedule.
__global__ void many(const float* in, float* out, int n) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  float v;
  if (i < n) v = in[i] + 1;
  const float sum = cg::reduce(cg::tiled_partition<32>(cg::this_thread_block()), v,  //~ many
                               cg::plus<float>());
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

template <bool kFilled>
__global__ void product(const half* a, float* out) {
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
  if (kFilled) wmma::fill_fragment(sum, 0.0f);
  wmma::load_matrix_sync(left, a, 16);
  wmma::load_matrix_sync(right, a, 16);
  wmma::mma_sync(sum, left, right, sum);  //~ product
  wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);
}

__global__ void zero(const float* in, float* out, int n) {
  __shared__ Reduce::TempStorage temp;
  const int i = blockIdx.x * 128 + threadIdx.x;
  float v = 0;
  if (i < n) v = in[i];
  const float sum = Reduce(temp).Sum(v);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void counted(const float* in, float* out, int n) {
  __shared__ Reduce::TempStorage temp;
  const int i = blockIdx.x * 128 + threadIdx.x;
  float v;
  if (i < n) v = in[i];
  const float sum = Reduce(temp).Sum(v, min(128, n - static_cast<int>(blockIdx.x) * 128));
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

int main(int, char** arguments) {
  const int n = 1000;
  float *in, *out, host[256];
  cudaMalloc(&in, n * 4);
  cudaMalloc(&out, sizeof host);
  cudaMemset(in, 0, n * 4);
  cudaMemset(out, 0, sizeof host);
  const auto is = [&](const char* name) { return std::strcmp(arguments[1], name) == 0; };
  const auto* halves = reinterpret_cast<const half*>(in);
  if (is("block_sum")) block_sum<<<8, 128>>>(in, out, n);
  if (is("block_scan")) block_scan<<<8, 128>>>(in, out, n);
  if (is("tile_sum")) tile_sum<<<8, 128>>>(in, out, n);
  if (is("many")) many<<<256, 32>>>(in, out, n);
  if (is("warp_sum")) warp_sum<<<8, 128>>>(in, out, n);
  if (is("never_set")) never_set<<<1, 128>>>(out);
  if (is("branch")) branch<<<8, 128>>>(in, out, n);
  if (is("product")) product<false><<<1, 32>>>(halves, out);
  if (is("filled_product")) product<true><<<1, 32>>>(halves, out);
  if (is("zero")) zero<<<8, 128>>>(in, out, n);
  if (is("counted")) counted<<<8, 128>>>(in, out, n);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);  //~ copy
  cudaFree(in);
  cudaFree(out);
  return 0;
}
