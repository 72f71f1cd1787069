// Copies and fills of memory, linear and pitched, with every range checked first.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string_view>

#include "vgpu/cudart/device.hpp"

namespace warpcheck::cudart {

// A rectangle of `height` rows of `width` bytes; a linear range is one row.
struct Rectangle {
  std::size_t width = 0, height = 1;
  std::size_t target_pitch = 0, source_pitch = 0;  // bytes between rows; unused for one row
};

// Copies for the API function `call`; kind: the number of a cudaMemcpyKind, or of none.  Errors as
// measured on CUDA 13.0: cudaErrorInvalidValue for a side that is not what `kind` says, a null
// pointer, or a range outside one allocation (the last is a finding too);
// cudaErrorInvalidMemcpyDirection for a kind that is none; cudaErrorInvalidPitchValue for a pitch
// below the width.
cudaError_t copy(Device& device, std::string_view call, void* target, const void* source,
                 const Rectangle& rectangle, int kind);

cudaError_t fill(Device& device, std::string_view call, void* target, int value,
                 const Rectangle& rectangle);

}  // namespace warpcheck::cudart
