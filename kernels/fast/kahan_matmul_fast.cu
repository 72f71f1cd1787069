#include "kernels/fast/kahan_matmul_fast.hpp"

#include "kernels/fast/kahan_matmul_fast.cuh"

namespace fast {

// Small tiles, so that small matrices have many; bench/gpu has those that are fast.
using SmallMatmul = MatmulShape<32, 32, 8, 8, 4>;

cudaError_t kahan_matmul_fast(const float* a, const float* b, float* c, unsigned n) {
  return launch_kahan_matmul_fast<KahanProducts, SmallMatmul>(a, b, c, n);
}

cudaError_t wide_matmul_fast(const float* a, const float* b, float* c, unsigned n) {
  return launch_kahan_matmul_fast<WideProducts, SmallMatmul>(a, b, c, n);
}

}  // namespace fast
