#include "vgpu/cudart/driver/array_descriptions.hpp"

#include <algorithm>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/memory/arrays.hpp"

namespace warpcheck::cudart {
namespace {

bool is_of_device(CUmemorytype type) {
  return type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_ARRAY;
}

// Returns the bytes of an array's element; 1 for memory, whose positions are in bytes.
std::size_t element_bytes(CUmemorytype type, CUarray array) {
  if (type != CU_MEMORYTYPE_ARRAY) return 1;
  return with_device([&](Device& device) {
    const Array* const found = device.arrays().find(reinterpret_cast<cudaArray_const_t>(array));
    return found == nullptr ? std::size_t{1} : found->element_bytes();
  });
}

cudaPitchedPtr pitched(const void* host, CUdeviceptr device, CUmemorytype type, std::size_t pitch,
                       std::size_t height) {
  void* const pointer =
      type == CU_MEMORYTYPE_HOST ? const_cast<void*>(host) : reinterpret_cast<void*>(device);
  return {pointer, pitch, pitch, height};
}

}  // namespace

cudaMemcpyKind kind_of(CUmemorytype target, CUmemorytype source) {
  if (target == CU_MEMORYTYPE_UNIFIED || source == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
  if (is_of_device(target)) {
    return is_of_device(source) ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice;
  }
  return is_of_device(source) ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost;
}

std::optional<cudaChannelFormatDesc> format_of(CUarray_format format, unsigned channels) {
  int bits = 0;
  cudaChannelFormatKind kind = cudaChannelFormatKindUnsigned;
  switch (number_of(format)) {
    case CU_AD_FORMAT_UNSIGNED_INT8: bits = 8; break;
    case CU_AD_FORMAT_UNSIGNED_INT16: bits = 16; break;
    case CU_AD_FORMAT_UNSIGNED_INT32: bits = 32; break;
    case CU_AD_FORMAT_SIGNED_INT8:
      bits = 8;
      kind = cudaChannelFormatKindSigned;
      break;
    case CU_AD_FORMAT_SIGNED_INT16:
      bits = 16;
      kind = cudaChannelFormatKindSigned;
      break;
    case CU_AD_FORMAT_SIGNED_INT32:
      bits = 32;
      kind = cudaChannelFormatKindSigned;
      break;
    case CU_AD_FORMAT_HALF:
      bits = 16;
      kind = cudaChannelFormatKindFloat;
      break;
    case CU_AD_FORMAT_FLOAT:
      bits = 32;
      kind = cudaChannelFormatKindFloat;
      break;
    default: return std::nullopt;
  }
  if (channels != 1 && channels != 2 && channels != 4) return std::nullopt;
  return cudaChannelFormatDesc{bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0,
                               channels > 3 ? bits : 0, kind};
}

CUarray_format format_of(const cudaChannelFormatDesc& format) {
  if (format.f == cudaChannelFormatKindFloat) {
    return format.x == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
  }
  const bool is_signed = format.f == cudaChannelFormatKindSigned;
  switch (format.x) {
    case 8: return is_signed ? CU_AD_FORMAT_SIGNED_INT8 : CU_AD_FORMAT_UNSIGNED_INT8;
    case 16: return is_signed ? CU_AD_FORMAT_SIGNED_INT16 : CU_AD_FORMAT_UNSIGNED_INT16;
    default: return is_signed ? CU_AD_FORMAT_SIGNED_INT32 : CU_AD_FORMAT_UNSIGNED_INT32;
  }
}

unsigned channels_of(const cudaChannelFormatDesc& format) {
  return 1u + (format.y != 0) + (format.z != 0) + (format.w != 0);
}

std::optional<cudaMemcpy3DParms> parameters_of(const CUDA_MEMCPY3D& copy) {
  const std::size_t of_source = element_bytes(copy.srcMemoryType, copy.srcArray);
  const std::size_t of_target = element_bytes(copy.dstMemoryType, copy.dstArray);
  const std::size_t element = std::max(of_source, of_target);
  if (copy.WidthInBytes % element != 0 || copy.srcXInBytes % of_source != 0 ||
      copy.dstXInBytes % of_target != 0) {
    return std::nullopt;
  }
  cudaMemcpy3DParms made{};
  made.srcPos = {copy.srcXInBytes / of_source, copy.srcY, copy.srcZ};
  made.dstPos = {copy.dstXInBytes / of_target, copy.dstY, copy.dstZ};
  if (copy.srcMemoryType == CU_MEMORYTYPE_ARRAY) {
    made.srcArray = reinterpret_cast<cudaArray_t>(copy.srcArray);
  } else {
    made.srcPtr =
        pitched(copy.srcHost, copy.srcDevice, copy.srcMemoryType, copy.srcPitch, copy.srcHeight);
  }
  if (copy.dstMemoryType == CU_MEMORYTYPE_ARRAY) {
    made.dstArray = reinterpret_cast<cudaArray_t>(copy.dstArray);
  } else {
    made.dstPtr =
        pitched(copy.dstHost, copy.dstDevice, copy.dstMemoryType, copy.dstPitch, copy.dstHeight);
  }
  made.extent = {copy.WidthInBytes / element, copy.Height, copy.Depth};
  made.kind = kind_of(copy.dstMemoryType, copy.srcMemoryType);
  return made;
}

}  // namespace warpcheck::cudart
