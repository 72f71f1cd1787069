#include "kernels/kahan/kahan_matmul.cuh"
#include "kernels/kahan/kahan_matmul.hpp"

cudaError_t kahan_matmul_contracted(const float* a, const float* b, float* c, int n,
                                    clock_t* cycles) {
  return launch_kahan_matmul<Contracted>(a, b, c, n, cycles);
}
