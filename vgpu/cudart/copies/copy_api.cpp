// cudaMemcpy, cudaMemset and similar functions for one and two dimensions.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/copies/copies.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

namespace {

cudaError_t too_wide(Device& device, cudaError_t error, std::size_t width, std::size_t pitch) {
  return device.errors().because(error, fmt::format("a row of {} bytes > pitch {}", width, pitch));
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpy(void* target, const void* source, size_t bytes, cudaMemcpyKind kind) {
  return on_stream("cudaMemcpy", nullptr, [&](Device& device, Stream& stream) {
    return copy(device, "cudaMemcpy", {target}, {const_cast<void*>(source)}, {bytes},
                number_of(kind), stream, Waiting::until_done);
  });
}

cudaError_t cudaMemcpyAsync(void* target, const void* source, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return on_stream("cudaMemcpyAsync", stream, [&](Device& device, Stream& found) {
    return copy(device, "cudaMemcpyAsync", {target}, {const_cast<void*>(source)}, {bytes},
                number_of(kind), found, Waiting::asynchronous);
  });
}

cudaError_t cudaMemcpyPeer(void* target, int target_device, const void* source, int source_device,
                           size_t bytes) {
  // The call does not wait, but it is serialised with all work of both devices.
  return answer([&](Device& device) {
    if (!device.exists(target_device)) return no_such_device(device, target_device);
    if (!device.exists(source_device)) return no_such_device(device, source_device);
    CopyWork work;
    work.call = "cudaMemcpyPeer";
    work.target = {target};
    work.source = {const_cast<void*>(source)};
    work.box = {bytes};
    work.kind = cudaMemcpyDeviceToDevice;
    const cudaError_t error = prepare(device, work);
    if (error != cudaSuccess || bytes == 0) return error;
    const std::set<unsigned> devices{device.number(), static_cast<unsigned>(target_device),
                                     static_cast<unsigned>(source_device)};
    device.execution().submit_across(devices, std::move(work), device.number());
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpyPeerAsync(void* target, int target_device, const void* source,
                                int source_device, size_t bytes, cudaStream_t stream) {
  return on_stream("cudaMemcpyPeerAsync", stream, [&](Device& device, Stream& found) {
    if (!device.exists(target_device)) return no_such_device(device, target_device);
    if (!device.exists(source_device)) return no_such_device(device, source_device);
    return copy(device, "cudaMemcpyPeerAsync", {target}, {const_cast<void*>(source)}, {bytes},
                cudaMemcpyDeviceToDevice, found, Waiting::asynchronous);
  });
}

cudaError_t cudaMemcpy2D(void* target, size_t target_pitch, const void* source, size_t source_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  return on_stream("cudaMemcpy2D", nullptr, [&](Device& device, Stream& stream) {
    const size_t pitch = std::min(target_pitch, source_pitch);
    if (width > pitch) return too_wide(device, cudaErrorInvalidPitchValue, width, pitch);
    return copy(device, "cudaMemcpy2D", {target, target_pitch},
                {const_cast<void*>(source), source_pitch}, {width, height}, number_of(kind), stream,
                Waiting::until_done);
  });
}

cudaError_t cudaMemcpy2DAsync(void* target, size_t target_pitch, const void* source,
                              size_t source_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  return on_stream("cudaMemcpy2DAsync", stream, [&](Device& device, Stream& found) {
    const size_t pitch = std::min(target_pitch, source_pitch);
    if (width > pitch) return too_wide(device, cudaErrorInvalidPitchValue, width, pitch);
    return copy(device, "cudaMemcpy2DAsync", {target, target_pitch},
                {const_cast<void*>(source), source_pitch}, {width, height}, number_of(kind), found,
                Waiting::asynchronous);
  });
}

cudaError_t cudaMemset(void* target, int value, size_t bytes) {
  return on_stream("cudaMemset", nullptr, [&](Device& device, Stream& stream) {
    return fill(device, "cudaMemset", {target}, static_cast<unsigned>(value), {bytes}, stream,
                Waiting::until_done);
  });
}

cudaError_t cudaMemsetAsync(void* target, int value, size_t bytes, cudaStream_t stream) {
  return on_stream("cudaMemsetAsync", stream, [&](Device& device, Stream& found) {
    return fill(device, "cudaMemsetAsync", {target}, static_cast<unsigned>(value), {bytes}, found,
                Waiting::asynchronous);
  });
}

cudaError_t cudaMemset2D(void* target, size_t pitch, int value, size_t width, size_t height) {
  return on_stream("cudaMemset2D", nullptr, [&](Device& device, Stream& stream) {
    if (width > pitch) return too_wide(device, cudaErrorInvalidValue, width, pitch);
    return fill(device, "cudaMemset2D", {target, pitch}, static_cast<unsigned>(value),
                {width, height}, stream, Waiting::until_done);
  });
}

cudaError_t cudaMemset2DAsync(void* target, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return on_stream("cudaMemset2DAsync", stream, [&](Device& device, Stream& found) {
    if (width > pitch) return too_wide(device, cudaErrorInvalidValue, width, pitch);
    return fill(device, "cudaMemset2DAsync", {target, pitch}, static_cast<unsigned>(value),
                {width, height}, found, Waiting::asynchronous);
  });
}

cudaError_t cudaMemset3D(cudaPitchedPtr target, int value, cudaExtent extent) {
  return on_stream("cudaMemset3D", nullptr, [&](Device& device, Stream& stream) {
    if (extent.width > target.pitch) {
      return too_wide(device, cudaErrorInvalidValue, extent.width, target.pitch);
    }
    return fill(device, "cudaMemset3D", {target.ptr, target.pitch, target.pitch * target.ysize},
                static_cast<unsigned>(value), {extent.width, extent.height, extent.depth}, stream,
                Waiting::until_done);
  });
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr target, int value, cudaExtent extent,
                              cudaStream_t stream) {
  return on_stream("cudaMemset3DAsync", stream, [&](Device& device, Stream& found) {
    if (extent.width > target.pitch) {
      return too_wide(device, cudaErrorInvalidValue, extent.width, target.pitch);
    }
    return fill(device, "cudaMemset3DAsync",
                {target.ptr, target.pitch, target.pitch * target.ysize},
                static_cast<unsigned>(value), {extent.width, extent.height, extent.depth}, found,
                Waiting::asynchronous);
  });
}

}  // extern "C"
