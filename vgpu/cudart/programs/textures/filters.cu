// Filters and borders: linear interpolation in one, two and three dimensions, normalised
// coordinates, wrap, mirror, clamp and border, reads of bytes as floats.
#include <cmath>
#include <vector>

#include "check.hpp"

cudaTextureObject_t texture_of(cudaArray_t array, cudaTextureFilterMode filter,
                               cudaTextureAddressMode at, bool is_normalized,
                               cudaTextureReadMode read = cudaReadModeElementType) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description = {};
  description.filterMode = filter;
  for (cudaTextureAddressMode& each : description.addressMode) each = at;
  description.normalizedCoords = is_normalized;
  description.readMode = read;
  description.borderColor[0] = -1;
  cudaTextureObject_t texture;
  require(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  return texture;
}

__global__ void sample(cudaTextureObject_t linear, cudaTextureObject_t wrapped,
                       cudaTextureObject_t mirrored, cudaTextureObject_t bordered,
                       cudaTextureObject_t bytes, cudaTextureObject_t volume, float* out) {
  int k = 0;
  out[k++] = tex2D<float>(linear, 1.5f, 2.5f);
  out[k++] = tex2D<float>(linear, 2.0f, 2.5f);
  out[k++] = tex2D<float>(linear, 2.0f, 3.0f);
  out[k++] = tex2D<float>(linear, -5.0f, 0.5f);
  out[k++] = tex2D<float>(wrapped, 1.0f + 1.5f / 8, 0.5f / 8 - 1.0f);
  out[k++] = tex2D<float>(mirrored, -1.5f / 8, 0.5f / 8);
  out[k++] = tex2D<float>(bordered, 9.5f, 1.5f);
  out[k++] = tex2D<float>(bordered, 3.5f, 1.5f);
  out[k++] = tex2D<float>(bytes, 2.5f, 0.5f);
  out[k++] = tex3D<float>(volume, 1.0f, 1.0f, 1.0f);
  const float4 four = tex2Dgather<float4>(linear, 2.0f, 2.0f, 0);
  out[k++] = four.x + four.y + four.z + four.w;
}

int main() {
  constexpr int n = 8;
  std::vector<float> values(n * n);
  std::vector<unsigned char> bytes(n * n, 51);
  for (int i = 0; i < n * n; ++i) values[i] = i;
  const cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
  const cudaChannelFormatDesc chars = cudaCreateChannelDesc<unsigned char>();
  cudaArray_t plane, small, volume;
  require(cudaMallocArray(&plane, &floats, n, n, cudaArrayTextureGather));
  require(cudaMallocArray(&small, &chars, n, n));
  require(cudaMalloc3DArray(&volume, &floats, make_cudaExtent(4, 4, 4)));
  require(cudaMemcpy2DToArray(plane, 0, 0, values.data(), n * 4, n * 4, n, cudaMemcpyHostToDevice));
  require(cudaMemcpy2DToArray(small, 0, 0, bytes.data(), n, n, n, cudaMemcpyHostToDevice));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(values.data(), 16, 4, 4);
  copy.dstArray = volume;
  copy.extent = make_cudaExtent(4, 4, 4);
  copy.kind = cudaMemcpyHostToDevice;
  require(cudaMemcpy3D(&copy));

  const cudaTextureObject_t textures[] = {
      texture_of(plane, cudaFilterModeLinear, cudaAddressModeClamp, false),
      texture_of(plane, cudaFilterModePoint, cudaAddressModeWrap, true),
      texture_of(plane, cudaFilterModePoint, cudaAddressModeMirror, true),
      texture_of(plane, cudaFilterModePoint, cudaAddressModeBorder, false),
      texture_of(small, cudaFilterModeLinear, cudaAddressModeClamp, false,
                 cudaReadModeNormalizedFloat),
      texture_of(volume, cudaFilterModeLinear, cudaAddressModeClamp, false)};
  Buffer<float> out(11);
  sample<<<1, 1>>>(textures[0], textures[1], textures[2], textures[3], textures[4], textures[5],
                   out);
  finish();
  const float expected[] = {17, 17.5f, 21.5f, 0, 1, 1, -1, 11, 0.2f, 10.5f, 54};
  bool is_right = true;
  for (int i = 0; i < 11; ++i) is_right &= std::abs(out[i] - expected[i]) < 1e-6f;
  if (!is_right) {
    for (const float each : out) printf("%g ", each);
  }
  for (const cudaTextureObject_t each : textures) require(cudaDestroyTextureObject(each));
  for (cudaArray_t each : {plane, small, volume}) require(cudaFreeArray(each));
  return verdict(is_right);
}
