// Textures and surfaces: outside, after their end, before their beginning, and in races.
#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::copy_out;
using warpcheck::litmus::release;
using warpcheck::litmus::unwritten;
using warpcheck::litmus::zeroed;

namespace {

constexpr int kWidth = 16, kHeight = 4;

cudaResourceDesc resource_of(cudaArray_t array) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

// An array of floats, its texture and its surface.
struct Image {
  cudaArray_t array = nullptr;
  cudaTextureObject_t texture = 0;
  cudaSurfaceObject_t surface = 0;

  explicit Image(bool is_written = true, bool smooth = false) {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, kWidth, kHeight, cudaArraySurfaceLoadStore);
    if (is_written) {
      const std::vector<float> zeros(kWidth * kHeight);
      cudaMemcpy2DToArray(array, 0, 0, zeros.data(), kWidth * sizeof(float),
                          kWidth * sizeof(float), kHeight, cudaMemcpyHostToDevice);
    }
    cudaTextureDesc description{};
    description.addressMode[0] = description.addressMode[1] = cudaAddressModeClamp;
    description.filterMode = smooth ? cudaFilterModeLinear : cudaFilterModePoint;
    const cudaResourceDesc resource = resource_of(array);
    cudaCreateTextureObject(&texture, &resource, &description, nullptr);
    cudaCreateSurfaceObject(&surface, &resource);
  }
  ~Image() {
    cudaDestroySurfaceObject(surface);
    cudaDestroyTextureObject(texture);
    cudaFreeArray(array);
  }
};

// A texture over linear memory.
cudaTextureObject_t texture_over(const float* memory, int count) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear = {const_cast<float*>(memory), cudaCreateChannelDesc<float>(),
                         static_cast<std::size_t>(count) * sizeof(float)};
  const cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  return texture;
}

}  // namespace

// expect: out-of-bounds global
__global__ void writes_outside_a_surface(cudaSurfaceObject_t surface) {
  surf2Dwrite(1.0F, surface, 4 * static_cast<int>(threadIdx.x + 1), 0);  //~ access
}
LITMUS(writes_outside_a_surface) {
  const Image image;
  writes_outside_a_surface<<<1, kWidth>>>(image.surface);
  cudaDeviceSynchronize();
}

// expect: clean
__global__ void writes_inside_a_surface(cudaSurfaceObject_t surface) {
  surf2Dwrite(1.0F, surface, 4 * static_cast<int>(threadIdx.x), 0);
  surf2Dwrite(1.0F, surface, 4 * kWidth, static_cast<int>(threadIdx.x), cudaBoundaryModeZero);
}
LITMUS(writes_inside_a_surface) {
  const Image image;
  writes_inside_a_surface<<<1, kWidth>>>(image.surface);
  cudaDeviceSynchronize();
}

// expect: misaligned-access global
__global__ void counts_surface_elements(cudaSurfaceObject_t surface, float* out) {
  const int x = static_cast<int>(threadIdx.x);
  out[threadIdx.x] = surf2Dread<float>(surface, x, 0);  //~ access
}
LITMUS(counts_surface_elements) {
  const Image image;
  counts_surface_elements<<<1, kWidth>>>(image.surface, zeroed<float>(kWidth));
  cudaDeviceSynchronize();
}

// expect: use-after-free global
__global__ void fetches_destroyed_texture(cudaTextureObject_t texture, float* out) {
  const float x = static_cast<float>(threadIdx.x) + 0.5F;
  out[threadIdx.x] = tex2D<float>(texture, x, 0.5F);  //~ read
}
LITMUS(fetches_destroyed_texture) {
  const Image image;
  cudaDestroyTextureObject(image.texture);
  fetches_destroyed_texture<<<1, kWidth>>>(image.texture, zeroed<float>(kWidth));
  cudaDeviceSynchronize();
}

// expect: use-after-free global
__global__ void fetches_freed_array(cudaTextureObject_t texture, float* out) {
  const float x = static_cast<float>(threadIdx.x) + 0.5F;
  out[threadIdx.x] = tex2D<float>(texture, x, 0.5F);  //~ read
}
LITMUS(fetches_freed_array) {
  const Image image;
  cudaFreeArray(image.array);
  fetches_freed_array<<<1, kWidth>>>(image.texture, zeroed<float>(kWidth));
  cudaDeviceSynchronize();
}

// expect: trap
__global__ void fetches_by_no_object(cudaTextureObject_t texture, float* out) {
  const float x = static_cast<float>(threadIdx.x) + 0.5F;
  out[threadIdx.x] = tex2D<float>(texture, x, 0.5F);  //~ access
}
LITMUS(fetches_by_no_object) {
  fetches_by_no_object<<<1, kWidth>>>(0x1234, zeroed<float>(kWidth));
  cudaDeviceSynchronize();
}

