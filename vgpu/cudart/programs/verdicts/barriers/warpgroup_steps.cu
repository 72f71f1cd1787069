// "If a setmaxnreg instruction is not executed by all warps in the warpgroup, then the behavior is
// undefined" (PTX ISA 9.0, setmaxnreg); so it is of wgmma.commit_group.
// build: -gencode=arch=compute_90a,code=compute_90a
// case three_warps: | | 0
// expect three_warps: error barrier-divergence release_three end_three
// case half_a_warp: | | 1
// expect half_a_warp: error barrier-divergence release_half end_half
// case by_role: | | 2
// expect by_role: clean
// case up_and_down: | | 3
// expect up_and_down: note barrier-divergence up end_mixed
// case group_of_three_warps: | | 4
// expect group_of_three_warps: error barrier-divergence commit end_group
#include <cstdlib>

#define RELEASE asm volatile("setmaxnreg.dec.sync.aligned.u32 40;")
#define REQUEST asm volatile("setmaxnreg.inc.sync.aligned.u32 232;")

__global__ void three_warps(int* out) {
  if (threadIdx.x < 96) RELEASE;  //~ release_three
  out[threadIdx.x] = 1;
}  //~ end_three

__global__ void half_a_warp(int* out) {
  if (threadIdx.x % 32 < 16) RELEASE;  //~ release_half
  out[threadIdx.x] = 1;
}  //~ end_half

// Warps of one warpgroup are at copies of the instruction; another warpgroup has its own, or none;
// the last has one warp.
__global__ void by_role(int* out) {
  if (threadIdx.x < 32) {
    RELEASE;
    out[threadIdx.x] = 1;
  } else if (threadIdx.x < 128) {
    RELEASE;
    out[threadIdx.x] = 2;
  } else if (threadIdx.x >= 256) {
    REQUEST;
    out[threadIdx.x] = 3;
  }
}

// Each warp executes one, but not the same.
__global__ void up_and_down(int* out) {
  if (threadIdx.x < 64) {
    REQUEST;  //~ up
  } else {
    RELEASE;
  }
  out[threadIdx.x] = 1;
}  //~ end_mixed

__global__ void group_of_three_warps(int* out) {
  if (threadIdx.x < 96) asm volatile("wgmma.commit_group.sync.aligned;");  //~ commit
  out[threadIdx.x] = 1;
}  //~ end_group

int main(int, char** arguments) {
  int* out;
  cudaMalloc(&out, 288 * sizeof(int));
  switch (atoi(arguments[1])) {
    case 0: three_warps<<<1, 128>>>(out); break;
    case 1: half_a_warp<<<1, 128>>>(out); break;
    case 2: by_role<<<1, 288>>>(out); break;
    case 3: up_and_down<<<1, 128>>>(out); break;
    default: group_of_three_warps<<<1, 128>>>(out); break;
  }
  cudaDeviceSynchronize();
  cudaFree(out);
  return 0;
}
