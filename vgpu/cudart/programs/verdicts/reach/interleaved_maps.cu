// Interleaved tensor maps: channels are cut into slices of 16 or 32 bytes, and a copy takes pixels
// of one slice.  The digests are of where each 16-bit word lies after copies of tiles, to and from
// shared memory, and of pixels; an H200 prints the same.
// build: -gencode=arch=compute_90a,code=compute_90a
// case tiles_16: | | 0
// expect tiles_16: clean
// prints tiles_16: 6730dcc5
// case tiles_32: | | 1
// expect tiles_32: clean
// prints tiles_32: d4fb1c45
// case stored_16: | | 2
// expect stored_16: clean
// prints stored_16: 9f1e4eb5
// case stored_32: | | 3
// expect stored_32: clean
// prints stored_32: d0fa5bf5
// case images_16: | | 4
// expect images_16: clean
// prints images_16: aed55285
// case images_32: | | 5
// expect images_32: clean
// prints images_32: fc86cbc5
// case before_the_box: | | 6
// expect before_the_box: error trap copy
// says before_the_box: begins at coordinate -1 of dimension 0, outside of the bounding box
// case short_rows: | | 7
// expect short_rows: clean
// prints short_rows: plain plain swizzled
// case wrong_extents: | | 8
// expect wrong_extents: note api-error encode
// prints wrong_extents: 1 1 1 1 1 1 1 1 1 0
// case replaced: | | 9
// expect replaced: clean
// prints replaced: the same
// case unknown_rows: | | 10
// expect unknown_rows: error trap tile
// says unknown_rows: swizzles rows of 48 bytes of an interleaved tensor map within 128 bytes
#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <vector>

constexpr int kWords = 4096, kTensorWords = 65534;  // of 16 bits: the tile, and the tensor

struct Copy {
  int at[5], rank;
  unsigned short offset[3];
  bool stores, has_images;
  unsigned bytes;
};

template <int Rank>
__device__ void bring_images(unsigned to, const CUtensorMap* map, unsigned barrier, const Copy& c) {
  if constexpr (Rank == 3) {
    asm volatile(  //
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%2, %3, %4}], [%5], {%6};" ::"r"(to),
        "l"(map), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(barrier), "h"(c.offset[0])
        : "memory");
  } else if constexpr (Rank == 4) {
    asm volatile(  //
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(to),
        "l"(map), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(barrier),
        "h"(c.offset[0]), "h"(c.offset[1])  //~ copy
        : "memory");
  } else {
    asm volatile(  //
        "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%2, %3, %4, %5, %6}], [%7], {%8, %9, %10};" ::"r"(to),
        "l"(map), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(c.at[4]),
        "r"(barrier), "h"(c.offset[0]), "h"(c.offset[1]), "h"(c.offset[2])
        : "memory");
  }
}

template <int Rank>
__device__ void bring_tile(unsigned to, const CUtensorMap* map, unsigned barrier, const Copy& c) {
  if constexpr (Rank == 3) {
    asm volatile(  //
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
        "l"(map), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(barrier)
        : "memory");
  } else if constexpr (Rank == 4) {
    asm volatile(  //
        "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(to),
        "l"(map), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(barrier)  //~ tile
        : "memory");
  } else {
    asm volatile(  //
        "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%2, %3, %4, %5, %6}], [%7];" ::"r"(to),
        "l"(map), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(c.at[4]), "r"(barrier)
        : "memory");
  }
}

template <int Rank>
__device__ void put_tile(unsigned from, const CUtensorMap* map, const Copy& c) {
  if constexpr (Rank == 3) {
    asm volatile(  //
        "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(
            map),
        "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(from)
        : "memory");
  } else if constexpr (Rank == 4) {
    asm volatile(  //
        "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group"
        " [%0, {%1, %2, %3, %4}], [%5];" ::"l"(map),
        "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(from)
        : "memory");
  } else {
    asm volatile(  //
        "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group"
        " [%0, {%1, %2, %3, %4, %5}], [%6];" ::"l"(map),
        "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(c.at[4]), "r"(from)
        : "memory");
  }
}

template <int Rank>
__global__ void copy(const __grid_constant__ CUtensorMap map, Copy c, unsigned short* out) {
  __shared__ alignas(1024) unsigned short tile[kWords];
  __shared__ alignas(8) unsigned long long object;
  const auto barrier = static_cast<unsigned>(__cvta_generic_to_shared(&object));
  const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  for (int i = threadIdx.x; i < kWords; i += blockDim.x) tile[i] = c.stores ? i + 1 : 0xffff;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier));
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0 && c.stores) {
    put_tile<Rank>(shared, &map, c);
    asm volatile("cp.async.bulk.commit_group;\n cp.async.bulk.wait_group 0;" ::: "memory");
  } else if (threadIdx.x == 0) {
    asm volatile(
        "{.reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], %1;}" ::"r"(barrier),
        "r"(c.bytes)
        : "memory");
    c.has_images ? bring_images<Rank>(shared, &map, barrier, c)
                 : bring_tile<Rank>(shared, &map, barrier, c);
  }
  if (c.stores) return;
  for (int done = 0; done == 0;) {
    asm volatile(
        "{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;"
        " selp.b32 %0, 1, 0, p;}"
        : "=r"(done)
        : "r"(barrier)
        : "memory");
  }
  for (int i = threadIdx.x; i < kWords; i += blockDim.x) out[i] = tile[i];
}