// expect: clean
__global__ void fetches_live_texture(cudaTextureObject_t texture, float* out) {
  const float x = static_cast<float>(threadIdx.x) + 0.5F;
  out[threadIdx.x] = tex2D<float>(texture, x, 0.5F);
}
LITMUS(fetches_live_texture) {
  const Image image;
  float* const out = zeroed<float>(kWidth);
  fetches_live_texture<<<1, kWidth>>>(image.texture, out);
  copy_out(out, kWidth);
}

// A filter's texels are read, if they count.
// expect: uninitialized-read global
__global__ void branches_on_unwritten_texels(cudaTextureObject_t texture, float shift, float* out) {
  const float value = tex2D<float>(texture, 0.5F + shift, 0.5F);  //~ read
  if (value > 1) out[threadIdx.x] = 1;                            //~ branch
}
LITMUS(branches_on_unwritten_texels) {
  const Image image(false, true);
  const float one = 1;
  cudaMemcpy2DToArray(image.array, 0, 0, &one, 4, 4, 1, cudaMemcpyHostToDevice);
  branches_on_unwritten_texels<<<1, 1>>>(image.texture, 0.25F, zeroed<float>(1));
  cudaDeviceSynchronize();
}

// expect: clean
__global__ void branches_on_written_texel(cudaTextureObject_t texture, float* out) {
  const float value = tex2D<float>(texture, 0.5F, 0.5F);
  if (value > 1) out[threadIdx.x] = 1;
}
LITMUS(branches_on_written_texel) {
  const Image image(false, true);
  const float one = 1;
  cudaMemcpy2DToArray(image.array, 0, 0, &one, 4, 4, 1, cudaMemcpyHostToDevice);
  branches_on_written_texel<<<1, 1>>>(image.texture, zeroed<float>(1));
  cudaDeviceSynchronize();
}

// expect: data-race global
__global__ void reads_surface_after_own_write(cudaSurfaceObject_t surface, float* out) {
  const int x = 4 * static_cast<int>(threadIdx.x);
  surf2Dwrite(1.0F, surface, x, 0);                    //~ write
  out[threadIdx.x] = surf2Dread<float>(surface, x, 0);  //~ read
}
LITMUS(reads_surface_after_own_write) {
  const Image image;
  reads_surface_after_own_write<<<1, kWidth>>>(image.surface, zeroed<float>(kWidth));
  cudaDeviceSynchronize();
}

// expect: clean
__global__ void writes_surface_after_own_read(cudaSurfaceObject_t surface) {
  const int x = 4 * static_cast<int>(threadIdx.x);
  surf2Dwrite(surf2Dread<float>(surface, x, 0) + 1, surface, x, 0);
}
LITMUS(writes_surface_after_own_read) {
  const Image image;
  writes_surface_after_own_read<<<1, kWidth>>>(image.surface);
  writes_surface_after_own_read<<<1, kWidth>>>(image.surface);
  cudaDeviceSynchronize();
}

// expect: data-race global
__global__ void fetches_what_was_stored(cudaTextureObject_t texture, float* memory, float* out) {
  memory[threadIdx.x] = 1;                                                       //~ write
  __syncthreads();
  out[threadIdx.x] = tex1Dfetch<float>(texture, static_cast<int>(threadIdx.x ^ 1));  //~ read
}
LITMUS(fetches_what_was_stored) {
  float* const memory = zeroed<float>(kWidth);
  const cudaTextureObject_t texture = texture_over(memory, kWidth);
  fetches_what_was_stored<<<1, kWidth>>>(texture, memory, zeroed<float>(kWidth));
  cudaDeviceSynchronize();
  cudaDestroyTextureObject(texture);
}

__global__ void stores(float* memory) { memory[threadIdx.x] = 1; }

// expect: clean
__global__ void fetches_what_an_earlier_launch_stored(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex1Dfetch<float>(texture, static_cast<int>(threadIdx.x ^ 1));
}
LITMUS(fetches_what_an_earlier_launch_stored) {
  float* const memory = unwritten<float>(kWidth);
  const cudaTextureObject_t texture = texture_over(memory, kWidth);
  float* const out = unwritten<float>(kWidth);
  stores<<<1, kWidth>>>(memory);
  fetches_what_an_earlier_launch_stored<<<1, kWidth>>>(texture, out);
  copy_out(out, kWidth);
  cudaDestroyTextureObject(texture);
}

// expect: data-race global
__global__ void writes_one_element(cudaSurfaceObject_t surface) {
  surf2Dwrite(static_cast<float>(threadIdx.x), surface, 0, 0);  //~ write
}
LITMUS(writes_one_element) {
  const Image image;
  writes_one_element<<<1, 64>>>(image.surface);
  cudaDeviceSynchronize();
}

// expect: out-of-bounds global
__global__ void fetches_past_the_memory(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex1Dfetch<float>(texture, static_cast<int>(threadIdx.x));  //~ read
}
LITMUS(fetches_past_the_memory) {
  const cudaTextureObject_t texture = texture_over(zeroed<float>(kWidth), kWidth + 1);
  fetches_past_the_memory<<<1, kWidth + 1>>>(texture, zeroed<float>(kWidth + 1));
  cudaDeviceSynchronize();
  cudaDestroyTextureObject(texture);
}
