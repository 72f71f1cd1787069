// Tensor maps of the mode im2col: a copy takes pixels for one place in the filter of a convolution,
// from all images of a batch; what lies outside an image is zero.
// build: -arch=compute_90
// case one_dimension: | | 0
// expect one_dimension: clean
// prints one_dimension: right
// case two_dimensions: | | 1
// expect two_dimensions: clean
// prints two_dimensions: right
// case three_dimensions: | | 2
// expect three_dimensions: clean
// prints three_dimensions: right
// case strided: | | 3
// expect strided: clean
// prints strided: right
// case swizzled: | | 4
// expect swizzled: clean
// prints swizzled: right
// case stored: | | 5
// expect stored: error trap store
// says stored: writes by a tensor map of the mode im2col
// prints stored: right
// case past_the_batch: | | 6
// expect past_the_batch: clean
// prints past_the_batch: right
// case too_small: | | 7
// expect too_small: error out-of-bounds copy
// expect too_small: error uninitialized-read
// case other_mode: | | 8
// expect other_mode: error trap copy
// says other_mode: (1) copies in the mode im2col, and the tensor map is of the mode tile
// case unwritten: | | 9
// expect unwritten: error uninitialized-read
// case wrong_corners: | | 10
// expect wrong_corners: note api-error encode
// prints wrong_corners: right
// case strided_images: | | 11
// expect strided_images: clean
// prints strided_images: right
#include <cuda.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kChannels = 8, kPixels = 24;  // of a copy; floats
using Encode = decltype(&cuTensorMapEncodeIm2col);
using EncodeTiled = decltype(&cuTensorMapEncodeTiled);

struct At {
  int c, w, h, d, n;          // the channel, the base of the filter, the image
  unsigned short ow, oh, od;  // the place in the filter
};

template <int Rank>
__device__ void bring(unsigned to, const CUtensorMap* map, unsigned barrier, At at) {
  const auto [c, w, h, d, n, ow, oh, od] = at;
  if constexpr (Rank == 3) {
    asm volatile(  //
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%2, %3, %4}], [%5], {%6};" ::"r"(to),
        "l"(map), "r"(c), "r"(w), "r"(n), "r"(barrier), "h"(ow)
        : "memory");
  } else if constexpr (Rank == 4) {
    asm volatile(  //
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(to),
        "l"(map), "r"(c), "r"(w), "r"(h), "r"(n), "r"(barrier), "h"(ow), "h"(oh)  //~ copy
        : "memory");
  } else {
    asm volatile(  //
        "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%2, %3, %4, %5, %6}], [%7], {%8, %9, %10};" ::"r"(to),
        "l"(map), "r"(c), "r"(w), "r"(h), "r"(d), "r"(n), "r"(barrier), "h"(ow), "h"(oh), "h"(od)
        : "memory");
  }
}

template <int Rank>
__global__ void gather(const __grid_constant__ CUtensorMap map, At at, float* out) {
  __shared__ alignas(1024) float tile[kPixels * kChannels];
  __shared__ alignas(8) unsigned long long object;
  const auto barrier = static_cast<unsigned>(__cvta_generic_to_shared(&object));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile(
        "{.reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], %1;}" ::"r"(barrier),
        "r"(static_cast<unsigned>(sizeof tile))
        : "memory");
    bring<Rank>(static_cast<unsigned>(__cvta_generic_to_shared(tile)), &map, barrier, at);
  }
  __syncthreads();
  for (int done = 0; done == 0;) {
    asm volatile(
        "{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;"
        " selp.b32 %0, 1, 0, p;}"
        : "=r"(done)
        : "r"(barrier)
        : "memory");
  }
  for (int i = threadIdx.x; i < kPixels * kChannels; i += blockDim.x) out[i] = tile[i];
}

