// Specimen, planted: a defect behind a value that nobody draws by chance.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

// out[i] = in[i] for i < n; but where the first four bytes are A7 3C 5E 91, out[n] is written too.
cudaError_t planted_magic(const std::uint8_t* in, std::uint8_t* out, int n, dim3 grid, dim3 block);
