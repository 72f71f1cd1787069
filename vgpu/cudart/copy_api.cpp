// cudaMemcpy, cudaMemset and their relatives.  Asynchronous ones do their work at once.
#include <cuda_runtime_api.h>

#include "vgpu/cudart/api.hpp"
#include "vgpu/cudart/copies.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

namespace {

// Runs `body(device)` if the stream exists.
template <typename Body>
cudaError_t on_stream(cudaStream_t stream, Body&& body) {
  return answer([&](Device& device) {
    if (device.queues().find(stream) == nullptr) return cudaErrorInvalidResourceHandle;
    return body(device);
  });
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpy(void* target, const void* source, size_t bytes, cudaMemcpyKind kind) {
  return answer([&](Device& device) {
    return copy(device, "cudaMemcpy", target, source, {.width = bytes}, number_of(kind));
  });
}

cudaError_t cudaMemcpyAsync(void* target, const void* source, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return on_stream(stream, [&](Device& device) {
    return copy(device, "cudaMemcpyAsync", target, source, {.width = bytes}, number_of(kind));
  });
}

cudaError_t cudaMemcpy2D(void* target, size_t target_pitch, const void* source, size_t source_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  return answer([&](Device& device) {
    if (width > target_pitch || width > source_pitch) return cudaErrorInvalidPitchValue;
    return copy(device, "cudaMemcpy2D", target, source, {width, height, target_pitch, source_pitch},
                number_of(kind));
  });
}

cudaError_t cudaMemcpy2DAsync(void* target, size_t target_pitch, const void* source,
                              size_t source_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  return on_stream(stream, [&](Device& device) {
    if (width > target_pitch || width > source_pitch) return cudaErrorInvalidPitchValue;
    return copy(device, "cudaMemcpy2DAsync", target, source,
                {width, height, target_pitch, source_pitch}, number_of(kind));
  });
}

cudaError_t cudaMemset(void* target, int value, size_t bytes) {
  return answer(
      [&](Device& device) { return fill(device, "cudaMemset", target, value, {.width = bytes}); });
}

cudaError_t cudaMemsetAsync(void* target, int value, size_t bytes, cudaStream_t stream) {
  return on_stream(stream, [&](Device& device) {
    return fill(device, "cudaMemsetAsync", target, value, {.width = bytes});
  });
}

cudaError_t cudaMemset2D(void* target, size_t pitch, int value, size_t width, size_t height) {
  return answer([&](Device& device) {
    if (width > pitch) return cudaErrorInvalidValue;
    return fill(device, "cudaMemset2D", target, value, {width, height, pitch, 0});
  });
}

cudaError_t cudaMemset2DAsync(void* target, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return on_stream(stream, [&](Device& device) {
    if (width > pitch) return cudaErrorInvalidValue;
    return fill(device, "cudaMemset2DAsync", target, value, {width, height, pitch, 0});
  });
}

}  // extern "C"
