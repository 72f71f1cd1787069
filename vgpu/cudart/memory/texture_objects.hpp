// Describes texture and surface objects to the machine: their memory and how it is read.
#pragma once

#include <cuda_runtime_api.h>

#include "vgpu/cudart/memory/allocations.hpp"
#include "vgpu/cudart/memory/arrays.hpp"
#include "vgpu/machine/texture/texture.hpp"

namespace warpcheck::cudart {

// The resource must have been checked to exist.  Throws vgpu::Refusal for what the machine does not
// support.
cudaError_t describe(const Arrays& arrays, const Allocations& allocations,
                     const TextureObject& object, vgpu::Texture& texture);
// Returns the errors that the runtime has and the driver has not, as in CUDA 13.0:
// cudaErrorInvalidFilterSetting for a linear filter over integers that are not read as fractions,
// cudaErrorInvalidNormSetting for fractions of 32-bit numbers or of floats.
//   texture: described by `desc`
cudaError_t check_filter(const cudaTextureDesc& desc, const vgpu::Texture& texture);
vgpu::Surface describe_surface(const Array& array);

}  // namespace warpcheck::cudart
