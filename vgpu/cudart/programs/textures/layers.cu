// Layered textures, cube maps and mipmaps that a kernel fills level by level through surfaces.
// MUTANT: the levels are filled by the size of the first.
// expect: out-of-bounds
#include <vector>

#include "check.hpp"

__global__ void shrink(cudaTextureObject_t from, cudaSurfaceObject_t to, int size) {
  const int x = threadIdx.x, y = threadIdx.y;
#ifndef MUTANT
  if (x >= size || y >= size) return;
#endif
  float sum = 0;
  for (int i = 0; i < 4; ++i) sum += tex2D<float>(from, 2 * x + i % 2 + 0.5f, 2 * y + i / 2 + 0.5f);
  surf2Dwrite(sum / 4, to, x * 4, y);  //~
}
__global__ void sample(cudaTextureObject_t mipmap, cudaTextureObject_t layers,
                       cudaTextureObject_t cube, float* out) {
  for (int level = 0; level < 4; ++level) out[level] = tex2DLod<float>(mipmap, 0.1f, 0.1f, level);
  out[4] = tex2DLod<float>(mipmap, 0.1f, 0.1f, 0.5f);
  for (int i = 0; i < 3; ++i) out[5 + i] = tex2DLayered<float>(layers, 1.5f, 1.5f, i);
  out[8] = texCubemap<float>(cube, 1, 0, 0);
  out[9] = texCubemap<float>(cube, 0, -1, 0);
  out[10] = texCubemap<float>(cube, 0, 0, 1);
}

cudaTextureObject_t texture_of(const cudaResourceDesc& resource, bool is_normalized) {
  cudaTextureDesc description = {};
  description.normalizedCoords = is_normalized;
  description.mipmapFilterMode = cudaFilterModeLinear;
  description.maxMipmapLevelClamp = 3;
  for (cudaTextureAddressMode& each : description.addressMode) each = cudaAddressModeClamp;
  cudaTextureObject_t texture;
  require(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  return texture;
}
cudaResourceDesc resource_of(cudaArray_t array) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

int main() {
  constexpr int n = 8;
  const cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
  std::vector<float> values(n * n * 6);
  for (int i = 0; i < n * n; ++i) values[i] = i % n;
  cudaMipmappedArray_t mipmap;
  require(cudaMallocMipmappedArray(&mipmap, &floats, make_cudaExtent(n, n, 0), 4,
                                   cudaArraySurfaceLoadStore));
  cudaArray_t level;
  require(cudaGetMipmappedArrayLevel(&level, mipmap, 0));
  require(cudaMemcpy2DToArray(level, 0, 0, values.data(), n * 4, n * 4, n, cudaMemcpyHostToDevice));
  for (int i = 1; i < 4; ++i) {
    cudaArray_t next;
    require(cudaGetMipmappedArrayLevel(&next, mipmap, i));
    const cudaTextureObject_t from = texture_of(resource_of(level), false);
    const cudaResourceDesc target = resource_of(next);
    cudaSurfaceObject_t to;
    require(cudaCreateSurfaceObject(&to, &target));
    shrink<<<1, dim3(n / 2, n / 2)>>>(from, to, n >> i);
    finish();
    require(cudaDestroySurfaceObject(to));
    require(cudaDestroyTextureObject(from));
    level = next;
  }
  for (int i = 0; i < 6 * 16; ++i) values[i] = i / 16 * 10;
  const auto filled = [&](int depth, unsigned flags) {
    cudaArray_t array;
    require(cudaMalloc3DArray(&array, &floats, make_cudaExtent(4, 4, depth), flags));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(values.data(), 16, 4, 4);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(4, 4, depth);
    copy.kind = cudaMemcpyHostToDevice;
    require(cudaMemcpy3D(&copy));
    return array;
  };
  const cudaArray_t layers = filled(3, cudaArrayLayered), cube = filled(6, cudaArrayCubemap);
  cudaResourceDesc levels = {};
  levels.resType = cudaResourceTypeMipmappedArray;
  levels.res.mipmap.mipmap = mipmap;
  const cudaTextureObject_t textures[] = {texture_of(levels, true),
                                          texture_of(resource_of(layers), false),
                                          texture_of(resource_of(cube), true)};
  Buffer<float> out(11);
  sample<<<1, 1>>>(textures[0], textures[1], textures[2], out);
  finish();
  const float expected[] = {0, 0.5f, 1.5f, 3.5f, 0.25f, 0, 10, 20, 0, 30, 40};
  bool is_right = true;
  for (int i = 0; i < 11; ++i) is_right &= out[i] == expected[i];
  if (!is_right) {
    for (const float each : out) printf("%g ", each);
  }
  for (const cudaTextureObject_t each : textures) require(cudaDestroyTextureObject(each));
  require(cudaFreeArray(cube));
  require(cudaFreeArray(layers));
  require(cudaFreeMipmappedArray(mipmap));
  return verdict(is_right);
}
