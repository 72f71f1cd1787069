#include "vgpu/cudart/memory/managed_advice.hpp"

#include <cstring>

namespace warpcheck::cudart {
namespace {

int location_type(int place) {
  if (place == cudaInvalidDeviceId) return cudaMemLocationTypeInvalid;
  return place == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
}

}  // namespace

cudaError_t ManagedAdvice::advise(int kind, std::optional<int> place) {
  switch (kind) {
    case cudaMemAdviseSetReadMostly: read_mostly = true; return cudaSuccess;
    case cudaMemAdviseUnsetReadMostly: read_mostly = false; return cudaSuccess;
    case cudaMemAdviseUnsetPreferredLocation: preferred = cudaInvalidDeviceId; return cudaSuccess;
    default: break;
  }
  if (!place) return cudaErrorInvalidDevice;
  switch (kind) {
    case cudaMemAdviseSetPreferredLocation: preferred = *place; return cudaSuccess;
    case cudaMemAdviseSetAccessedBy: accessed_by.insert(*place); return cudaSuccess;
    case cudaMemAdviseUnsetAccessedBy: accessed_by.erase(*place); return cudaSuccess;
    default: return cudaErrorInvalidValue;
  }
}

cudaError_t ManagedAdvice::answer(int attribute, void* data, std::size_t bytes) const {
  const auto put = [&](int value) {
    if (bytes != sizeof value) return cudaErrorInvalidValue;
    std::memcpy(data, &value, sizeof value);
    return cudaSuccess;
  };
  switch (attribute) {
    case cudaMemRangeAttributeReadMostly: return put(read_mostly ? 1 : 0);
    case cudaMemRangeAttributePreferredLocation: return put(preferred);
    case cudaMemRangeAttributeLastPrefetchLocation: return put(prefetched);
    case cudaMemRangeAttributePreferredLocationType: return put(location_type(preferred));
    case cudaMemRangeAttributePreferredLocationId: return put(preferred);
    case cudaMemRangeAttributeLastPrefetchLocationType: return put(location_type(prefetched));
    case cudaMemRangeAttributeLastPrefetchLocationId: return put(prefetched);
    case cudaMemRangeAttributeAccessedBy: {
      if (bytes == 0 || bytes % sizeof(int) != 0) return cudaErrorInvalidValue;
      auto next = accessed_by.begin();
      for (std::size_t at = 0; at < bytes; at += sizeof(int)) {
        const int value = next == accessed_by.end() ? cudaInvalidDeviceId : *next++;
        std::memcpy(static_cast<std::byte*>(data) + at, &value, sizeof value);
      }
      return cudaSuccess;
    }
    default: return cudaErrorInvalidValue;
  }
}

}  // namespace warpcheck::cudart
