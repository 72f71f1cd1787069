// Squares of numbers, twice; the fake driver knows this kernel.
#include <cstdio>
#include <vector>

__global__ void square(int* out, const int* in, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) out[i] = in[i] * in[i];
}

int main() {
  constexpr int kCount = 100;
  std::vector<int> values(kCount);
  for (int i = 0; i < kCount; ++i) values[i] = i;
  int *in = nullptr, *out = nullptr;
  cudaMalloc(&in, kCount * sizeof(int));
  cudaMalloc(&out, kCount * sizeof(int));
  cudaMemcpy(in, values.data(), kCount * sizeof(int), cudaMemcpyHostToDevice);
  square<<<2, 64>>>(out, in, kCount);
  square<<<2, 64>>>(in, out, kCount);
  cudaMemcpy(values.data(), in, kCount * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", values[3]);
  return cudaDeviceSynchronize() == cudaSuccess && values[3] == 81 ? 0 : 1;
}
