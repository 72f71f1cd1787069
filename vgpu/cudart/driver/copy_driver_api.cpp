// Copies and fills of the driver API.
#include <cuda.h>

#include <cstdint>
#include <optional>

#include "vgpu/cudart/copies/copies.hpp"
#include "vgpu/cudart/driver/array_descriptions.hpp"
#include "vgpu/cudart/driver/driver_call.hpp"
#include "vgpu/cudart/memory/arrays.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

namespace {

// One side of a two- or three-dimensional copy, in the members that both structures have.
struct Side {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  std::size_t x, y, z, pitch, height;
};

Side source_of(const CUDA_MEMCPY2D& copy) {
  return {copy.srcMemoryType,
          copy.srcHost,
          copy.srcDevice,
          copy.srcArray,
          copy.srcXInBytes,
          copy.srcY,
          0,
          copy.srcPitch,
          0};
}
Side target_of(const CUDA_MEMCPY2D& copy) {
  return {copy.dstMemoryType,
          copy.dstHost,
          copy.dstDevice,
          copy.dstArray,
          copy.dstXInBytes,
          copy.dstY,
          0,
          copy.dstPitch,
          0};
}
// For CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER, whose members have the same names.
template <typename Copy>
Side source_of(const Copy& copy) {
  return {copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcArray, copy.srcXInBytes,
          copy.srcY,          copy.srcZ,    copy.srcPitch,  copy.srcHeight};
}
template <typename Copy>
Side target_of(const Copy& copy) {
  return {copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstArray, copy.dstXInBytes,
          copy.dstY,          copy.dstZ,    copy.dstPitch,  copy.dstHeight};
}

std::optional<Place> place_of(Device& device, const Side& side, const Box& box) {
  if (side.type == CU_MEMORYTYPE_ARRAY) {
    const Array* const array =
        device.arrays().find(reinterpret_cast<cudaArray_const_t>(side.array));
    return array == nullptr ? std::nullopt : array->place(side.x, side.y, side.z, box);
  }
  Place place;
  place.pitch = side.pitch != 0 ? side.pitch : side.x + box.width;
  place.slice = place.pitch * (side.height != 0 ? side.height : side.y + box.height);
  if (box.height > 1 && place.pitch < side.x + box.width) return std::nullopt;
  if (box.depth > 1 && side.height != 0 && side.height < side.y + box.height) return std::nullopt;
  const auto base = side.type == CU_MEMORYTYPE_HOST ? reinterpret_cast<std::uintptr_t>(side.host)
                                                    : static_cast<std::uintptr_t>(side.device);
  place.pointer =
      reinterpret_cast<void*>(base + side.z * place.slice + side.y * place.pitch + side.x);
  return place;
}

CUresult copy_box(const Side& target, const Side& source, const Box& box, CUstream stream,
                  Waiting waiting) {
  return in_context([&] {
    return on_stream(reported_name(), stream, [&](Device& device, Stream& found) {
      const auto from = place_of(device, source, box), to = place_of(device, target, box);
      if (!from || !to) return cudaErrorInvalidValue;
      return copy(device, reported_name(), *to, *from, box, kind_of(target.type, source.type),
                  found, waiting);
    });
  });
}

template <typename Copy>
CUresult copy_rows(const Copy* parameters, CUstream stream, Waiting waiting) {
  if (parameters == nullptr) return fail(CUDA_ERROR_INVALID_VALUE);
  const Box box{parameters->WidthInBytes, parameters->Height};
  return copy_box(target_of(*parameters), source_of(*parameters), box, stream, waiting);
}

template <typename Copy>
CUresult copy_slices(const Copy* parameters, CUstream stream, Waiting waiting) {
  if (parameters == nullptr) return fail(CUDA_ERROR_INVALID_VALUE);
  if (parameters->srcLOD != 0 || parameters->dstLOD != 0) return fail(CUDA_ERROR_INVALID_VALUE);
  const Box box{parameters->WidthInBytes, parameters->Height, parameters->Depth};
  return copy_box(target_of(*parameters), source_of(*parameters), box, stream, waiting);
}

CUresult copy_bytes(void* target, const void* source, std::size_t bytes, cudaMemcpyKind kind,
                    CUstream stream, Waiting waiting) {
  return in_context([&] {
    return on_stream(reported_name(), stream, [&](Device& device, Stream& found) {
      return copy(device, reported_name(), {target}, {const_cast<void*>(source)}, {bytes},
                  number_of(kind), found, waiting);
    });
  });
}

Side memory(CUmemorytype type, const void* host, CUdeviceptr device) {
  return {type, host, device, nullptr, 0, 0, 0, 0, 0};
}
Side of_host(const void* pointer) { return memory(CU_MEMORYTYPE_HOST, pointer, 0); }
Side of_device(CUdeviceptr address) { return memory(CU_MEMORYTYPE_DEVICE, nullptr, address); }
Side of_array(CUarray array, std::size_t offset) {
  return {CU_MEMORYTYPE_ARRAY, nullptr, 0, array, offset, 0, 0, 0, 0};
}

CUresult fill_rows(CUdeviceptr address, std::size_t pitch, std::uint32_t value, const Box& elements,
                   unsigned element_bytes, CUstream stream, Waiting waiting) {
  return in_context([&] {
    return on_stream(reported_name(), stream, [&](Device& device, Stream& found) {
      const Box box{elements.width * element_bytes, elements.height};
      if (address % element_bytes != 0 || pitch % element_bytes != 0 ||
          (box.height > 1 && pitch < box.width)) {
        return cudaErrorInvalidValue;
      }
      return fill(device, reported_name(), {to_pointer(address), pitch}, value, box, found, waiting,
                  element_bytes);
    });
  });
}

constexpr Waiting kWaits = Waiting::until_done, kGoesOn = Waiting::asynchronous;

}  // namespace

