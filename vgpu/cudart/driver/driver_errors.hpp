// The driver API's errors: names, texts, and the runtime's numbers as the driver's.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "vgpu/cudart/api/api_errors.hpp"

namespace warpcheck::cudart {

// The driver has the runtime's numbers, where it has the error at all.
CUresult result_of(cudaError_t error);
// Null pointers: there is no such error.
ErrorText driver_text_of(CUresult error);

}  // namespace warpcheck::cudart
