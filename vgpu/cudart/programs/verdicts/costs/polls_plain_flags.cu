// A beginner's grid barrier: plain flags, read again because of the fence in the loop.  Several machines
// that run a block after the other cannot run it; they notice by the steps, without waiting, and the
// report is that of one machine.
// case one: | --jobs 1 |
// expect one: error data-race poll set
// case several: | --jobs 3 |
// expect several: error data-race poll set
// case unoptimised: -G | --jobs 3 |
// expect unoptimised: error data-race poll set
#include <cstdio>

__global__ void meet(unsigned* state) {
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    state[blockIdx.x] = 1;  //~ set
    for (int b = 0; b < gridDim.x; ++b) {
      while (state[b] != 1) __threadfence();  //~ poll
    }
  }
  __syncthreads();
}

int main() {
  unsigned* state;
  cudaMalloc(&state, 256);
  cudaMemset(state, 0, 256);
  meet<<<8, 128>>>(state);
  cudaDeviceSynchronize();
  cudaFree(state);
  return 0;
}
