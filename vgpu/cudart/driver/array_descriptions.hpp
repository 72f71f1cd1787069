// Converts the driver's descriptions of formats, arrays and copies of boxes to the runtime's
// structures.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <optional>

namespace warpcheck::cudart {

// Returns nothing for a format that the runtime has no name for (packed, compressed, video
// formats).
std::optional<cudaChannelFormatDesc> format_of(CUarray_format format, unsigned channels);
// The reverse: the format of an element, and the number of channels.
CUarray_format format_of(const cudaChannelFormatDesc& format);
unsigned channels_of(const cudaChannelFormatDesc& format);

// Returns the runtime's kind of a copy between memory of these types.
cudaMemcpyKind kind_of(CUmemorytype target, CUmemorytype source);

// Returns nothing if a side is invalid.
std::optional<cudaMemcpy3DParms> parameters_of(const CUDA_MEMCPY3D& copy);

}  // namespace warpcheck::cudart
