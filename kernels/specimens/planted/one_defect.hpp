// Kernels with exactly one defect each, for tests of the cause that a report names.  Each can be
// called by its number: the row of one_defect.def that names it.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

inline constexpr const char* kOneDefectNames[] = {
#define ONE_DEFECT(name, ...) #name,
#include "kernels/specimens/planted/one_defect.def"
#undef ONE_DEFECT
};

// in: `n` integers from 0 to 15; out: `n` zeros, or, for kernels that need it, other contents.
// Returns the error of the launches.
cudaError_t one_defect(std::size_t which, const int* in, int* out, int n);
