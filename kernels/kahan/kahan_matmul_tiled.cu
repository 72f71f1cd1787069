#include "kernels/kahan/kahan_matmul_tiled.cuh"
#include "kernels/kahan/kahan_matmul_tiled.hpp"

cudaError_t kahan_matmul_tiled(const float* a, const float* b, float* c, int n) {
  return launch_kahan_matmul_tiled<WithoutContraction>(a, b, c, n);
}
