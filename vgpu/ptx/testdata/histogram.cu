// Source of histogram.ptx (nvcc -ptx -arch=compute_75 -lineinfo) and histogram_debug.ptx (-G).
__constant__ int weights[4] = {1, 2, 3, 4};
__device__ float scale = 1.5f;
__device__ float* scale_address = &scale;
__device__ short limits[2][3] = {{1, -2, 3}, {4, 5, 6}};

__device__ __forceinline__ int clamp(int value, int most) {
  return value < most ? value : most;
}

__device__ __forceinline__ int bin_of(int value) {
  return clamp(value, 63);
}

__device__ __noinline__ int weight_of(int bin) { return weights[bin & 3]; }

__global__ void __launch_bounds__(128) histogram(const int* values, unsigned* bins, int n) {
  __shared__ unsigned counts[64];
  extern __shared__ int staged[];
  counts[threadIdx.x & 63] = 0;
  staged[threadIdx.x] = static_cast<int>(scale * limits[1][threadIdx.x % 3]);
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&counts[bin_of(values[i])], 1u);
  }
  __syncthreads();
  switch (threadIdx.x) {
    case 0: bins[64] = *scale_address; break;
    case 1: bins[65] += 2; break;
    case 2: bins[66] *= 3; break;
    case 3: bins[67] ^= 4; break;
    case 4: bins[68] -= 5; break;
    case 5: bins[69] |= 6; break;
    default: break;
  }
  if (threadIdx.x < 64) bins[threadIdx.x] = counts[threadIdx.x] * weight_of(threadIdx.x);
}
