// All that the functions which generate.py writes lead to.
#pragma once

#include "vgpu/libraries/cublas/batched.hpp"
#include "vgpu/libraries/cublas/extended.hpp"
#include "vgpu/libraries/cublas/gemm.hpp"
#include "vgpu/libraries/cublas/level3.hpp"