extern "C" {

CUresult cuMemcpy(CUdeviceptr target, CUdeviceptr source, size_t bytes) {
  return copy_bytes(to_pointer(target), to_pointer(source), bytes, cudaMemcpyDefault, nullptr,
                    kWaits);
}

CUresult cuMemcpyAsync(CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream) {
  return copy_bytes(to_pointer(target), to_pointer(source), bytes, cudaMemcpyDefault, stream,
                    kGoesOn);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr target, const void* source, size_t bytes) {
  return copy_bytes(to_pointer(target), source, bytes, cudaMemcpyHostToDevice, nullptr, kWaits);
}

CUresult cuMemcpyDtoH_v2(void* target, CUdeviceptr source, size_t bytes) {
  return copy_bytes(target, to_pointer(source), bytes, cudaMemcpyDeviceToHost, nullptr, kWaits);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr target, CUdeviceptr source, size_t bytes) {
  return copy_bytes(to_pointer(target), to_pointer(source), bytes, cudaMemcpyDeviceToDevice,
                    nullptr, kWaits);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr target, const void* source, size_t bytes,
                              CUstream stream) {
  return copy_bytes(to_pointer(target), source, bytes, cudaMemcpyHostToDevice, stream, kGoesOn);
}

CUresult cuMemcpyDtoHAsync_v2(void* target, CUdeviceptr source, size_t bytes, CUstream stream) {
  return copy_bytes(target, to_pointer(source), bytes, cudaMemcpyDeviceToHost, stream, kGoesOn);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr target, CUdeviceptr source, size_t bytes,
                              CUstream stream) {
  return copy_bytes(to_pointer(target), to_pointer(source), bytes, cudaMemcpyDeviceToDevice, stream,
                    kGoesOn);
}

CUresult cuMemcpyPeer(CUdeviceptr target, CUcontext to, CUdeviceptr source, CUcontext from,
                      size_t bytes) {
  return in_context([&] {
    const Context *const there = find_context(to), *const here = find_context(from);
    if (there == nullptr || here == nullptr) return fail(cudaErrorDeviceUninitialized);
    return cudaMemcpyPeer(to_pointer(target), there->device, to_pointer(source), here->device,
                          bytes);
  });
}

CUresult cuMemcpyPeerAsync(CUdeviceptr target, CUcontext to, CUdeviceptr source, CUcontext from,
                           size_t bytes, CUstream stream) {
  return in_context([&] {
    const Context *const there = find_context(to), *const here = find_context(from);
    if (there == nullptr || here == nullptr) return fail(cudaErrorDeviceUninitialized);
    return cudaMemcpyPeerAsync(to_pointer(target), there->device, to_pointer(source), here->device,
                               bytes, stream);
  });
}

CUresult cuMemcpyDtoA_v2(CUarray target, size_t offset, CUdeviceptr source, size_t bytes) {
  return copy_box(of_array(target, offset), of_device(source), {bytes}, nullptr, kWaits);
}
CUresult cuMemcpyAtoD_v2(CUdeviceptr target, CUarray source, size_t offset, size_t bytes) {
  return copy_box(of_device(target), of_array(source, offset), {bytes}, nullptr, kWaits);
}
CUresult cuMemcpyHtoA_v2(CUarray target, size_t offset, const void* source, size_t bytes) {
  return copy_box(of_array(target, offset), of_host(source), {bytes}, nullptr, kWaits);
}
CUresult cuMemcpyAtoH_v2(void* target, CUarray source, size_t offset, size_t bytes) {
  return copy_box(of_host(target), of_array(source, offset), {bytes}, nullptr, kWaits);
}
CUresult cuMemcpyAtoA_v2(CUarray target, size_t to, CUarray source, size_t from, size_t bytes) {
  return copy_box(of_array(target, to), of_array(source, from), {bytes}, nullptr, kWaits);
}
CUresult cuMemcpyHtoAAsync_v2(CUarray target, size_t offset, const void* source, size_t bytes,
                              CUstream stream) {
  return copy_box(of_array(target, offset), of_host(source), {bytes}, stream, kGoesOn);
}
CUresult cuMemcpyAtoHAsync_v2(void* target, CUarray source, size_t offset, size_t bytes,
                              CUstream stream) {
  return copy_box(of_host(target), of_array(source, offset), {bytes}, stream, kGoesOn);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* copy) { return copy_rows(copy, nullptr, kWaits); }
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* copy) {
  return copy_rows(copy, nullptr, kWaits);
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return copy_rows(copy, stream, kGoesOn);
}
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* copy) { return copy_slices(copy, nullptr, kWaits); }
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* copy, CUstream stream) {
  return copy_slices(copy, stream, kGoesOn);
}
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* copy) {
  return copy_slices(copy, nullptr, kWaits);
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* copy, CUstream stream) {
  return copy_slices(copy, stream, kGoesOn);
}

