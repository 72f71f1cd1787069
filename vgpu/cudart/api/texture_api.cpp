// Functions that create and query texture and surface objects.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <string>
#include <utility>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/api/texture_api.hpp"
#include "vgpu/cudart/device/virtual_gpu.hpp"
#include "vgpu/cudart/memory/arrays.hpp"
#include "vgpu/cudart/memory/texture_objects.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

namespace {

bool is_aligned(const void* pointer, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

// Returns why a texture cannot read linear memory; empty: it can.
std::string broken_linear(Device& device, const void* pointer) {
  if (!device.allocations().owns(pointer)) return "the pointer is not one of device memory";
  if (!is_aligned(pointer, virtual_gpu::kTextureAlignment)) {
    return fmt::format("the pointer is no multiple of {} bytes (textureAlignment)",
                       virtual_gpu::kTextureAlignment);
  }
  return {};
}

// Returns why a texture cannot read the resource; empty: it can.
std::string broken_resource(Device& device, const cudaResourceDesc& resource) {
  switch (number_of(resource.resType)) {
    case cudaResourceTypeArray:
      return device.arrays().find(resource.res.array.array) != nullptr ? ""
                                                                       : "there is no such array";
    case cudaResourceTypeMipmappedArray:
      return device.arrays().mipmapped.contains(resource.res.mipmap.mipmap)
                 ? ""
                 : "there is no such mipmapped array";
    case cudaResourceTypeLinear: return broken_linear(device, resource.res.linear.devPtr);
    case cudaResourceTypePitch2D: {
      const auto& pitched = resource.res.pitch2D;
      std::string broken = broken_linear(device, pitched.devPtr);
      if (broken.empty() && pitched.pitchInBytes % virtual_gpu::kTexturePitchAlignment != 0) {
        broken = fmt::format("pitch {} is no multiple of {} (texturePitchAlignment)",
                             pitched.pitchInBytes, virtual_gpu::kTexturePitchAlignment);
      }
      return broken;
    }
    default: return fmt::format("{} is no resource type", number_of(resource.resType));
  }
}

template <typename Body>
cudaError_t with_texture(cudaTextureObject_t handle, Body&& body) {
  return answer([&](Device& device) {
    const auto found = device.arrays().textures.find(handle);
    return found == device.arrays().textures.end() ? cudaErrorInvalidValue : body(found->second);
  });
}

}  // namespace

namespace warpcheck::cudart {

cudaError_t create_texture_object(cudaTextureObject_t* handle, const cudaResourceDesc* resource,
                                  const cudaTextureDesc* texture, const cudaResourceViewDesc* view,
                                  bool checks_filter) {
  return answer([&](Device& device) {
    if (handle == nullptr || resource == nullptr || texture == nullptr) {
      return cudaErrorInvalidValue;
    }
    std::string broken = broken_resource(device, *resource);
    if (!broken.empty()) {
      return device.errors().because(cudaErrorInvalidValue, std::move(broken));
    }
    TextureObject object{*resource, *texture, {}, view != nullptr};
    if (view != nullptr) object.view = *view;
    warpcheck::vgpu::Texture described;
    const cudaError_t misfit = describe(device.arrays(), device.allocations(), object, described);
    if (misfit != cudaSuccess) return misfit;
    if (checks_filter) {
      if (const cudaError_t filter = check_filter(*texture, described)) return filter;
    }
    *handle = device.arrays().next_object++;
    device.arrays().textures.emplace(*handle, object);
    device.arrays().objects.add(*handle, std::move(described));
    return cudaSuccess;
  });
}

}  // namespace warpcheck::cudart

extern "C" {

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* handle, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* texture,
                                    const cudaResourceViewDesc* view) {
  return create_texture_object(handle, resource, texture, view, true);
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t handle) {
  return answer([&](Device& device) {
    if (handle == 0) return cudaSuccess;
    if (device.arrays().textures.erase(handle) == 0) return cudaErrorInvalidValue;
    device.arrays().objects.destroy(handle, device.execution().unfinished());
    return cudaSuccess;
  });
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t handle) {
  return with_texture(
      handle, [&](const TextureObject& object) { return write_result(resource, object.resource); });
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* texture, cudaTextureObject_t handle) {
  return with_texture(
      handle, [&](const TextureObject& object) { return write_result(texture, object.texture); });
}

cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* view,
                                                 cudaTextureObject_t handle) {
  return with_texture(handle, [&](const TextureObject& object) {
    if (view == nullptr || !object.has_view) return cudaErrorInvalidValue;
    *view = object.view;
    return cudaSuccess;
  });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* handle, const cudaResourceDesc* resource) {
  return answer([&](Device& device) {
    if (handle == nullptr || resource == nullptr ||
        number_of(resource->resType) != cudaResourceTypeArray) {
      return cudaErrorInvalidValue;
    }
    const Array* const array = device.arrays().find(resource->res.array.array);
    // cudaArraySurfaceLoadStore is not required: on an H100, surfaces of arrays without it work.
    if (array == nullptr) return cudaErrorInvalidValue;
    *handle = device.arrays().next_object++;
    device.arrays().surfaces.emplace(*handle, *resource);
    device.arrays().objects.add(*handle, describe_surface(*array));
    return cudaSuccess;
  });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t handle) {
  return answer([&](Device& device) {
    if (handle == 0) return cudaSuccess;
    if (device.arrays().surfaces.erase(handle) == 0) return cudaErrorInvalidValue;
    device.arrays().objects.destroy(handle, device.execution().unfinished());
    return cudaSuccess;
  });
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaSurfaceObject_t handle) {
  return answer([&](Device& device) {
    const auto found = device.arrays().surfaces.find(handle);
    if (resource == nullptr || found == device.arrays().surfaces.end()) {
      return cudaErrorInvalidValue;
    }
    *resource = found->second;
    return cudaSuccess;
  });
}

}  // extern "C"
