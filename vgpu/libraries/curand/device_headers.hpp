// The toolkit's device generators, compiled as host functions.
#pragma once

#include <cuda_runtime_api.h>

#define QUALIFIERS [[maybe_unused]] static inline
#include <curand_kernel.h>
#include <curand_mtgp32_host.h>
#include <curand_mtgp32dc_p_11213.h>
