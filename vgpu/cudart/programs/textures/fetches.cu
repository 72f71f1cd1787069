// Rotates an image by 90 degrees through a linear filter into a surface, and adds to it what a
// layered and a volume texture give.
// MUTANT: the column of a surface write is counted in elements, where the row's bytes are meant.
// expect: misaligned-access
#include "check.hpp"

#include <vector>

constexpr int kSide = 32, kLayers = 3;

__global__ void rotate(cudaTextureObject_t image, cudaSurfaceObject_t rotated) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const float u = (row + 0.5f) / kSide, v = 1 - (column + 0.5f) / kSide;
  const float4 texel = tex2D<float4>(image, u, v);
#ifdef MUTANT
  surf2Dwrite(texel.x + texel.y, rotated, column, row);  //~
#else
  surf2Dwrite(texel.x + texel.y, rotated, column * sizeof(float), row);
#endif
}

__global__ void add(cudaTextureObject_t rotated, cudaTextureObject_t layers,
                    cudaTextureObject_t volume, float* sums) {
  const int column = threadIdx.x, row = blockIdx.x;
  const float x = column + 0.5f, y = row + 0.5f;
  float sum = tex2D<float>(rotated, x, y);
  for (int layer = 0; layer < kLayers; ++layer) sum += tex2DLayered<float>(layers, x, y, layer);
  // Half way between the first two slices.
  sums[row * kSide + column] = sum + tex3D<float>(volume, x, y, 1.0f);
}

cudaResourceDesc resource_of(cudaArray_t array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

cudaTextureObject_t texture_of(cudaArray_t array, bool smooth, bool fractions) {
  cudaTextureDesc texture{};
  for (auto& mode : texture.addressMode) mode = cudaAddressModeClamp;
  texture.filterMode = smooth ? cudaFilterModeLinear : cudaFilterModePoint;
  texture.readMode = fractions ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  texture.normalizedCoords = fractions;
  const cudaResourceDesc resource = resource_of(array);
  cudaTextureObject_t object = 0;
  require(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
  return object;
}

// Slice z is all z + 1.
cudaArray_t slices(int count, unsigned flags) {
  std::vector<float> values(kSide * kSide * count);
  for (int i = 0; i < kSide * kSide * count; ++i) values[i] = i / (kSide * kSide) + 1;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  require(cudaMalloc3DArray(&array, &format, make_cudaExtent(kSide, kSide, count), flags));
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(values.data(), kSide * sizeof(float), kSide, kSide);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(kSide, kSide, count);
  copy.kind = cudaMemcpyHostToDevice;
  require(cudaMemcpy3D(&copy));
  return array;
}

int main() {
  std::vector<uchar4> pixels(kSide * kSide);
  for (int i = 0; i < kSide * kSide; ++i) {
    pixels[i] = make_uchar4(i % kSide * 5, i / kSide * 5, 0, 255);
  }
  cudaArray_t image, rotated;
  const cudaChannelFormatDesc colors = cudaCreateChannelDesc<uchar4>();
  const cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
  require(cudaMallocArray(&image, &colors, kSide, kSide));
  require(cudaMallocArray(&rotated, &floats, kSide, kSide, cudaArraySurfaceLoadStore));
  require(cudaMemcpy2DToArray(image, 0, 0, pixels.data(), kSide * sizeof(uchar4),
                              kSide * sizeof(uchar4), kSide, cudaMemcpyHostToDevice));
  const cudaResourceDesc target = resource_of(rotated);
  cudaSurfaceObject_t surface = 0;
  require(cudaCreateSurfaceObject(&surface, &target));
  const cudaTextureObject_t source = texture_of(image, true, true);
  rotate<<<dim3(2, 8), dim3(16, 4)>>>(source, surface);
  require(cudaDeviceSynchronize());

  cudaArray_t layers = slices(kLayers, cudaArrayLayered), volume = slices(2, 0);
  const cudaTextureObject_t turned = texture_of(rotated, false, false);
  const cudaTextureObject_t stack = texture_of(layers, false, false);
  const cudaTextureObject_t space = texture_of(volume, true, false);
  float* sums;
  std::vector<float> out(kSide * kSide);
  require(cudaMalloc(&sums, out.size() * sizeof(float)));
  add<<<kSide, kSide>>>(turned, stack, space, sums);
  require(cudaMemcpy(out.data(), sums, out.size() * sizeof(float), cudaMemcpyDeviceToHost));

  bool is_right = true;
  for (int row = 0; row < kSide; ++row) {
    for (int column = 0; column < kSide; ++column) {
      const uchar4 pixel = pixels[(kSide - 1 - column) * kSide + row];
      const float expected = pixel.x / 255.0f + pixel.y / 255.0f + 1 + 2 + 3 + 1.5f;
      const float difference = out[row * kSide + column] - expected;
      is_right &= difference > -1e-5f && difference < 1e-5f;
    }
  }
  require(cudaFree(sums));
  for (const cudaTextureObject_t texture : {source, turned, stack, space}) {
    require(cudaDestroyTextureObject(texture));
  }
  require(cudaDestroySurfaceObject(surface));
  for (const cudaArray_t array : {image, rotated, layers, volume}) require(cudaFreeArray(array));
  return verdict(is_right);
}
