#include "vgpu/cudart/memory/texture_objects.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "vgpu/cudart/device/enum_number.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::cudart {
namespace {

using vgpu::TexelBox;
using vgpu::TexelFormat;
using vgpu::TexelKind;
using vgpu::TextureShape;

TexelFormat format_of(const cudaChannelFormatDesc& format) {
  TexelFormat result;
  switch (number_of(format.f)) {
    case cudaChannelFormatKindUnsigned: result.kind = TexelKind::unsigned_integer; break;
    case cudaChannelFormatKindSigned: result.kind = TexelKind::signed_integer; break;
    case cudaChannelFormatKindFloat: result.kind = TexelKind::floating; break;
    default:
      throw vgpu::Refusal("textures: compressed and other special formats are not supported");
  }
  result.bits = static_cast<std::uint8_t>(format.x);
  result.channels = 0;
  for (const int bits : {format.x, format.y, format.z, format.w}) {
    if (bits != 0) ++result.channels;
  }
  return result;
}

TexelBox box_of(const Array& array) {
  TexelBox box;
  box.memory = array.memory;
  box.width = static_cast<std::uint32_t>(array.extent.width);
  box.height = static_cast<std::uint32_t>(array.rows());
  box.layers = static_cast<std::uint32_t>(array.slices());
  box.pitch = array.row_bytes();
  box.slice = box.pitch * box.height;
  return box;
}

TextureShape shape_of(const Array& array) {
  const bool is_layered = (array.flags & cudaArrayLayered) != 0;
  if ((array.flags & cudaArrayCubemap) != 0) return TextureShape::cube;
  if (!is_layered && array.extent.depth != 0) return TextureShape::volume;
  return array.extent.height == 0 ? TextureShape::line : TextureShape::plane;
}

void describe_array(const Array& array, vgpu::Texture& texture) {
  texture.format = format_of(array.format);
  texture.shape = shape_of(array);
  texture.layered = (array.flags & cudaArrayLayered) != 0;
  texture.levels = {box_of(array)};
}

TexelBox linear_box(const Allocations& allocations, const void* pointer, const TexelFormat& format,
                    std::size_t width, std::size_t height, std::size_t pitch) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  TexelBox box;
  vgpu::Allocation* const found = allocations.find(pointer);
  if (found == nullptr) return box;
  box.memory = found->part_at(address - found->address);
  box.offset = address - box.memory->address;
  box.width = static_cast<std::uint32_t>(width);
  box.height = static_cast<std::uint32_t>(height);
  box.pitch = pitch == 0 ? width * format.bytes() : pitch;
  box.slice = box.pitch * height;
  if (box.memory != found && box.offset + box.slice > box.memory->bytes) {
    throw vgpu::Refusal(
        fmt::format("a texture of memory on both sides of a multiple of {} bytes in one allocation",
                    found->part_bytes));
  }
  return box;
}

cudaError_t describe_memory(const Arrays& arrays, const Allocations& allocations,
                            const cudaResourceDesc& resource, vgpu::Texture& texture) {
  switch (number_of(resource.resType)) {
    case cudaResourceTypeArray:
      describe_array(*arrays.find(resource.res.array.array), texture);
      return cudaSuccess;
    case cudaResourceTypeMipmappedArray: {
      const auto& levels = arrays.mipmapped.at(resource.res.mipmap.mipmap)->levels;
      describe_array(*levels.front(), texture);
      texture.levels.clear();
      for (const Array* level : levels) texture.levels.push_back(box_of(*level));
      return cudaSuccess;
    }
    case cudaResourceTypeLinear: {
      const auto& linear = resource.res.linear;
      texture.format = format_of(linear.desc);
      texture.shape = TextureShape::linear;
      texture.levels = {linear_box(allocations, linear.devPtr, texture.format,
                                   linear.sizeInBytes / texture.format.bytes(), 1, 0)};
      break;
    }
    default: {
      const auto& pitched = resource.res.pitch2D;
      texture.format = format_of(pitched.desc);
      texture.shape = TextureShape::plane;
      texture.levels = {linear_box(allocations, pitched.devPtr, texture.format, pitched.width,
                                   pitched.height, pitched.pitchInBytes)};
    }
  }
  return texture.levels.front().memory == nullptr ? cudaErrorInvalidValue : cudaSuccess;
}

void refuse_what_is_missing(const TextureObject& object) {
  if (object.has_view) {
    throw vgpu::Refusal("cudaCreateTextureObject: resource views are not supported");
  }
  if (object.texture.seamlessCubemap != 0) {
    throw vgpu::Refusal("cudaCreateTextureObject: seamless cubemaps are not supported");
  }
  if (object.texture.maxAnisotropy > 1) {
    throw vgpu::Refusal("cudaCreateTextureObject: anisotropic filtering is not supported");
  }
}

}  // namespace

cudaError_t describe(const Arrays& arrays, const Allocations& allocations,
                     const TextureObject& object, vgpu::Texture& texture) {
  refuse_what_is_missing(object);
  const cudaError_t error = describe_memory(arrays, allocations, object.resource, texture);
  if (error != cudaSuccess) return error;
  const cudaTextureDesc& desc = object.texture;
  constexpr vgpu::TextureAddress kAddresses[] = {
      vgpu::TextureAddress::wrap, vgpu::TextureAddress::clamp, vgpu::TextureAddress::mirror,
      vgpu::TextureAddress::border};
  for (std::size_t side = 0; side < 3; ++side) {
    const unsigned mode = static_cast<unsigned>(number_of(desc.addressMode[side]));
    if (mode >= std::size(kAddresses)) return cudaErrorInvalidValue;
    texture.address[side] = kAddresses[mode];
  }
  const bool is_integer = texture.format.kind != TexelKind::floating;
  texture.normalized = desc.normalizedCoords != 0;
  texture.smooth = number_of(desc.filterMode) == cudaFilterModeLinear;
  const bool wants_fractions = number_of(desc.readMode) == cudaReadModeNormalizedFloat;
  texture.scaled = is_integer && wants_fractions;
  texture.srgb = desc.sRGB != 0 && texture.scaled && texture.format.bits == 8 &&
                 texture.format.kind == TexelKind::unsigned_integer;
  texture.smooth_levels =
      texture.levels.size() > 1 && number_of(desc.mipmapFilterMode) == cudaFilterModeLinear;
  texture.level_bias = desc.mipmapLevelBias;
  texture.level_min = desc.minMipmapLevelClamp;
  texture.level_max = desc.maxMipmapLevelClamp;
  std::copy_n(desc.borderColor, 4, texture.border.begin());
  return cudaSuccess;
}

cudaError_t check_filter(const cudaTextureDesc& desc, const vgpu::Texture& texture) {
  const bool is_integer = texture.format.kind != TexelKind::floating;
  const bool is_wide = texture.format.bits == 32;
  const bool wants_fractions = number_of(desc.readMode) == cudaReadModeNormalizedFloat;
  if (texture.smooth && is_integer && (is_wide || !wants_fractions)) {
    return cudaErrorInvalidFilterSetting;
  }
  return wants_fractions && (is_wide || !is_integer) ? cudaErrorInvalidNormSetting : cudaSuccess;
}

vgpu::Surface describe_surface(const Array& array) {
  vgpu::Surface surface;
  surface.format = format_of(array.format);
  surface.shape = shape_of(array);
  surface.layered = (array.flags & cudaArrayLayered) != 0;
  surface.box = box_of(array);
  return surface;
}

}  // namespace warpcheck::cudart
