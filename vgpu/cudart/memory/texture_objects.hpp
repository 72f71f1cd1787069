// Texture and surface objects for the machine: what their descriptions say about which memory.
#pragma once

#include <cuda_runtime_api.h>

#include "vgpu/cudart/memory/allocations.hpp"
#include "vgpu/cudart/memory/arrays.hpp"
#include "vgpu/machine/texture/texture.hpp"

namespace warpcheck::cudart {

// The resource has been checked to exist.  Throws vgpu::Refusal for what the machine cannot do.
cudaError_t describe(const Arrays& arrays, const Allocations& allocations,
                     const TextureObject& object, vgpu::Texture& texture);
// What the runtime refuses and the driver does not, as CUDA 13.0 answers it:
// cudaErrorInvalidFilterSetting for a linear filter over integers that are not read as fractions,
// cudaErrorInvalidNormSetting for fractions of numbers of 32 bits, or of floats.
//   texture: described by `desc`
cudaError_t check_filter(const cudaTextureDesc& desc, const vgpu::Texture& texture);
vgpu::Surface describe_surface(const Array& array);

}  // namespace warpcheck::cudart
