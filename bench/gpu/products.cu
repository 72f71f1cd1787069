// Compensated products of matrices of 512 to 8,192 rows compared with cuBLAS and the plain tiled
// kernel, and the distance of each from the exact sums (MPFR), in u times the sum of |a_ik b_kj|.
#include <cublas_v2.h>
#include <mpfr.h>

#include <cmath>
#include <thread>

#include "bench/gpu/timing.cuh"
#include "kernels/fast/kahan_matmul_fast.cuh"
#include "kernels/kahan/kahan_matmul_tiled.hpp"

using bench::check;

namespace {

constexpr unsigned kMax = 8192;
constexpr unsigned kRowsCompared = 4;
constexpr double kUnitRoundoff = 0x1p-24;
constexpr mpfr_prec_t kExactBits = 128;

using Kahan = fast::MatmulShape<128, 128, 16, 8, 4>;
using Wide = fast::MatmulShape<64, 128, 16, 8, 8>;

// Between -1 and 1.
__global__ void floats_kernel(const std::uint32_t* words, float* values, std::uint64_t n) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    values[i] = static_cast<float>(static_cast<std::int32_t>(words[i])) * 0x1p-31F;
  }
}

float* random_floats(std::uint64_t seed) {
  const std::uint64_t n = std::uint64_t{kMax} * kMax;
  std::uint32_t* const words = bench::random_words(n + seed);
  auto* const values = bench::allocate<float>(n);
  floats_kernel<<<1024, 256>>>(words + seed, values, n);
  check(cudaDeviceSynchronize());
  check(cudaFree(words));
  return values;
}

class Products {
 public:
  void run(unsigned n) {
    exact(n);
    const float one = 1;
    const float zero = 0;
    compare(n, "cuBLAS sgemm", [&] {
      cublasSgemm(cublas_, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, b_, n, a_, n, &zero, c_, n);
    });
    compare(n, "fast, float", [&] {
      check(fast::launch_kahan_matmul_fast<fast::KahanProducts, Kahan>(a_, b_, c_, n));
    });
    compare(n, "fast, double", [&] {
      check(fast::launch_kahan_matmul_fast<fast::WideProducts, Wide>(a_, b_, c_, n));
    });
    if (n > 4096) return;
    compare(n, "plain", [&] { check(kahan_matmul_tiled(a_, b_, c_, static_cast<int>(n))); });
  }

  Products() { cublasCreate(&cublas_); }

 private:
  // The sums and the sums of magnitudes of the first rows.
  void exact(unsigned n) {
    std::vector<float> a(std::size_t{kRowsCompared} * n);
    std::vector<float> b(std::size_t{n} * n);
    check(cudaMemcpy(a.data(), a_, a.size() * 4, cudaMemcpyDeviceToHost));
    check(cudaMemcpy(b.data(), b_, b.size() * 4, cudaMemcpyDeviceToHost));
    sums_.assign(a.size(), 0);
    magnitudes_.assign(a.size(), 0);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < kRowsCompared; ++i) {
      threads.emplace_back([&, i] { exact_row(n, a.data() + i * std::size_t{n}, b, i); });
    }
    for (std::thread& thread : threads) thread.join();
  }

  // Inputs are multiples of 2^-31, so the terms are of 2^-62, and no sum of them is rounded.
  void exact_row(unsigned n, const float* a, const std::vector<float>& b, unsigned row) {
    mpfr_t sum;
    mpfr_t magnitude;
    mpfr_init2(sum, kExactBits);
    mpfr_init2(magnitude, kExactBits);
    for (std::size_t j = 0; j < n; ++j) {
      mpfr_set_zero(sum, 1);
      mpfr_set_zero(magnitude, 1);
      for (std::size_t k = 0; k < n; ++k) {
        const double term = static_cast<double>(a[k]) * b[k * n + j];  // exact
        mpfr_add_d(sum, sum, term, MPFR_RNDN);
        mpfr_add_d(magnitude, magnitude, std::fabs(term), MPFR_RNDN);
      }
      sums_[row * std::size_t{n} + j] = mpfr_get_ld(sum, MPFR_RNDN);
      magnitudes_[row * std::size_t{n} + j] = mpfr_get_ld(magnitude, MPFR_RNDN);
    }
    mpfr_clears(sum, magnitude, nullptr);
  }

  template <class Launch>
  void compare(unsigned n, const char* contender, Launch launch) {
    check(cudaMemset(c_, 0xff, std::size_t{n} * n * 4));
    bench::time("matmul", contender, n, 2.0 * n * n * n, launch);
    std::vector<float> c(sums_.size());
    check(cudaMemcpy(c.data(), c_, c.size() * 4, cudaMemcpyDeviceToHost));
    long double worst = 0;
    for (std::size_t i = 0; i < c.size(); ++i) {
      worst = std::max(worst, std::fabs(c[i] - sums_[i]) / magnitudes_[i]);
    }
    std::printf("error,%s,%u,%.4f,,,\n", contender, n, static_cast<double>(worst / kUnitRoundoff));
  }

  cublasHandle_t cublas_ = nullptr;
  float* a_ = random_floats(0);
  float* b_ = random_floats(1'000'003);
  float* c_ = bench::allocate<float>(std::size_t{kMax} * kMax);
  std::vector<long double> sums_;
  std::vector<long double> magnitudes_;
};

}  // namespace

int main() {
  Products products;
  for (unsigned n = 512; n <= kMax; n *= 2) products.run(n);
}