// The map of a kernel, changed to an interleaved one by device code.
__global__ void interleave(CUtensorMap* map) {
  asm volatile(
      "tensormap.replace.tile.interleave_layout.global.b1024.b32 [%0], 1;\n"
      "fence.proxy.tensormap::generic.release.gpu;" ::"l"(map)
      : "memory");
}

template <class Function>
Function driver(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result);
  return reinterpret_cast<Function>(found);
}

struct Map {
  int slice = 16, rank = 4, swizzle = 0;
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT16;
  cuuint64_t size[5] = {24, 5, 4, 3, 2}, stride[4] = {160, 1056, 8256, 33088};
  cuuint32_t box[5] = {24, 2, 2, 1, 1}, step[5] = {1, 1, 1, 1, 1};
  bool has_images = false;
  int lower[3] = {}, upper[3] = {};
  cuuint32_t pixels = 12;

  [[nodiscard]] CUtensorMapInterleave interleave() const {
    return slice == 0    ? CU_TENSOR_MAP_INTERLEAVE_NONE
           : slice == 16 ? CU_TENSOR_MAP_INTERLEAVE_16B
                         : CU_TENSOR_MAP_INTERLEAVE_32B;
  }
  CUresult encode(CUtensorMap* map, void* memory) const {
    const auto mode = static_cast<CUtensorMapSwizzle>(swizzle);
    if (has_images) {
      return driver<decltype(&cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col")(
          map, type, rank, memory, size, stride, lower, upper, 16, pixels, step, interleave(), mode,
          CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    }
    return driver<decltype(&cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled")(  //~ encode
        map, type, rank, memory, size, stride, box, step, interleave(), mode,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  }
  [[nodiscard]] unsigned bytes() const {
    if (has_images) return pixels * slice;
    const auto count = [&](int i) { return (box[i] + step[i] - 1) / step[i]; };
    unsigned rows = 1;
    for (int i = 1; i < rank; ++i) rows *= i == rank - 2 ? 1 : count(i);
    return rows * count(0) * slice;
  }
};

unsigned short *tensor, *out;
std::uint32_t digest = 2166136261u;

void digest_words(const unsigned short* from, int count) {
  std::vector<unsigned short> words(count);
  cudaMemcpy(words.data(), from, count * 2, cudaMemcpyDeviceToHost);
  for (const unsigned short word : words) digest = (digest ^ word) * 16777619u;
}

void run(const CUtensorMap& map, const Map& m, std::initializer_list<int> at,
         std::initializer_list<unsigned short> offset = {}, bool stores = false) {
  std::vector<unsigned short> words(kTensorWords);
  for (int i = 0; i < kTensorWords; ++i) words[i] = stores ? 0 : i + 1;
  cudaMemcpy(tensor, words.data(), kTensorWords * 2, cudaMemcpyHostToDevice);
  Copy c{};
  int i = 0;
  for (const int x : at) c.at[i++] = x;
  i = 0;
  for (const unsigned short x : offset) c.offset[i++] = x;
  c.stores = stores;
  c.has_images = m.has_images;
  c.bytes = m.bytes();
  m.rank == 3   ? copy<3><<<1, 64>>>(map, c, out)
  : m.rank == 4 ? copy<4><<<1, 64>>>(map, c, out)
                : copy<5><<<1, 64>>>(map, c, out);
  stores ? digest_words(tensor, kTensorWords) : digest_words(out, kWords);
}

void run(const Map& m, std::initializer_list<int> at,
         std::initializer_list<unsigned short> offset = {}, bool stores = false) {
  CUtensorMap map;
  if (m.encode(&map, tensor) != CUDA_SUCCESS) puts("not encoded");
  run(map, m, at, offset, stores);
}

Map map_of(int slice) {
  Map m;
  m.slice = slice;
  m.swizzle = slice == 32 ? 1 : 0;
  return m;
}

void tiles(int slice) {
  for (int rank = 3; rank <= 5; ++rank) {
    Map m = map_of(slice);
    m.rank = rank;
    run(m, {0, 0, 0, 0, 0});
    run(m, {8, 1, 1, 1, 1});
    run(m, {16, 4, 3, 2, 1});
    run(m, {0, -1, -1, 0, 0});
    run(m, {1, 0, 0, 0, 0});
    run(m, {-8, 0, 0, 0, 0});
  }
  Map m = map_of(slice);
  m.box[1] = 3;
  m.box[3] = 2;
  run(m, {0, 0, 0, 0});
  m.size[0] = 20;
  run(m, {0, 0, 0, 0});
  m.size[0] = 24;
  m.step[0] = 2;
  run(m, {0, 0, 0, 0});
  m.step[0] = 1;
  m.step[1] = 2;
  run(m, {0, 0, 0, 0});
  for (int swizzle = 0; swizzle < 4; ++swizzle) {
    m = map_of(slice);
    m.swizzle = swizzle;
    m.box[0] = 16;
    m.box[1] = 5;
    m.box[2] = 4;
    run(m, {0, 0, 0, 0});
  }
  m = map_of(slice);
  m.type = CU_TENSOR_MAP_DATA_TYPE_UINT64;
  m.size[0] = 6;
  m.box[0] = 4;
  run(m, {0, 0, 0, 0});
}

void stored(int slice) {
  Map m = map_of(slice);
  m.box[0] = 16;
  run(m, {16, 4, 3, 2}, {}, true);
  m.rank = 3;
  run(m, {0, 0, 0}, {}, true);
}

void images(int slice) {
  for (int rank = 3; rank <= 5; ++rank) {
    Map m = map_of(slice);
    m.rank = rank;
    m.has_images = true;
    run(m, {0, 0, 0, 0, 0}, {0, 0, 0});
    run(m, {1, 1, 1, 0, 0}, {1, 0, 0});
    run(m, {8, 1, 1, 0, 0}, {1, 0, 0});
  }
}

// A copy whose rows are that many pixels, swizzled within 128 bytes.
const char* of_pixels(int pixels) {
  Map m = map_of(16);
  m.type = CU_TENSOR_MAP_DATA_TYPE_UINT64;
  m.step[0] = 2;
  m.box[0] = pixels * 2;
  std::uint32_t digests[2];
  for (int i = 0; i < 2; ++i) {
    m.swizzle = 3 * i;
    digest = 2166136261u;
    run(m, {0, 0, 0, 0});
    digests[i] = digest;
  }
  return digests[0] == digests[1] ? "plain" : "swizzled";
}

int main(int, char** arguments) {
  const int kind = atoi(arguments[1]);
  cudaMalloc(&tensor, kTensorWords * 2);
  cudaMalloc(&out, kWords * 2);
  const int slice = kind % 2 == 0 ? 16 : 32;
  if (kind < 2) tiles(slice);
  if (kind == 2 || kind == 3) stored(slice);
  if (kind == 4 || kind == 5) images(slice);
  Map m = map_of(16);
  if (kind == 6) {
    m.has_images = true;
    run(m, {-1, 0, 0, 0}, {0, 0});
  }
  if (kind == 7) {
    printf("%s %s %s\n", of_pixels(1), of_pixels(2), of_pixels(8));
  }
  if (kind == 10) of_pixels(3);
  CUtensorMap map;
  if (kind == 8) {
    Map wrong[10];
    for (Map& one : wrong) one = map_of(16);
    for (int i = 6; i < 10; ++i) wrong[i].slice = 0;
    wrong[0].rank = 2;
    wrong[1].box[0] = 12;
    wrong[2].swizzle = 4;
    wrong[3] = map_of(32);
    wrong[3].stride[0] = 176;
    wrong[4].type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B;
    wrong[5].box[2] = 0;
    wrong[6].swizzle = 4;
    wrong[7].type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B;
    wrong[8].box[0] = wrong[9].box[0] = 64;
    wrong[8].box[2] = wrong[9].box[2] = 8;
    wrong[8].box[1] = 255;  // 261,120 bytes
    wrong[9].box[1] = 228;  // 233,472 bytes
    for (const Map& one : wrong) {
      printf("%d%c", one.encode(&map, tensor), &one == &wrong[9] ? '\n' : ' ');
    }
  } else if (kind == 9) {
    run(m, {8, 1, 1, 1});
    const std::uint32_t expected = digest;
    m.slice = 0;
    m.encode(&map, tensor);
    m.slice = 16;
    CUtensorMap* on_device;
    cudaMalloc(&on_device, sizeof map);
    cudaMemcpy(on_device, &map, sizeof map, cudaMemcpyHostToDevice);
    interleave<<<1, 1>>>(on_device);
    cudaMemcpy(&map, on_device, sizeof map, cudaMemcpyDeviceToHost);
    digest = 2166136261u;
    run(map, m, {8, 1, 1, 1});
    puts(digest == expected ? "the same" : "another");
    cudaFree(on_device);
  } else if (kind < 6) {
    printf("%08x\n", digest);
  }
  cudaFree(tensor);
  cudaFree(out);
  return 0;
}