CUresult cuMemsetD8_v2(CUdeviceptr address, unsigned char value, size_t count) {
  return fill_rows(address, 0, value, {count}, 1, nullptr, kWaits);
}
CUresult cuMemsetD16_v2(CUdeviceptr address, unsigned short value, size_t count) {
  return fill_rows(address, 0, value, {count}, 2, nullptr, kWaits);
}
CUresult cuMemsetD32_v2(CUdeviceptr address, unsigned value, size_t count) {
  return fill_rows(address, 0, value, {count}, 4, nullptr, kWaits);
}
CUresult cuMemsetD2D8_v2(CUdeviceptr address, size_t pitch, unsigned char value, size_t width,
                         size_t height) {
  return fill_rows(address, pitch, value, {width, height}, 1, nullptr, kWaits);
}
CUresult cuMemsetD2D16_v2(CUdeviceptr address, size_t pitch, unsigned short value, size_t width,
                          size_t height) {
  return fill_rows(address, pitch, value, {width, height}, 2, nullptr, kWaits);
}
CUresult cuMemsetD2D32_v2(CUdeviceptr address, size_t pitch, unsigned value, size_t width,
                          size_t height) {
  return fill_rows(address, pitch, value, {width, height}, 4, nullptr, kWaits);
}
CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t count, CUstream stream) {
  return fill_rows(address, 0, value, {count}, 1, stream, kGoesOn);
}
CUresult cuMemsetD16Async(CUdeviceptr address, unsigned short value, size_t count,
                          CUstream stream) {
  return fill_rows(address, 0, value, {count}, 2, stream, kGoesOn);
}
CUresult cuMemsetD32Async(CUdeviceptr address, unsigned value, size_t count, CUstream stream) {
  return fill_rows(address, 0, value, {count}, 4, stream, kGoesOn);
}
CUresult cuMemsetD2D8Async(CUdeviceptr address, size_t pitch, unsigned char value, size_t width,
                           size_t height, CUstream stream) {
  return fill_rows(address, pitch, value, {width, height}, 1, stream, kGoesOn);
}
CUresult cuMemsetD2D16Async(CUdeviceptr address, size_t pitch, unsigned short value, size_t width,
                            size_t height, CUstream stream) {
  return fill_rows(address, pitch, value, {width, height}, 2, stream, kGoesOn);
}
CUresult cuMemsetD2D32Async(CUdeviceptr address, size_t pitch, unsigned value, size_t width,
                            size_t height, CUstream stream) {
  return fill_rows(address, pitch, value, {width, height}, 4, stream, kGoesOn);
}

}  // extern "C"
