#include "kernels/kahan/kahan_sum.cuh"
#include "kernels/kahan/kahan_sum.hpp"

cudaError_t kahan_sum_contracted(const float* in, float* out, int n, dim3 block) {
  return launch_kahan_sum<Contracted>(in, out, n, block);
}
