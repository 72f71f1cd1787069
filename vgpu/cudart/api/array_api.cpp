// Arrays: allocation, and copies to and from them.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/copies/copies.hpp"
#include "vgpu/cudart/memory/arrays.hpp"

namespace warpcheck::cudart {

std::optional<Place> Array::place(std::size_t x, std::size_t y, std::size_t z,
                                  const Box& box) const {
  const auto within = [](std::size_t first, std::size_t count, std::size_t limit) {
    return first <= limit && count <= limit - first;
  };
  if (!within(x, box.width, row_bytes()) || !within(y, box.height, rows()) ||
      !within(z, box.depth, slices())) {
    return std::nullopt;
  }
  const std::size_t pitch = row_bytes(), slice = pitch * rows();
  auto* const start = reinterpret_cast<std::byte*>(memory->address);
  return Place{start + z * slice + y * pitch + x, pitch, slice};
}

namespace {

constexpr unsigned kArrayFlags =
    cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;

bool is_format(const cudaChannelFormatDesc& format) {
  const int bits[] = {format.x, format.y, format.z, format.w};
  int channels = 0;
  for (const int bit : bits) {
    if (bit == 0) continue;
    if (bit != bits[0] || (bit != 8 && bit != 16 && bit != 32)) return false;
    ++channels;
  }
  return channels == 1 || channels == 2 || channels == 4;
}

// nullptr: out of memory.
Array* make_array(Device& device, const cudaChannelFormatDesc& format, const cudaExtent& extent,
                  unsigned flags) {
  auto array = std::make_unique<Array>();
  array->format = format;
  array->extent = extent;
  array->flags = flags;
  const std::size_t bytes = array->row_bytes() * array->rows() * array->slices();
  if (bytes > vgpu::kPartBytes) {
    throw vgpu::Refusal(
        fmt::format("an array of {} bytes: the virtual device has arrays of up to {}", bytes,
                    vgpu::kPartBytes));
  }
  array->memory = device.allocations().allocate(bytes);
  if (array->memory == nullptr) return nullptr;
  const auto handle = reinterpret_cast<cudaArray_const_t>(array.get());
  return device.arrays().arrays.emplace(handle, std::move(array)).first->second.get();
}

cudaError_t check_array(const void* handle, const cudaChannelFormatDesc* format,
                        const cudaExtent& extent, unsigned flags) {
  if (handle == nullptr || format == nullptr || !is_format(*format)) return cudaErrorInvalidValue;
  if ((flags & ~kArrayFlags) != 0) {
    throw vgpu::Refusal("cudaMallocArray: sparse and deferred arrays are not supported");
  }
  return extent.width == 0 ? cudaErrorInvalidValue : cudaSuccess;
}

void free_array(Device& device, cudaArray_const_t handle) {
  const auto found = device.arrays().arrays.find(handle);
  device.allocations().free(*found->second->memory);
  device.arrays().arrays.erase(found);
}

// A side of a copy: an array, or linear memory.
struct ArrayOrPointer {
  cudaArray_const_t array = nullptr;
  std::size_t x = 0, y = 0, z = 0;  // bytes, rows, slices
  Place linear;
};

std::optional<Place> place_of(Device& device, const ArrayOrPointer& side, const Box& box) {
  if (side.array != nullptr) {
    const Array* const array = device.arrays().find(side.array);
    return array == nullptr ? std::nullopt : array->place(side.x, side.y, side.z, box);
  }
  const Place& from = side.linear;
  if (from.pointer == nullptr) return std::nullopt;
  return Place{
      static_cast<std::byte*>(from.pointer) + side.z * from.slice + side.y * from.pitch + side.x,
      from.pitch, from.slice};
}

// Why a side of a copy has no place.
cudaError_t outside(Device& device, const ArrayOrPointer& side, const Box& box) {
  std::string why = "a null pointer";
  if (side.array != nullptr) {
    const Array* const array = device.arrays().find(side.array);
    why = array == nullptr
              ? "the array was never made, or freed"
              : fmt::format(
                    "{} rows of {} bytes from row {} and byte {} on are not inside an array "
                    "of {} rows of {} bytes",
                    box.height, box.width, side.y, side.x, array->rows(), array->row_bytes());
  }
  return device.errors().because(cudaErrorInvalidValue, std::move(why));
}

cudaError_t copy_boxes(std::string_view call, const ArrayOrPointer& target,
                       const ArrayOrPointer& source, const Box& box, int kind, cudaStream_t stream,
                       Waiting waiting) {
  return on_stream(call, stream, [&](Device& device, Stream& found) {
    if (box.bytes() == 0) return cudaSuccess;
    const std::optional<Place> to = place_of(device, target, box);
    const std::optional<Place> from = place_of(device, source, box);
    if (!to || !from) return outside(device, !to ? target : source, box);
    return copy(device, call, *to, *from, box, kind, found, waiting);
  });
}

ArrayOrPointer linear(const void* pointer, std::size_t pitch) {
  ArrayOrPointer side;
  side.linear = {const_cast<void*>(pointer), pitch, 0};
  return side;
}

ArrayOrPointer at(cudaArray_const_t array, std::size_t x, std::size_t y) {
  ArrayOrPointer side;
  side.array = array;
  side.x = x;
  side.y = y;
  return side;
}

// Returns the place of `bytes` bytes of an array's first slice, row after row from byte x of row y
// on; nothing if they are not inside.
std::optional<Place> place_in_rows(Device& device, cudaArray_const_t handle, std::size_t x,
                                   std::size_t y, std::size_t bytes) {
  const Array* const array = device.arrays().find(handle);
  if (array == nullptr) return std::nullopt;
  const std::size_t pitch = array->row_bytes(), all = pitch * array->rows();
  if (x > pitch || y > array->rows() || y * pitch + x > all) return std::nullopt;
  if (bytes > all - (y * pitch + x)) return std::nullopt;
  return Place{reinterpret_cast<std::byte*>(array->memory->address) + y * pitch + x, 0, 0};
}

// A side of a copy that continues from one row to the next.
struct RowsOrPointer {
  cudaArray_const_t array = nullptr;
  std::size_t x = 0, y = 0;  // bytes, rows
  const void* pointer = nullptr;
};

cudaError_t copy_rows(std::string_view call, const RowsOrPointer& target,
                      const RowsOrPointer& source, std::size_t bytes, int kind, cudaStream_t stream,
                      Waiting waiting) {
  return on_stream(call, stream, [&](Device& device, Stream& found) {
    const auto place = [&](const RowsOrPointer& side) -> std::optional<Place> {
      if (side.array != nullptr) return place_in_rows(device, side.array, side.x, side.y, bytes);
      if (side.pointer == nullptr) return std::nullopt;
      return Place{const_cast<void*>(side.pointer), 0, 0};
    };
    const std::optional<Place> to = place(target), from = place(source);
    if (!to || !from) return cudaErrorInvalidValue;
    if (bytes == 0) return cudaSuccess;
    return copy(device, call, *to, *from, {bytes}, kind, found, waiting);
  });
}

ArrayOrPointer side_of(Device& device, cudaArray_t array, const cudaPos& at,
                       const cudaPitchedPtr& pointer) {
  ArrayOrPointer side;
  side.array = array;
  const Array* const found = array == nullptr ? nullptr : device.arrays().find(array);
  side.x = at.x * (found == nullptr ? 1 : found->element_bytes());
  side.y = at.y;
  side.z = at.z;
  side.linear = {pointer.ptr, pointer.pitch, pointer.pitch * pointer.ysize};
  return side;
}

cudaError_t copy_3d(Device& device, std::string_view call, const cudaMemcpy3DParms* parameters,
                    Stream& stream, Waiting waiting) {
  CopyWork work;
  work.call = call;
  const cudaError_t error = describe_copy(device, parameters, work);
  if (error != cudaSuccess || work.box.bytes() == 0) return error;
  return copy(device, call, work.target, work.source, work.box, work.kind, stream, waiting);
}

cudaError_t copy_3d(std::string_view call, const cudaMemcpy3DParms* parameters, cudaStream_t stream,
                    Waiting waiting) {
  return on_stream(call, stream, [&](Device& device, Stream& found) {
    return copy_3d(device, call, parameters, found, waiting);
  });
}

cudaMemcpy3DParms without_peers(const cudaMemcpy3DPeerParms& peer) {
  cudaMemcpy3DParms parameters{};
  parameters.srcArray = peer.srcArray;
  parameters.srcPos = peer.srcPos;
  parameters.srcPtr = peer.srcPtr;
  parameters.dstArray = peer.dstArray;
  parameters.dstPos = peer.dstPos;
  parameters.dstPtr = peer.dstPtr;
  parameters.extent = peer.extent;
  parameters.kind = cudaMemcpyDeviceToDevice;
  return parameters;
}

// The addresses determine where the memory is; the device numbers must only be valid.
cudaError_t copy_3d(std::string_view call, const cudaMemcpy3DPeerParms* parameters,
                    cudaStream_t stream) {
  return on_stream(call, stream, [&](Device& device, Stream& found) {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    if (!device.exists(parameters->srcDevice) || !device.exists(parameters->dstDevice)) {
      return cudaErrorInvalidDevice;
    }
    const cudaMemcpy3DParms own = without_peers(*parameters);
    return copy_3d(device, call, &own, found, Waiting::asynchronous);
  });
}

}  // namespace

// The extent counts elements if one side is an array, otherwise bytes.
cudaError_t describe_copy(Device& device, const cudaMemcpy3DParms* parameters, CopyWork& work) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  const cudaMemcpy3DParms& given = *parameters;
  if ((given.srcArray != nullptr) == (given.srcPtr.ptr != nullptr) ||
      (given.dstArray != nullptr) == (given.dstPtr.ptr != nullptr)) {
    return cudaErrorInvalidValue;
  }
  std::size_t element_bytes = 1;
  for (const cudaArray_t array : {given.srcArray, given.dstArray}) {
    if (array == nullptr) continue;
    const Array* const found = device.arrays().find(array);
    if (found == nullptr) return cudaErrorInvalidValue;
    element_bytes = found->element_bytes();
  }
  work.box = {given.extent.width * element_bytes, given.extent.height, given.extent.depth};
  work.kind = number_of(given.kind);
  if (work.box.bytes() == 0) return cudaSuccess;
  const auto to =
      place_of(device, side_of(device, given.dstArray, given.dstPos, given.dstPtr), work.box);
  const auto from =
      place_of(device, side_of(device, given.srcArray, given.srcPos, given.srcPtr), work.box);
  if (!to || !from) return cudaErrorInvalidValue;
  work.target = *to;
  work.source = *from;
  return cudaSuccess;
}

}  // namespace warpcheck::cudart

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