__global__ void scatter(const __grid_constant__ CUtensorMap map, At at) {
  __shared__ alignas(128) float tile[kPixels * kChannels];
  for (int i = threadIdx.x; i < kPixels * kChannels; i += blockDim.x) tile[i] = 1000 + i;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    const auto from = static_cast<unsigned>(__cvta_generic_to_shared(tile));
    asm volatile(
        "cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group"
        " [%0, {%1, %2, %3, %4}], [%5];" ::"l"(&map),
        "r"(at.c), "r"(at.w), "r"(at.h), "r"(at.n), "r"(from)  //~ store
        : "memory");
    asm volatile("cp.async.bulk.commit_group;\n cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

// The batch of images, and what a copy takes of it, by the definition.
struct Batch {
  int rank, channels = 16, size[3] = {1, 1, 1}, images = 2, step = 1;  // size: width, height, depth
  int image_step = 1;
  int lower[3] = {0, 0, 0}, upper[3] = {0, 0, 0};
  [[nodiscard]] int elements() const {
    return channels * size[0] * size[1] * size[2] * images;
  }
  [[nodiscard]] int index(int c, const int* at, int n) const {
    return (((n * size[2] + at[2]) * size[1] + at[1]) * size[0] + at[0]) * channels + c;
  }
  // Calls visit(number of the pixel, its index or -1, channel).
  template <class Visit>
  void for_each(At from, Visit visit) const {
    int base[3] = {from.w, from.h, from.d}, n = from.n;
    const int offset[3] = {from.ow, from.oh, from.od};
    for (int pixel = 0; pixel < kPixels; ++pixel) {
      int at[3];
      bool is_inside = n >= 0 && n < images;
      for (int i = 0; i < 3; ++i) {
        at[i] = base[i] + offset[i];
        is_inside &= at[i] >= 0 && at[i] < size[i];
      }
      for (int c = 0; c < kChannels; ++c) {
        const bool is_channel = from.c + c < channels;
        visit(pixel, is_inside && is_channel ? index(from.c + c, at, n) : -1, c);
      }
      int i = 0;
      for (; i < rank - 2; ++i) {
        base[i] += step;
        if (base[i] <= size[i] - 1 + upper[i]) break;
        base[i] = lower[i];
      }
      if (i == rank - 2) n += image_step;
    }
  }
};

template <class Function>
Function driver(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result);
  return reinterpret_cast<Function>(found);
}

CUresult encode(CUtensorMap& map, const Batch& batch, void* memory, CUtensorMapSwizzle swizzle) {
  cuuint64_t size[5] = {static_cast<cuuint64_t>(batch.channels)}, strides[4];
  for (int i = 0; i < batch.rank - 2; ++i) size[i + 1] = batch.size[i];
  size[batch.rank - 1] = static_cast<unsigned>(batch.images);
  cuuint64_t bytes = batch.channels * sizeof(float);
  for (int i = 0; i < batch.rank - 1; ++i) {
    strides[i] = bytes;
    bytes *= size[i + 1];
  }
  const cuuint32_t step = batch.step;
  cuuint32_t steps[5] = {1, step, step, step, 1};
  steps[batch.rank - 1] = batch.image_step;
  return driver<Encode>("cuTensorMapEncodeIm2col")(  //~ encode
      &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, batch.rank, memory, size, strides, batch.lower,
      batch.upper, kChannels, kPixels, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
      CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

int main(int, char** arguments) {
  const int kind = atoi(arguments[1]);
  Batch batch;
  batch.rank = kind == 0 ? 3 : kind == 2 ? 5 : 4;
  for (int i = 0; i < batch.rank - 2; ++i) {
    batch.size[i] = 7 - 2 * i;
    batch.lower[i] = -1;
    batch.upper[i] = -1;
  }
  if (kind == 3) batch.step = 2;
  if (kind == 11) batch.images = 3, batch.image_step = 2;
  At at = {8, 1, 0, 0, 0, 2, 0, 0};
  if (kind == 1 || kind == 4) at = {0, -1, 1, 0, 0, 0, 2, 0};
  if (kind == 2) at = {8, 4, -1, 0, 0, 1, 2, 0};
  if (kind == 3) at = {0, 1, -1, 0, 0, 1, 1, 0};
  if (kind == 6 || kind == 7) at = {8, 3, 2, 0, 1, 2, 2, 0};
  if (kind == 5) at = {8, 1, 0, 0, 0, 0, 0, 0};
  if (kind == 11) at = {8, 1, 2, 0, 0, 2, 0, 0};
  std::vector<float> images(batch.elements());
  for (std::size_t i = 0; i < images.size(); ++i) images[i] = static_cast<float>(i + 1);
  float *memory, *out;
  const std::size_t bytes = images.size() * sizeof(float) / (kind == 7 ? 2 : 1);
  cudaMalloc(&memory, bytes);
  cudaMalloc(&out, kPixels * kChannels * sizeof(float));
  if (kind != 9) cudaMemcpy(memory, images.data(), bytes, cudaMemcpyHostToDevice);
  CUtensorMap map;
  bool is_right =
      encode(map, batch, memory,
             kind == 4 ? CU_TENSOR_MAP_SWIZZLE_32B : CU_TENSOR_MAP_SWIZZLE_NONE) == CUDA_SUCCESS;
  if (kind == 8) {
    const cuuint64_t size[4] = {16, 7, 5, 2}, strides[3] = {64, 448, 2240};
    const cuuint32_t box[4] = {8, 1, 1, 1}, steps[4] = {1, 1, 1, 1};
    driver<EncodeTiled>("cuTensorMapEncodeTiled")(
        &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, memory, size, strides, box, steps,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  }
  if (kind == 10) {  // no base is between the corners, and a corner is too far
    Batch wrong = batch;
    wrong.upper[0] = -9;
    is_right &= encode(map, wrong, memory, CU_TENSOR_MAP_SWIZZLE_NONE) == CUDA_ERROR_INVALID_VALUE;
    wrong = batch;
    wrong.lower[1] = -129;
    is_right &= encode(map, wrong, memory, CU_TENSOR_MAP_SWIZZLE_NONE) == CUDA_ERROR_INVALID_VALUE;
    wrong = batch;
    wrong.images = INT_MIN;
    is_right &= encode(map, wrong, memory, CU_TENSOR_MAP_SWIZZLE_NONE) == CUDA_ERROR_INVALID_VALUE;
    is_right &= encode(map, batch, memory, CU_TENSOR_MAP_SWIZZLE_128B) == CUDA_SUCCESS;
  } else if (kind == 5) {
    scatter<<<1, 64>>>(map, at);
    is_right &= cudaDeviceSynchronize() == cudaErrorIllegalInstruction;
  } else {
    batch.rank == 3   ? gather<3><<<1, 64>>>(map, at, out)
    : batch.rank == 4 ? gather<4><<<1, 64>>>(map, at, out)
                      : gather<5><<<1, 64>>>(map, at, out);
    std::vector<float> found(kPixels * kChannels);
    cudaMemcpy(found.data(), out, found.size() * sizeof(float), cudaMemcpyDeviceToHost);
    batch.for_each(at, [&](int pixel, int index, int c) {
      int place = pixel * kChannels + c;
      if (kind == 4) place ^= (place / 32 & 1) * 4;  // chunks of 16 bytes change places
      if (found[place] != (index < 0 ? 0.0f : images[index])) is_right = false;
    });
  }
  puts(is_right ? "right" : "wrong");
  cudaFree(memory);
  cudaFree(out);
  return 0;
}
