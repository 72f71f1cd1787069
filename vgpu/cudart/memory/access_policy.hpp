// Access-policy windows: hints about the L2 cache for streams and launches.  The virtual device has
// no cache; invalid windows are refused as on hardware.
#pragma once

#include <cuda_runtime_api.h>

#include "vgpu/cudart/device/enum_number.hpp"
#include "vgpu/cudart/device/virtual_gpu.hpp"

namespace warpcheck::cudart {

// Returns whether it is valid: CUDA Runtime API, cudaAccessPolicyWindow.
inline bool is_window(const cudaAccessPolicyWindow& window) {
  const int hit = number_of(window.hitProp), miss = number_of(window.missProp);
  const bool has_properties =
      hit >= cudaAccessPropertyNormal && hit <= cudaAccessPropertyPersisting &&
      miss >= cudaAccessPropertyNormal && miss <= cudaAccessPropertyStreaming;
  return has_properties && window.hitRatio >= 0 && window.hitRatio <= 1 &&
         window.num_bytes <= virtual_gpu::kAccessPolicyWindowBytesMax;
}

}  // namespace warpcheck::cudart
