// The driver's function makes textures that filter integers and give integers, which the runtime's
// refuses: weights have 8 bits of fraction; 8 and 16 bits are rounded, 32 bits are cut off.
//
// A texture is destroyed as soon as the kernel that uses it was asked for, the mutant's before.
// expect: use-after-free
#include <cuda.h>
#include <cudaTypedefs.h>

#include <vector>

#include "check.hpp"

constexpr int kSide = 16, kPoints = 512;

template <typename T>
__global__ void sample(cudaTextureObject_t texture, const float2* places, long long* values) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  values[i] = tex2D<T>(texture, places[i].x, places[i].y);  //~
}

template <typename Function>
Function driver(const char* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  require(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found));
  return reinterpret_cast<Function>(function);
}

CUtexObject smooth_texture(cudaArray_t array) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = reinterpret_cast<CUarray>(array);
  CUDA_TEXTURE_DESC description{};
  description.filterMode = CU_TR_FILTER_MODE_LINEAR;
  description.flags = CU_TRSF_READ_AS_INTEGER;
  for (auto& mode : description.addressMode) mode = CU_TR_ADDRESS_MODE_CLAMP;
  CUtexObject texture = 0;
  const auto create = driver<PFN_cuTexObjectCreate_v5000>("cuTexObjectCreate");
  if (create(&texture, &resource, &description, nullptr) != CUDA_SUCCESS) std::exit(1);
  return texture;
}

// A texel's place in units of a 256th, halfway between texels 0.
int fixed(float coordinate) {
  const int at = static_cast<int>(floorf(coordinate * 256 + 0.5f)) - 128;
  return at < 0 ? 0 : at > (kSide - 1) * 256 ? (kSide - 1) * 256 : at;
}

int share(int weight, int part) { return (weight * part + 128) >> 8; }

template <typename T>
long long mean(const std::vector<T>& texels, float2 place) {
  const int x = fixed(place.x), y = fixed(place.y), below = y & 255;
  const int right = share(256, x & 255), left = 256 - right;
  const int left_above = share(left, 256 - below), right_below = share(right, below);
  const auto at = [&](int column, int row) {
    const int last = kSide - 1;
    return static_cast<long long>(
        texels[(row > last ? last : row) * kSide + (column > last ? last : column)]);
  };
  const long long sum =
      at(x >> 8, y >> 8) * left_above + at((x >> 8) + 1, y >> 8) * (right - right_below) +
      at(x >> 8, (y >> 8) + 1) * (left - left_above) + at((x >> 8) + 1, (y >> 8) + 1) * right_below;
  return (sum + (sizeof(T) < 4 ? 128 : 0)) >> 8;
}

template <typename T>
bool try_type(unsigned seed) {
  const auto next = [&] { return seed = seed * 1664525 + 1013904223; };
  std::vector<T> texels(kSide * kSide);
  for (T& texel : texels) texel = static_cast<T>(next() >> 5);
  Buffer<float2> places(kPoints);
  Buffer<long long> values(kPoints);
  for (int i = 0; i < kPoints; ++i) {
    places[i].x = static_cast<float>(next() >> 8) / 0x1p24f * (kSide + 2) - 1;
    places[i].y = static_cast<float>(next() >> 8) / 0x1p24f * (kSide + 2) - 1;
  }
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
  cudaArray_t array;
  require(cudaMallocArray(&array, &format, kSide, kSide));
  require(cudaMemcpy2DToArray(array, 0, 0, texels.data(), kSide * sizeof(T), kSide * sizeof(T),
                              kSide, cudaMemcpyHostToDevice));
  const CUtexObject texture = smooth_texture(array);
#ifdef MUTANT
  require(cudaDestroyTextureObject(texture));
#endif
  sample<T><<<kPoints / 64, 64>>>(texture, places, values);
#ifndef MUTANT
  require(cudaDestroyTextureObject(texture));
#endif
  finish();
  int wrong = 0;
  for (int i = 0; i < kPoints; ++i) wrong += values[i] != mean(texels, places[i]) ? 1 : 0;
  if (wrong != 0) std::printf("%d of %zu bytes: %d wrong\n", int(T(-1) < T(1)), sizeof(T), wrong);
  require(cudaFreeArray(array));
  return wrong == 0;
}

int main() {
  bool is_right = try_type<unsigned char>(1);
  is_right &= try_type<signed char>(2);
  is_right &= try_type<unsigned short>(3);
  is_right &= try_type<short>(4);
  is_right &= try_type<unsigned>(5);
  is_right &= try_type<int>(6);
  return verdict(is_right);
}
