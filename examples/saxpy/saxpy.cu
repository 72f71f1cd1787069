__global__ void saxpy_kernel(float a, const float* x, float* y, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) y[i] = a * x[i] + y[i];
}

cudaError_t saxpy(float a, const float* x, float* y, int n) {
  saxpy_kernel<<<n / 256 + 1, 256>>>(a, x, y, n);
  return cudaGetLastError();
}
