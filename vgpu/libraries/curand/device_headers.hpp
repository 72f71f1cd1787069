// The toolkit's generators for kernels, as functions of the host.
#pragma once

#include <cuda_runtime_api.h>

#define QUALIFIERS [[maybe_unused]] static inline
#include <curand_kernel.h>
#include <curand_mtgp32_host.h>
#include <curand_mtgp32dc_p_11213.h>
