// data-race: a wait of the host
#include "planted_program.hpp"

__global__ void count_up(int* counts) {
  counts[threadIdx.x] = static_cast<int>(threadIdx.x);  //@
}

int main() {
  int* counts = nullptr;
  cudaMallocManaged(&counts, kElements * sizeof(int));
  count_up<<<1, kElements>>>(counts);
  int status = 0;
  for (int i = 0; i < kElements; ++i) status |= counts[i] != i ? 1 : 0;
  cudaDeviceSynchronize();
  cudaFree(counts);
  return status;
}
