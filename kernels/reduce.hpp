// Reductions of an array to one value: sum, maximum and minimum, of int and of float, for any
// number of elements and any block.
//
// What they mean:
//   sum of int     modulo 2^32, in two's complement; of nothing: 0.
//   sum of float   in an order that n and the launch alone decide; not-a-number spreads; of
//                  nothing: 0.
//   max, min       of int of nothing: the type's least (max) or greatest (min) value.
//   of float       NaN stands for a missing number and is left out (IEEE 754-2019, 9.6,
//                  maximumNumber and minimumNumber), and +0 is greater than -0.  Where there is no
//                  number, in an array of nothing or of NaNs, the result is a NaN.
//
// Two ways to finish what the blocks have begun.  On the device: the blocks' results are reduced
// in the same way, pass after pass, until one block holds all.  On the host: one pass, and the
// host reduces one value for each block.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

// Elements of scratch memory that a device finish needs.
std::size_t reduce_scratch(int n, dim3 block);

// *out, in device memory, is the reduction of in[0..n).
cudaError_t reduce_sum(const int* in, int* out, int* scratch, int n, dim3 block);
cudaError_t reduce_max(const int* in, int* out, int* scratch, int n, dim3 block);
cudaError_t reduce_min(const int* in, int* out, int* scratch, int n, dim3 block);
cudaError_t reduce_sum(const float* in, float* out, float* scratch, int n, dim3 block);
cudaError_t reduce_max(const float* in, float* out, float* scratch, int n, dim3 block);
cudaError_t reduce_min(const float* in, float* out, float* scratch, int n, dim3 block);

// *out, in host memory, is the reduction of in[0..n).  `scratch` has grid.x elements, in device
// memory; any grid does.  Returns after the copy to the host.
cudaError_t reduce_sum_host_finish(const int* in, int* out, int* scratch, int n, dim3 grid,
                                   dim3 block);
cudaError_t reduce_max_host_finish(const int* in, int* out, int* scratch, int n, dim3 grid,
                                   dim3 block);
cudaError_t reduce_min_host_finish(const int* in, int* out, int* scratch, int n, dim3 grid,
                                   dim3 block);
cudaError_t reduce_sum_host_finish(const float* in, float* out, float* scratch, int n, dim3 grid,
                                   dim3 block);
cudaError_t reduce_max_host_finish(const float* in, float* out, float* scratch, int n, dim3 grid,
                                   dim3 block);
cudaError_t reduce_min_host_finish(const float* in, float* out, float* scratch, int n, dim3 grid,
                                   dim3 block);
