// Texture and surface objects for the machine: what their descriptions say about which memory.
#pragma once

#include <cuda_runtime_api.h>

#include "vgpu/cudart/memory/allocations.hpp"
#include "vgpu/cudart/memory/arrays.hpp"
#include "vgpu/machine/texture/texture.hpp"

namespace warpcheck::cudart {

// The resource has been checked to exist.  Errors as CUDA 13.0 answers them:
// cudaErrorInvalidFilterSetting for a linear filter over integers that are not read as fractions,
// cudaErrorInvalidNormSetting for numbers of 32 bits that are.  Throws vgpu::Refusal for what the
// machine cannot do.
cudaError_t describe(const Arrays& arrays, const Allocations& allocations,
                     const TextureObject& object, vgpu::Texture& texture);
vgpu::Surface describe_surface(const Array& array);

}  // namespace warpcheck::cudart
