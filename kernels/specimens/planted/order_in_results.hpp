// Small kernels whose results depend on the order of threads, and twins in which it does not show.
#pragma once

#include <cuda_runtime_api.h>

// Each runs with one block of n <= 64 threads and is given out[n], filled with zeros.
cudaError_t order_adds(const float* in, float* out, int n);
cudaError_t order_adds_twice(const float* in, float* out, int n);
cudaError_t order_adds_by_swaps(const float* in, float* out, int n);
cudaError_t order_exchanges(const float* in, float* out, int n);
cudaError_t order_stores_volatile(const float* in, float* out, int n);
cudaError_t order_appends(const float* in, float* out, int n);
cudaError_t order_counts_lanes(const float* in, float* out, int n);
// The same result in every order.
cudaError_t order_appends_and_sorts(const float* in, float* out, int n);
cudaError_t order_counts(const float* in, float* out, int n);
cudaError_t order_takes_maximum(const float* in, float* out, int n);
