// What a load by a tensor map makes of elements where cuda.h leaves it open: the NaN outside of a
// tensor, tf32, subnormals, and rows that are shorter than what swizzling stays within.  An H200
// prints the same.
// arch: compute_90
// prints: nan f16: 7ff77ff7
// prints: nan bf16: 7ff77ff7
// prints: nan f32: 7ff77ff7
// prints: nan f64: 7ff77ff7 7ff77ff7
// prints: f32 ftz: 007fffff 80000001 00800000 7fc12345
// prints: tf32: 3f800000 3f804000 3f802000 7fffe000 7f800000 7f800000 00000000 80000000
// prints: tf32 ftz: 00800000 80000000 3f802000 7f800000
// prints: rows of 16 bytes, swizzled by 32: 0 8 16 24 36 44 52 60
// prints: rows of 32 bytes, swizzled by 128: 0 36 72 108 144 180 216 252
#include <cuda.h>

#include <cstdint>
#include <vector>

#include "check.hpp"

constexpr int kWords = 512;

// Brings a box to shared memory, and all of that to `out`.
__global__ void bring(const __grid_constant__ CUtensorMap map, int x, unsigned bytes,
                      std::uint32_t* out) {
  __shared__ alignas(1024) std::uint32_t box[kWords];
  __shared__ std::uint64_t object;
  const auto barrier = static_cast<unsigned>(__cvta_generic_to_shared(&object));
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(box));
  for (int i = threadIdx.x; i < kWords; i += blockDim.x) box[i] = 0xeeeeeeee;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile(
        "{.reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1;}\n"
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%2], "
        "[%3, {%4, 0}], [%0];" ::"r"(barrier),
        "r"(bytes), "r"(to), "l"(&map), "r"(x)
        : "memory");
  }
  for (int done = 0; done == 0;) {
    asm volatile(
        "{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p;}"
        : "=r"(done)
        : "r"(barrier)
        : "memory");
  }
  for (int i = threadIdx.x; i < kWords; i += blockDim.x) out[i] = box[i];
}

struct Box {
  CUtensorMapDataType type;
  unsigned bytes;          // of an element
  unsigned columns, rows;  // of the tensor, and of the box
  int x = 0;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  bool nan = false;
};

std::vector<std::uint32_t> brought(const Box& box, const std::vector<std::uint32_t>& words) {
  Buffer<std::uint32_t> tensor(1024), out(kWords);
  for (std::size_t i = 0; i < words.size(); ++i) tensor[i] = words[i];
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  require(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                           cudaEnableDefault, &found));
  const cuuint64_t size[] = {box.columns, box.rows}, stride[] = {box.columns * box.bytes};
  const cuuint32_t extent[] = {box.columns, box.rows}, step[] = {1, 1};
  CUtensorMap map;
  const CUresult result = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function)(
      &map, box.type, 2, tensor, size, stride, extent, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
      box.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
      box.nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
              : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) std::exit(1);
  bring<<<1, 32>>>(map, box.x, box.columns * box.rows * box.bytes, out);
  finish();
  return {out.begin(), out.end()};
}

void print(const char* name, const std::vector<std::uint32_t>& words, int count) {
  std::printf("%s:", name);
  for (int i = 0; i < count; ++i) std::printf(" %08x", words[i]);
  std::puts("");
}

// Where the first words of the rows are.
void print_rows(const char* name, unsigned columns, CUtensorMapSwizzle swizzle) {
  std::vector<std::uint32_t> words(columns * 8);
  for (unsigned i = 0; i < words.size(); ++i) words[i] = i;
  const auto box = brought({CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, columns, 8, 0, swizzle}, words);
  std::printf("%s:", name);
  for (unsigned row = 0; row < 8; ++row) {
    int place = -1;
    for (int i = 0; i < kWords; ++i) place = box[i] == row * columns ? i : place;
    std::printf(" %d", place);
  }
  std::puts("");
}

int main() {
  const auto nan = [](CUtensorMapDataType type, unsigned bytes) {
    return brought({type, bytes, 16 / bytes, 1, -16, CU_TENSOR_MAP_SWIZZLE_NONE, true}, {});
  };
  print("nan f16", nan(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2), 1);
  print("nan bf16", nan(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2), 1);
  print("nan f32", nan(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4), 1);
  print("nan f64", nan(CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8), 2);
  print("f32 ftz",
        brought({CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ, 4, 4, 1},
                {0x007fffff, 0x80000001, 0x00800000, 0x7fc12345}),
        4);
  print("tf32",
        brought({CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 4, 8, 1},
                {0x3f801000, 0x3f803000, 0x3f801001, 0x7fc12345, 0x7f800000, 0x7f7fffff, 0x00000001,
                 0x80000001}),
        8);
  print("tf32 ftz",
        brought({CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ, 4, 4, 1},
                {0x007fffff, 0x80000001, 0x3f801001, 0x7f7fffff}),
        4);
  print_rows("rows of 16 bytes, swizzled by 32", 4, CU_TENSOR_MAP_SWIZZLE_32B);
  print_rows("rows of 32 bytes, swizzled by 128", 8, CU_TENSOR_MAP_SWIZZLE_128B);
  return verdict(true);
}
