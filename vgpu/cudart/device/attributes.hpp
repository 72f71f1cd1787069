// cudaDeviceGetAttribute: what a device of this kind says.
#pragma once

#include "vgpu/cudart/device/virtual_gpu.hpp"

namespace warpcheck::cudart {

// id: the number of a cudaDeviceAttr; 0 for a feature that the device lacks.
[[nodiscard]] int attribute_of(const virtual_gpu::Capability& capability, int id);

}  // namespace warpcheck::cudart
