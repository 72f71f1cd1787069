// The answers of cudaDeviceGetAttribute for a device with a given compute capability.
#pragma once

#include "vgpu/cudart/device/virtual_gpu.hpp"

namespace warpcheck::cudart {

// id: the number of a cudaDeviceAttr.  Returns 0 for a feature that the device lacks.
[[nodiscard]] int attribute_of(const virtual_gpu::Capability& capability, int id);

}  // namespace warpcheck::cudart
