// Blocks meet at a barrier whose flags are polled by weak loads that bypass the first cache (ld.cg).
// case one: | --jobs 1 | 4
// expect one: error data-race poll set
// expect one: error data-race wait release
// case several: | --jobs 2 | 4
// expect several: error data-race poll set
// expect several: error data-race wait release
#include <cstdio>
#include <cstdlib>

__global__ void meet(unsigned* state) {
  if (blockIdx.x == 0) {
    if (threadIdx.x > 0 && threadIdx.x < gridDim.x) {
      while (__ldcg(&state[threadIdx.x]) != 1) __threadfence_block();  //~ poll
    }
    __syncthreads();
    if (threadIdx.x > 0 && threadIdx.x < gridDim.x) {
      __stcg(&state[32 + threadIdx.x], 1u);  //~ release
    }
  } else if (threadIdx.x == 0) {
    __stcg(&state[blockIdx.x], 1u);  //~ set
    while (__ldcg(&state[32 + blockIdx.x]) != 1) __threadfence_block();  //~ wait
  }
}

int main(int, char** arguments) {
  unsigned* state;
  cudaMalloc(&state, 256);
  cudaMemset(state, 0, 256);
  meet<<<atoi(arguments[1]), 128>>>(state);
  cudaDeviceSynchronize();
  cudaFree(state);
  return 0;
}
