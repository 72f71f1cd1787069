// Access-policy windows: hints about the L2 cache, of streams and of launches.  The virtual device
// has no cache; what is no window is refused as hardware does.
#pragma once

#include <cuda_runtime_api.h>

#include "vgpu/cudart/device/enum_number.hpp"
#include "vgpu/cudart/device/virtual_gpu.hpp"

namespace warpcheck::cudart {

// CUDA Runtime API, cudaAccessPolicyWindow.
inline bool is_window(const cudaAccessPolicyWindow& window) {
  const int hit = number_of(window.hitProp), miss = number_of(window.missProp);
  const bool has_properties =
      hit >= cudaAccessPropertyNormal && hit <= cudaAccessPropertyPersisting &&
      miss >= cudaAccessPropertyNormal && miss <= cudaAccessPropertyStreaming;
  return has_properties && window.hitRatio >= 0 && window.hitRatio <= 1 &&
         window.num_bytes <= virtual_gpu::kAccessPolicyWindowBytesMax;
}

}  // namespace warpcheck::cudart
