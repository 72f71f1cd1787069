// A warp copies a tensor map to global memory by tensormap.cp_fenceproxy, which is one operation of the
// whole warp: what any lane does after it comes after the whole copy, also for those that the lane tells.
// Plain stores need a release fence, and the acquire fence is for the map that the copy uses.
// A write by a lane just before it is a note: no lane begins the copy before all have come to it.
// build: -gencode arch=compute_90a,code=compute_90a -lcuda
// case lane: | | lane
// expect lane: clean
// prints lane: 41
// case elected: | | elected
// expect elected: clean
// prints elected: 41
// case held: | --strategy random --runs 8 | elected
// expect held: clean
// case not_written: | | not_written
// expect not_written: note data-race change copied
// case other_words: | | other_words
// expect other_words: error data-race word other_word
// case not_acquired: | | not_acquired
// expect not_acquired: error data-race copied tile
// case acquired_other: | | acquired_other
// expect acquired_other: error data-race copied tile
// case stored: | | stored
// expect stored: clean
// prints stored: 41
// case not_released: | | not_released
// expect not_released: error data-race stores tile
// case lane_unoptimized: -G | | lane
// expect lane_unoptimized: clean
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda.h>

enum Kind { lane, elected, not_written, other_words, not_acquired, acquired_other, stored, not_released };

__device__ unsigned shared_address(const void* pointer) {
  return (unsigned)__cvta_generic_to_shared(pointer);
}

__global__ void load(const __grid_constant__ CUtensorMap map, CUtensorMap* copy, const int* other,
                     int* out, Kind kind) {
  __shared__ alignas(128) CUtensorMap changed;
  __shared__ alignas(128) int tile[32];
  __shared__ alignas(8) uint64_t object;
  __shared__ volatile int ready;
  __shared__ int words[32];
  const unsigned m = shared_address(&changed), b = shared_address(&object);
  const int t = threadIdx.x;
  if (t < 32) ((int*)&changed)[t] = ((const int*)&map)[t];
  if (t == 0) ready = 0;
  __syncthreads();
  if (t == 0) {
    asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(m), "l"(other) : "memory");  //~ change
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\tfence.mbarrier_init.release.cluster;" ::"r"(b) : "memory");
  }
  if (kind != not_written) __syncwarp();
  if (t < 32) {
    words[t] = t;  //~ word
    if (kind >= stored) {
      ((volatile int*)copy)[t] = ((const int*)&changed)[t];  //~ stores
      if (kind == stored) asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
      __syncwarp();
    } else {
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(copy), "r"(m) : "memory");  //~ copied
    }
    if (kind == other_words) out[t] = words[31 - t];  //~ other_word
    if (t == 7) {
      if (kind == elected) __threadfence_block();
      ready = 1;
    }
  }
  const int loads = kind == elected ? 32 : 0;
  if (t == loads) {
    if (kind == elected) {
      while (ready == 0) {}
      __threadfence_block();
    }
    const CUtensorMap* const acquired = kind == acquired_other ? copy + 1 : copy;
    if (kind != not_acquired) asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(acquired) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" ::"r"(b) : "memory");
    asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3}], [%2];" ::"r"(shared_address(tile)), "l"(copy), "r"(b), "r"(0) : "memory");  //~ tile
    asm volatile("{ .reg .pred p;\n\tWAITS: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n\t@!p bra WAITS; }" ::"r"(b) : "memory");
  }
  __syncthreads();
  if (t < 32) out[32 + t] = tile[t];
}

int main(int, char** arguments) {
  constexpr const char* kNames[] = {"lane", "elected", "not_written", "other_words", "not_acquired", "acquired_other", "stored", "not_released"};
  int *first, *second, *out, values[32];
  CUtensorMap map, *copy;
  cudaMalloc(&first, 128);
  cudaMalloc(&second, 128);
  cudaMalloc(&out, 256);
  cudaMalloc(&copy, 2 * sizeof map);
  for (int i = 0; i < 32; ++i) values[i] = 10 + i;
  cudaMemcpy(second, values, 128, cudaMemcpyHostToDevice);
  cudaMemset(first, 0, 128);
  const cuuint64_t sizes[] = {32}, strides[] = {0};
  const cuuint32_t box[] = {32}, step[] = {1};
  cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 1, first, sizes, strides, box, step,
                         CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                         CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  cudaMemcpy(copy, &map, sizeof map, cudaMemcpyHostToDevice);
  for (int kind = 0; kind < 8; ++kind) {
    if (std::strcmp(arguments[1], kNames[kind]) == 0) load<<<1, 64>>>(map, copy, second, out, (Kind)kind);
  }
  cudaMemcpy(values, out + 32, 128, cudaMemcpyDeviceToHost);
  std::printf("%d\n", values[31]);
  cudaFree(first);
  cudaFree(second);
  cudaFree(out);
  cudaFree(copy);
  return 0;
}
