// The driver API's errors: names, texts, and the conversion from runtime errors.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "vgpu/cudart/api/calls/api_errors.hpp"

namespace warpcheck::cudart {

// The driver uses the runtime's numbers for all errors that it has.
CUresult result_of(cudaError_t error);
// Null pointers: there is no such error.
ErrorText driver_text_of(CUresult error);

}  // namespace warpcheck::cudart
