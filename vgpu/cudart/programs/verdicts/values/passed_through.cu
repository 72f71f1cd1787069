// Defects of a program whose values pass through code with known findings (docs/use/suppressions.md).
//
// build: -arch=compute_80
// case member: | | member
// expect member: error uninitialized-read member
// case member_g: -DWITHOUT_CUB -G | | member
// expect member_g: error uninitialized-read member
// case guarded: | | guarded
// expect guarded: error uninitialized-read guarded copy
// case scan_input: | | scan_input
// expect scan_input: error uninitialized-read
// case scan_choice: | | scan_choice
// expect scan_choice: error uninitialized-read
// expect scan_choice: error uninitialized-read
// case scan_operator: | | scan_operator
// expect scan_operator: error uninitialized-read operator
// case runs_input: | | runs_input
// expect runs_input: error uninitialized-read
// case wide_tile: | | wide_tile
// expect wide_tile: error uninitialized-read tile copy
// case copies: -DWITHOUT_CUB -arch=compute_75 | | copies
// expect copies: error data-race into
// case scan: | | scan
// expect scan: clean
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cstring>
#ifndef WITHOUT_CUB  // which takes ten seconds to compile
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>
#endif

namespace cg = cooperative_groups;

struct Pair {
  char kind;
  int first, second;
};
__device__ __noinline__ int larger(Pair pair) {
  return pair.first > pair.second ? pair.first * pair.kind : pair.second;  //~ member
}
__global__ void member(int* out, int n) {
  Pair pair;
  pair.kind = 1;
  pair.first = n;
  if (n > 100) pair.second = out[1];
  if (larger(pair) > 3) out[0] = 1;  //~ member
}

__global__ void guarded(const int* in, int* out, int n) {
  int v;
  if (threadIdx.x < n) v = in[threadIdx.x];
  out[threadIdx.x] = v;  //~ guarded
}

__global__ void wide_tile(const int* in, int* out, int n) {
  __shared__ cg::block_tile_memory<128> memory;
  auto tile = cg::tiled_partition<64>(cg::this_thread_block(memory));
  int v;
  if (threadIdx.x < n) v = in[threadIdx.x];
  const int sum = cg::reduce(tile, v, cg::plus<int>());  //~ tile
  if (tile.thread_rank() == 0) out[tile.meta_group_rank()] = sum;
}

__global__ void copies(const int* in, int* out) {
  __shared__ int both[32];
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  cg::memcpy_async(tile, both, in + 32 * tile.meta_group_rank(), sizeof both);  //~ into
  cg::wait(tile);
  __syncthreads();
  if (threadIdx.x < 32) out[threadIdx.x] = both[threadIdx.x];
}

struct Largest {
  __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};
// A real branch, which the rule for kernels that discard values is about.
struct Counted {
  int* larger;
  __device__ int operator()(int a, int b) const {
    if (a <= b) return b;
    atomicAdd(larger, 1);
    return a;
  }
};
struct Largest2 {
  int* limit;
  __device__ int operator()(int a, int b) const {
    volatile int least[8];  // in local memory
    if (limit[0] > 100) least[limit[1] % 8] = limit[2];
    if (least[limit[3] % 8] > 3) limit[4] = b;  //~ operator
    return a > b ? a : b;
  }
};

int main(int, char** arguments) {
  constexpr int kCount = 4096;
  const auto is = [&](const char* name) { return std::strcmp(arguments[1], name) == 0; };
  int *in, *out, host[128];
  void* scratch = nullptr;
  [[maybe_unused]] std::size_t bytes = 0;
  cudaMalloc(&in, kCount * sizeof(int));
  cudaMalloc(&out, 4 * kCount * sizeof(int));
  cudaMemset(out, 0, 4 * kCount * sizeof(int));
  const bool is_unwritten = is("scan_input") || is("scan_choice") || is("runs_input");
  if (!is_unwritten) cudaMemset(in, 0, kCount * sizeof(int));
  if (is("member")) member<<<1, 1>>>(out, 3);
  if (is("guarded")) guarded<<<1, 128>>>(in, out, 100);
  if (is("wide_tile")) wide_tile<<<1, 128>>>(in, out, 100);
  if (is("copies")) cudaMemset(in + 32, 1, 128);
  if (is("copies")) copies<<<1, 64>>>(in, out);
#ifndef WITHOUT_CUB
  for (int pass = 0; pass < 2; ++pass) {
    if (is("scan") || is("scan_input")) {
      cub::DeviceScan::InclusiveScan(scratch, bytes, in, out, Largest(), kCount);
    }
    if (is("scan_choice")) {
      cub::DeviceScan::InclusiveScan(scratch, bytes, in, out, Counted{out + kCount}, kCount);
    }
    if (is("scan_operator")) {
      cub::DeviceScan::InclusiveScan(scratch, bytes, in, out, Largest2{in}, kCount);
    }
    if (is("runs_input")) {
      cub::DeviceRunLengthEncode::NonTrivialRuns(scratch, bytes, in, out, out + kCount,
                                                 out + 2 * kCount, kCount);
    }
    if (pass == 0 && bytes != 0) cudaMalloc(&scratch, bytes);
  }
#endif
  if (is("scan_choice")) return 0;
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);  //~ copy
  cudaFree(scratch);
  cudaFree(in);
  cudaFree(out);
  return 0;
}
