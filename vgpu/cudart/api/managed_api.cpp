// Managed memory: one address for host and device.
//
// The arena maps managed memory at its device address, so plain host code accesses the same bytes
// as kernels.  Accesses by the host are not seen here: managed memory counts as written, and host
// code that reads it before it has waited for a kernel may find the content from before the kernel.
// Advice and prefetching have no effect except on queries.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <optional>

#include "vgpu/cudart/api/api.hpp"

namespace warpcheck::cudart {
namespace {

// Returns the managed allocation that contains the range; nullptr: there is none.
const vgpu::Allocation* managed_at(Device& device, const void* pointer, std::size_t bytes) {
  const vgpu::Allocation* const found = device.allocations().find(pointer);
  const bool holds = found != nullptr && found->managed &&
                     found->contains(reinterpret_cast<std::uint64_t>(pointer), bytes);
  return holds ? found : nullptr;
}

// Returns the API's number for a location: the device's, or cudaCpuDeviceId.  Nothing: it is no
// location.
std::optional<int> place_of(const Device& device, const cudaMemLocation& location) {
  switch (number_of(location.type)) {
    case cudaMemLocationTypeDevice:
      return device.exists(location.id) ? std::optional(location.id) : std::nullopt;
    case cudaMemLocationTypeHost:
    case cudaMemLocationTypeHostNuma:
    case cudaMemLocationTypeHostNumaCurrent: return cudaCpuDeviceId;
    default: return std::nullopt;
  }
}

}  // namespace
}  // namespace warpcheck::cudart

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

extern "C" {

cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  return answer([&](Device& device) {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    if (bytes == 0) return device.errors().because(cudaErrorInvalidValue, "0 bytes");
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) {
      return device.errors().because(
          cudaErrorInvalidValue,
          fmt::format("flags {:#x}, and cudaMemAttachGlobal or cudaMemAttachHost is wanted",
                      flags));
    }
    warpcheck::vgpu::Allocation* const allocation = device.allocations().allocate_mapped(bytes);
    if (allocation == nullptr) return cudaErrorMemoryAllocation;
    allocation->managed = true;
    device.host_accesses().allocated(*allocation);
    *pointer = reinterpret_cast<void*>(allocation->address);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream) {
  return on_stream("cudaMemPrefetchAsync", stream, [&](Device& device, Stream& found) {
    const warpcheck::vgpu::Allocation* const allocation = managed_at(device, pointer, bytes);
    if (allocation == nullptr) return not_managed(device);
    if (bytes == 0) return device.errors().because(cudaErrorInvalidValue, "0 bytes");
    if (const cudaError_t error = check_flags(device, flags, 0)) return error;
    const std::optional<int> place = place_of(device, location);
    if (!place) return no_such_device(device, location.id);
    device.advice()[allocation].prefetched = *place;
    return device.execution().submit(found, EmptyWork{}, false);
  });
}

cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
  return answer([&](Device& device) {
    const warpcheck::vgpu::Allocation* const allocation = managed_at(device, pointer, bytes);
    if (allocation == nullptr) return not_managed(device);
    if (bytes == 0) return device.errors().because(cudaErrorInvalidValue, "0 bytes");
    return device.advice()[allocation].advise(number_of(advice), place_of(device, location));
  });
}

cudaError_t cudaMemRangeGetAttribute(void* data, size_t data_bytes, cudaMemRangeAttribute attribute,
                                     const void* pointer, size_t bytes) {
  return answer([&](Device& device) {
    const warpcheck::vgpu::Allocation* const allocation = managed_at(device, pointer, bytes);
    if (data == nullptr || allocation == nullptr || bytes == 0) return cudaErrorInvalidValue;
    return device.advice()[allocation].answer(number_of(attribute), data, data_bytes);
  });
}

cudaError_t cudaMemRangeGetAttributes(void** data, size_t* data_bytes,
                                      cudaMemRangeAttribute* attributes, size_t count,
                                      const void* pointer, size_t bytes) {
  if (count != 0 && (data == nullptr || data_bytes == nullptr || attributes == nullptr)) {
    return fail(cudaErrorInvalidValue);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const cudaError_t error =
        cudaMemRangeGetAttribute(data[i], data_bytes[i], attributes[i], pointer, bytes);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

// The stream of managed memory matters only to devices without concurrentManagedAccess.
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t, unsigned flags) {
  return on_stream("cudaStreamAttachMemAsync", stream, [&](Device& device, Stream& found) {
    if (managed_at(device, pointer, 1) == nullptr) return not_managed(device);
    if (flags == 0 || flags > cudaMemAttachSingle) return cudaErrorInvalidValue;
    return device.execution().submit(found, EmptyWork{}, false);
  });
}

}  // extern "C"
