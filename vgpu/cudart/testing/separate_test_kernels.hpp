// Device code of two translation units, compiled with -rdc=true: what each uses of the other.
#pragma once

namespace warpcheck::cudart::separate_test {

#ifdef __CUDACC__
struct Counter {
  __device__ virtual int next(int x) const = 0;
};
// Defined in separate_test_functions.cu.
extern __device__ int shared_total;
extern __constant__ int factors[2];
__device__ int weigh(int x);
__device__ void count(int x);
__device__ const Counter* counter();
using Function = int (*)(int);
extern __device__ Function chosen;
// Defined in separate_test_kernels.cu.
__device__ int own(int x);
#endif

// In separate_test_kernels.cu: returns one value per thread of 32, computed by functions of both
// files.
void run_kernels(int* results);
// In separate_test_functions.cu: the total counted by the kernel of the other file.
int total();

}  // namespace warpcheck::cudart::separate_test
