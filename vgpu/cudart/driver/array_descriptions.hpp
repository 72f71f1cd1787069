// Formats, arrays and copies of boxes as the driver describes them, in the runtime's structures.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <optional>

namespace warpcheck::cudart {

// Nothing: a format that the runtime has no name for (packed, compressed, of video).
std::optional<cudaChannelFormatDesc> format_of(CUarray_format format, unsigned channels);
// The other way round: the format of an element, and how many of them.
CUarray_format format_of(const cudaChannelFormatDesc& format);
unsigned channels_of(const cudaChannelFormatDesc& format);

// Nothing: a side that is none.
std::optional<cudaMemcpy3DParms> parameters_of(const CUDA_MEMCPY3D& copy);

}  // namespace warpcheck::cudart
