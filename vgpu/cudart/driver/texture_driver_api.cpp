// Arrays, textures and surfaces of the driver API.
#include <cuda.h>

#include <algorithm>
#include <optional>

#include "vgpu/cudart/api/texture_api.hpp"
#include "vgpu/cudart/driver/array_descriptions.hpp"
#include "vgpu/cudart/driver/driver_call.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

namespace {

cudaArray_t array_of(CUarray array) { return reinterpret_cast<cudaArray_t>(array); }
cudaMipmappedArray_t array_of(CUmipmappedArray array) {
  return reinterpret_cast<cudaMipmappedArray_t>(array);
}

cudaError_t unknown_format() {
  return not_supported(reported_name(),
                       "a format of elements that is not one of 1, 2 or 4 channels of "
                       "8, 16 or 32 bits");
}

CUresult create(CUarray* made, const CUDA_ARRAY3D_DESCRIPTOR& wanted) {
  return in_context([&] {
    const auto format = format_of(wanted.Format, wanted.NumChannels);
    if (!format) return unknown_format();
    return cudaMalloc3DArray(reinterpret_cast<cudaArray_t*>(made), &*format,
                             {wanted.Width, wanted.Height, wanted.Depth}, wanted.Flags);
  });
}

cudaError_t describe(CUarray array, CUDA_ARRAY3D_DESCRIPTOR& description) {
  cudaChannelFormatDesc format{};
  cudaExtent extent{};
  unsigned flags = 0;
  const cudaError_t error = cudaArrayGetInfo(&format, &extent, &flags, array_of(array));
  if (error != cudaSuccess) return error;
  description = {};
  description.Width = extent.width;
  description.Height = extent.height;
  description.Depth = extent.depth;
  description.Format = format_of(format);
  description.NumChannels = channels_of(format);
  description.Flags = flags;
  return cudaSuccess;
}

// Returns nothing for an unknown type or format.
std::optional<cudaResourceDesc> resource_of(const CUDA_RESOURCE_DESC& wanted) {
  cudaResourceDesc made{};
  switch (number_of(wanted.resType)) {
    case CU_RESOURCE_TYPE_ARRAY:
      made.resType = cudaResourceTypeArray;
      made.res.array.array = array_of(wanted.res.array.hArray);
      return made;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      made.resType = cudaResourceTypeMipmappedArray;
      made.res.mipmap.mipmap = array_of(wanted.res.mipmap.hMipmappedArray);
      return made;
    case CU_RESOURCE_TYPE_LINEAR: {
      const auto& linear = wanted.res.linear;
      const auto format = format_of(linear.format, linear.numChannels);
      if (!format) return std::nullopt;
      made.resType = cudaResourceTypeLinear;
      made.res.linear = {to_pointer(linear.devPtr), *format, linear.sizeInBytes};
      return made;
    }
    case CU_RESOURCE_TYPE_PITCH2D: {
      const auto& rows = wanted.res.pitch2D;
      const auto format = format_of(rows.format, rows.numChannels);
      if (!format) return std::nullopt;
      made.resType = cudaResourceTypePitch2D;
      made.res.pitch2D = {to_pointer(rows.devPtr), *format, rows.width, rows.height,
                          rows.pitchInBytes};
      return made;
    }
    default: return std::nullopt;
  }
}

CUDA_RESOURCE_DESC resource_of(const cudaResourceDesc& known) {
  CUDA_RESOURCE_DESC made{};
  made.resType = static_cast<CUresourcetype>(known.resType);
  if (known.resType == cudaResourceTypeArray) {
    made.res.array.hArray = reinterpret_cast<CUarray>(known.res.array.array);
  } else if (known.resType == cudaResourceTypeMipmappedArray) {
    made.res.mipmap.hMipmappedArray = reinterpret_cast<CUmipmappedArray>(known.res.mipmap.mipmap);
  } else if (known.resType == cudaResourceTypeLinear) {
    const auto& linear = known.res.linear;
    made.res.linear = {to_address(linear.devPtr), format_of(linear.desc), channels_of(linear.desc),
                       linear.sizeInBytes};
  } else {
    const auto& rows = known.res.pitch2D;
    made.res.pitch2D = {to_address(rows.devPtr),
                        format_of(rows.desc),
                        channels_of(rows.desc),
                        rows.width,
                        rows.height,
                        rows.pitchInBytes};
  }
  return made;
}

cudaChannelFormatDesc element_of(const cudaResourceDesc& resource) {
  cudaChannelFormatDesc format{};
  switch (number_of(resource.resType)) {
    case cudaResourceTypeArray:
      static_cast<void>(cudaGetChannelDesc(&format, resource.res.array.array));
      break;
    case cudaResourceTypeMipmappedArray: {
      cudaArray_t level = nullptr;
      static_cast<void>(cudaGetMipmappedArrayLevel(&level, resource.res.mipmap.mipmap, 0));
      static_cast<void>(cudaGetChannelDesc(&format, level));
      break;
    }
    case cudaResourceTypeLinear: format = resource.res.linear.desc; break;
    default: format = resource.res.pitch2D.desc; break;
  }
  return format;
}

// Integers of 8 and 16 bits are read as numbers between 0, or -1, and 1, unless a flag says
// otherwise (CUDA Driver API, cuTexObjectCreate).
cudaTextureReadMode read_mode_of(unsigned flags, const cudaChannelFormatDesc& format) {
  const bool is_narrow = format.f != cudaChannelFormatKindFloat && format.x < 32;
  const bool stays = (flags & CU_TRSF_READ_AS_INTEGER) != 0 || !is_narrow;
  return stays ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
}

cudaTextureDesc texture_of(const CUDA_TEXTURE_DESC& wanted, const cudaChannelFormatDesc& format) {
  cudaTextureDesc made{};
  for (int i = 0; i < 3; ++i) {
    made.addressMode[i] = static_cast<cudaTextureAddressMode>(number_of(wanted.addressMode[i]));
  }
  made.filterMode = static_cast<cudaTextureFilterMode>(number_of(wanted.filterMode));
  made.readMode = read_mode_of(wanted.flags, format);
  made.sRGB = (wanted.flags & CU_TRSF_SRGB) != 0 ? 1 : 0;
  std::copy_n(wanted.borderColor, 4, made.borderColor);
  made.normalizedCoords = (wanted.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0 ? 1 : 0;
  made.maxAnisotropy = wanted.maxAnisotropy;
  made.mipmapFilterMode = static_cast<cudaTextureFilterMode>(number_of(wanted.mipmapFilterMode));
  made.mipmapLevelBias = wanted.mipmapLevelBias;
  made.minMipmapLevelClamp = wanted.minMipmapLevelClamp;
  made.maxMipmapLevelClamp = wanted.maxMipmapLevelClamp;
  made.disableTrilinearOptimization =
      (wanted.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0 ? 1 : 0;
  made.seamlessCubemap = (wanted.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0 ? 1 : 0;
  return made;
}

}  // namespace

extern "C" {

CUresult cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* wanted) {
  if (array == nullptr || wanted == nullptr) return fail(CUDA_ERROR_INVALID_VALUE);
  return create(array, *wanted);
}

CUresult cuArrayCreate_v2(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* wanted) {
  if (array == nullptr || wanted == nullptr) return fail(CUDA_ERROR_INVALID_VALUE);
  CUDA_ARRAY3D_DESCRIPTOR more{};
  more.Width = wanted->Width;
  more.Height = wanted->Height;
  more.Format = wanted->Format;
  more.NumChannels = wanted->NumChannels;
  return create(array, more);
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* description, CUarray array) {
  return in_context([&] {
    return description == nullptr ? fail(cudaErrorInvalidValue) : describe(array, *description);
  });
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* description, CUarray array) {
  return in_context([&] {
    CUDA_ARRAY3D_DESCRIPTOR more{};
    if (description == nullptr) return fail(cudaErrorInvalidValue);
    const cudaError_t error = describe(array, more);
    *description = {more.Width, more.Height, more.Format, more.NumChannels};
    return error;
  });
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* array, const CUDA_ARRAY3D_DESCRIPTOR* wanted,
                                unsigned levels) {
  return in_context([&] {
    if (array == nullptr || wanted == nullptr) return fail(cudaErrorInvalidValue);
    const auto format = format_of(wanted->Format, wanted->NumChannels);
    if (!format) return unknown_format();
    return cudaMallocMipmappedArray(reinterpret_cast<cudaMipmappedArray_t*>(array), &*format,
                                    {wanted->Width, wanted->Height, wanted->Depth}, levels,
                                    wanted->Flags);
  });
}

CUresult cuTexObjectCreate(CUtexObject* object, const CUDA_RESOURCE_DESC* resource,
                           const CUDA_TEXTURE_DESC* texture, const CUDA_RESOURCE_VIEW_DESC* view) {
  return in_context([&] {
    if (object == nullptr || resource == nullptr || texture == nullptr) {
      return fail(cudaErrorInvalidValue);
    }
    if (view != nullptr) return not_supported("cuTexObjectCreate with a resource view");
    const auto known = resource_of(*resource);
    if (!known) return unknown_format();
    const cudaTextureDesc made = texture_of(*texture, element_of(*known));
    return create_texture_object(object, &*known, &made, nullptr, false);
  });
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUtexObject object) {
  return in_context([&] {
    cudaResourceDesc known{};
    if (resource == nullptr) return fail(cudaErrorInvalidValue);
    const cudaError_t error = cudaGetTextureObjectResourceDesc(&known, object);
    if (error == cudaSuccess) *resource = resource_of(known);
    return error;
  });
}

CUresult cuSurfObjectCreate(CUsurfObject* object, const CUDA_RESOURCE_DESC* resource) {
  return in_context([&] {
    if (object == nullptr || resource == nullptr) return fail(cudaErrorInvalidValue);
    const auto known = resource_of(*resource);
    if (!known) return unknown_format();
    return cudaCreateSurfaceObject(object, &*known);
  });
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUsurfObject object) {
  return in_context([&] {
    cudaResourceDesc known{};
    if (resource == nullptr) return fail(cudaErrorInvalidValue);
    const cudaError_t error = cudaGetSurfaceObjectResourceDesc(&known, object);
    if (error == cudaSuccess) *resource = resource_of(known);
    return error;
  });
}

}  // extern "C"
