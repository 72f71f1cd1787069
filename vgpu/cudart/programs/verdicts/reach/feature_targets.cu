// PTX of architectures with a suffix: compute_90a runs on devices of 9.0 alone, compute_100f on its
// family, and both come before the PTX without a suffix.
//
// clang-format off
// case one: -arch=compute_90a
// expect one: clean
// prints one: 90 architecture
// case several: -gencode arch=compute_90a,code=compute_90a -gencode arch=compute_90,code=compute_90 -gencode arch=compute_80,code=compute_80
// expect several: clean
// prints several: 90 architecture
// case named: -arch=compute_90a | --device sm_90a
// expect named: clean
// prints named: 90 architecture
// case older: -gencode arch=compute_80,code=compute_80 -gencode arch=compute_90a,code=compute_90a | --device sm_89
// expect older: clean
// prints older: 80
// case later: -gencode arch=compute_90,code=compute_90 -gencode arch=compute_90a,code=compute_90a | --device sm_100
// expect later: clean
// prints later: 90
// case family: -gencode arch=compute_100,code=compute_100 -gencode arch=compute_100f,code=compute_100f | --device sm_103
// expect family: clean
// prints family: 100 family
// case others: -gencode arch=compute_100,code=compute_100 -gencode arch=compute_100f,code=compute_100f | --device sm_120a
// expect others: clean
// prints others: 100
// case whole: -rdc=true -gencode arch=compute_90,code=compute_90 -gencode arch=compute_90a,code=compute_90a
// expect whole: clean
// prints whole: 90 architecture
// clang-format on
#include <cstdio>

__global__ void features(int* out) {
#ifdef __CUDA_ARCH__
  out[0] = __CUDA_ARCH__ / 10;
#endif
#if defined(__CUDA_ARCH_SPECIFIC__)
  out[1] = 2;
#elif defined(__CUDA_ARCH_FAMILY_SPECIFIC__)
  out[1] = 1;
#else
  out[1] = 0;
#endif
}

int main() {
  int *p, h[2] = {};
  cudaMalloc(&p, sizeof h);
  features<<<1, 1>>>(p);
  cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  constexpr const char* kNames[] = {"", " family", " architecture"};
  printf("%d%s\n", h[0], kNames[h[1]]);
  return 0;
}