extern "C" {

cudaError_t cudaMalloc3DArray(cudaArray_t* handle, const cudaChannelFormatDesc* format,
                              cudaExtent extent, unsigned flags) {
  return answer([&](Device& device) {
    if (const cudaError_t error = check_array(handle, format, extent, flags)) return error;
    Array* const array = make_array(device, *format, extent, flags);
    if (array == nullptr) return cudaErrorMemoryAllocation;
    *handle = reinterpret_cast<cudaArray_t>(array);
    return cudaSuccess;
  });
}

cudaError_t cudaMallocArray(cudaArray_t* handle, const cudaChannelFormatDesc* format, size_t width,
                            size_t height, unsigned flags) {
  return cudaMalloc3DArray(handle, format, {width, height, 0}, flags);
}

cudaError_t cudaFreeArray(cudaArray_t handle) {
  return answer([&](Device& device) {
    if (handle == nullptr) return cudaSuccess;
    const Array* const array = device.arrays().find(handle);
    if (array == nullptr || array->is_level) return cudaErrorInvalidValue;
    device.execution().wait_for_all();
    free_array(device, handle);
    return device.errors().sticky();
  });
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* handle,
                                     const cudaChannelFormatDesc* format, cudaExtent extent,
                                     unsigned levels, unsigned flags) {
  return answer([&](Device& device) {
    if (const cudaError_t error = check_array(handle, format, extent, flags)) return error;
    const std::size_t longest = std::max({extent.width, extent.height, extent.depth});
    if (levels == 0 || (longest >> (levels - 1)) == 0) return cudaErrorInvalidValue;
    auto mipmapped = std::make_unique<MipmappedArray>();
    const bool layered = (flags & (cudaArrayLayered | cudaArrayCubemap)) != 0;
    const auto halved = [](std::size_t size, unsigned level) {
      return size == 0 ? 0 : std::max<std::size_t>(size >> level, 1);
    };
    for (unsigned level = 0; level < levels; ++level) {
      const cudaExtent part{halved(extent.width, level), halved(extent.height, level),
                            layered ? extent.depth : halved(extent.depth, level)};
      Array* const array = make_array(device, *format, part, flags);
      if (array == nullptr) return cudaErrorMemoryAllocation;
      array->is_level = true;
      mipmapped->levels.push_back(array);
    }
    *handle = reinterpret_cast<cudaMipmappedArray_t>(mipmapped.get());
    device.arrays().mipmapped.emplace(*handle, std::move(mipmapped));
    return cudaSuccess;
  });
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t handle) {
  return answer([&](Device& device) {
    if (handle == nullptr) return cudaSuccess;
    const auto found = device.arrays().mipmapped.find(handle);
    if (found == device.arrays().mipmapped.end()) return cudaErrorInvalidValue;
    device.execution().wait_for_all();
    for (Array* const level : found->second->levels) {
      free_array(device, reinterpret_cast<cudaArray_const_t>(level));
    }
    device.arrays().mipmapped.erase(found);
    return device.errors().sticky();
  });
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* handle, cudaMipmappedArray_const_t mipmapped,
                                       unsigned level) {
  return answer([&](Device& device) {
    const auto found = device.arrays().mipmapped.find(mipmapped);
    if (handle == nullptr || found == device.arrays().mipmapped.end() ||
        level >= found->second->levels.size()) {
      return cudaErrorInvalidValue;
    }
    *handle = reinterpret_cast<cudaArray_t>(found->second->levels[level]);
    return cudaSuccess;
  });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags,
                             cudaArray_t handle) {
  return answer([&](Device& device) {
    const Array* const array = device.arrays().find(handle);
    if (array == nullptr) return cudaErrorInvalidResourceHandle;
    if (format != nullptr) *format = array->format;
    if (extent != nullptr) *extent = array->extent;
    if (flags != nullptr) *flags = array->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t handle) {
  return answer([&](Device& device) {
    const Array* const array = device.arrays().find(handle);
    if (format == nullptr || array == nullptr) return cudaErrorInvalidValue;
    *format = array->format;
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpyToArray(cudaArray_t target, size_t x, size_t y, const void* source,
                              size_t bytes, cudaMemcpyKind kind) {
  return copy_rows("cudaMemcpyToArray", {target, x, y}, {.pointer = source}, bytes, number_of(kind),
                   nullptr, Waiting::until_done);
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t target, size_t x, size_t y, const void* source,
                                   size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_rows("cudaMemcpyToArrayAsync", {target, x, y}, {.pointer = source}, bytes,
                   number_of(kind), stream, Waiting::asynchronous);
}

cudaError_t cudaMemcpyFromArray(void* target, cudaArray_const_t source, size_t x, size_t y,
                                size_t bytes, cudaMemcpyKind kind) {
  return copy_rows("cudaMemcpyFromArray", {.pointer = target}, {source, x, y}, bytes,
                   number_of(kind), nullptr, Waiting::until_done);
}

cudaError_t cudaMemcpyFromArrayAsync(void* target, cudaArray_const_t source, size_t x, size_t y,
                                     size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_rows("cudaMemcpyFromArrayAsync", {.pointer = target}, {source, x, y}, bytes,
                   number_of(kind), stream, Waiting::asynchronous);
}

cudaError_t cudaMemcpyArrayToArray(cudaArray_t target, size_t target_x, size_t target_y,
                                   cudaArray_const_t source, size_t source_x, size_t source_y,
                                   size_t bytes, cudaMemcpyKind kind) {
  return copy_rows("cudaMemcpyArrayToArray", {target, target_x, target_y},
                   {source, source_x, source_y}, bytes, number_of(kind), nullptr,
                   Waiting::until_done);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t target, size_t x, size_t y, const void* source,
                                size_t pitch, size_t width, size_t height, cudaMemcpyKind kind) {
  return copy_boxes("cudaMemcpy2DToArray", at(target, x, y), linear(source, pitch), {width, height},
                    number_of(kind), nullptr, Waiting::until_done);
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t target, size_t x, size_t y, const void* source,
                                     size_t pitch, size_t width, size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream) {
  return copy_boxes("cudaMemcpy2DToArrayAsync", at(target, x, y), linear(source, pitch),
                    {width, height}, number_of(kind), stream, Waiting::asynchronous);
}

cudaError_t cudaMemcpy2DFromArray(void* target, size_t pitch, cudaArray_const_t source, size_t x,
                                  size_t y, size_t width, size_t height, cudaMemcpyKind kind) {
  return copy_boxes("cudaMemcpy2DFromArray", linear(target, pitch), at(source, x, y),
                    {width, height}, number_of(kind), nullptr, Waiting::until_done);
}

cudaError_t cudaMemcpy2DFromArrayAsync(void* target, size_t pitch, cudaArray_const_t source,
                                       size_t x, size_t y, size_t width, size_t height,
                                       cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_boxes("cudaMemcpy2DFromArrayAsync", linear(target, pitch), at(source, x, y),
                    {width, height}, number_of(kind), stream, Waiting::asynchronous);
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t target, size_t target_x, size_t target_y,
                                     cudaArray_const_t source, size_t source_x, size_t source_y,
                                     size_t width, size_t height, cudaMemcpyKind kind) {
  return copy_boxes("cudaMemcpy2DArrayToArray", at(target, target_x, target_y),
                    at(source, source_x, source_y), {width, height}, number_of(kind), nullptr,
                    Waiting::until_done);
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  return copy_3d("cudaMemcpy3D", parameters, nullptr, Waiting::until_done);
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  return copy_3d("cudaMemcpy3DAsync", parameters, stream, Waiting::asynchronous);
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* parameters) {
  return copy_3d("cudaMemcpy3DPeer", parameters, nullptr);
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* parameters, cudaStream_t stream) {
  return copy_3d("cudaMemcpy3DPeerAsync", parameters, stream);
}

// Arrays with planes, with deferred mappings, and sparse arrays never exist here; the functions
// return the error for other arrays.
cudaError_t cudaArrayGetPlane(cudaArray_t*, cudaArray_t, unsigned) {
  return fail(cudaErrorInvalidValue);
}

cudaError_t cudaArrayGetMemoryRequirements(cudaArrayMemoryRequirements*, cudaArray_t, int) {
  return fail(cudaErrorInvalidValue);
}

cudaError_t cudaMipmappedArrayGetMemoryRequirements(cudaArrayMemoryRequirements*,
                                                    cudaMipmappedArray_t, int) {
  return fail(cudaErrorInvalidValue);
}

cudaError_t cudaArrayGetSparseProperties(cudaArraySparseProperties*, cudaArray_t) {
  return fail(cudaErrorInvalidValue);
}

cudaError_t cudaMipmappedArrayGetSparseProperties(cudaArraySparseProperties*,
                                                  cudaMipmappedArray_t) {
  return fail(cudaErrorInvalidValue);
}

}  // extern "C"
