// Arrays, textures and surfaces for the host API.
//
// The layout of an array is undefined on hardware.  Here its elements are in rows without gaps, in
// ordinary device memory.  Kernels access it only through texture and surface objects, which are
// described to the machine when they are created (texture_objects.cpp).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "vgpu/cudart/copies/box.hpp"
#include "vgpu/machine/memory/memory.hpp"
#include "vgpu/machine/texture/texture.hpp"

namespace warpcheck::cudart {

struct Array {
  cudaChannelFormatDesc format{};
  cudaExtent extent{};  // in elements; 0 for a missing dimension
  unsigned flags = 0;
  vgpu::Allocation* memory = nullptr;
  bool is_level = false;  // a level of a mipmapped array, which frees it

  [[nodiscard]] std::size_t element_bytes() const {
    return static_cast<std::size_t>(format.x + format.y + format.z + format.w) / 8;
  }
  [[nodiscard]] std::size_t row_bytes() const { return extent.width * element_bytes(); }
  [[nodiscard]] std::size_t rows() const { return extent.height == 0 ? 1 : extent.height; }
  [[nodiscard]] std::size_t slices() const { return extent.depth == 0 ? 1 : extent.depth; }
  // Returns the place of a box whose first byte is byte x of row y of slice z; nothing if the box
  // is not inside.
  [[nodiscard]] std::optional<Place> place(std::size_t x, std::size_t y, std::size_t z,
                                           const Box& box) const;
};

struct MipmappedArray {
  std::vector<Array*> levels;
};

struct TextureObject {
  cudaResourceDesc resource{};
  cudaTextureDesc texture{};
  cudaResourceViewDesc view{};
  bool has_view = false;
};

// Handles of arrays are addresses of the objects; handles of textures and surfaces are numbers from
// 1.
struct Arrays {
  std::map<cudaArray_const_t, std::unique_ptr<Array>> arrays;
  std::map<cudaMipmappedArray_const_t, std::unique_ptr<MipmappedArray>> mipmapped;
  std::map<cudaTextureObject_t, TextureObject> textures;
  std::map<cudaSurfaceObject_t, cudaResourceDesc> surfaces;
  vgpu::TextureTable objects;  // the objects for kernels, including destroyed ones
  unsigned long long next_object = 1;

  [[nodiscard]] Array* find(cudaArray_const_t handle) const {
    const auto found = arrays.find(handle);
    return found == arrays.end() ? nullptr : found->second.get();
  }
};

}  // namespace warpcheck::cudart
