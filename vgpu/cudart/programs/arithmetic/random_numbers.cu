// Random numbers of curand_kernel.h: states in memory, subsequences, uniform, normal, Poisson; an
// estimate of pi, and option prices by Monte Carlo against Black and Scholes.
// MUTANT: threads share a state.
// expect: data-race
#include <curand_kernel.h>
#include <cmath>

#include "check.hpp"

__global__ void prepare(curandState* states) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  curand_init(1234, i, 0, states + i);
}

__global__ void estimate(curandState* states, int samples, unsigned* inside, double* payoffs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef MUTANT
  curandState* const mine = states + i / 2;
#else
  curandState* const mine = states + i;
#endif
  curandState state = *mine;  //~
  unsigned count = 0;
  double payoff = 0;
  for (int k = 0; k < samples; ++k) {
    const float x = curand_uniform(&state), y = curand_uniform(&state);
    count += x * x + y * y <= 1;
    const float price = 100 * expf(0.05f - 0.02f + 0.2f * curand_normal(&state));
    payoff += fmaxf(price - 105, 0) * expf(-0.05f);
  }
  *mine = state;  //~
  atomicAdd(inside, count);
  atomicAdd(payoffs, payoff);
}

__global__ void others(float* sums) {
  curandStatePhilox4_32_10_t philox;
  curandStateMRG32k3a mrg;
  curand_init(5, threadIdx.x, 0, &philox);
  curand_init(7, threadIdx.x, 0, &mrg);
  float sum = 0;
  for (int k = 0; k < 16; ++k) {
    const float4 four = curand_normal4(&philox);
    sum += four.x + four.y + four.z + four.w + curand_poisson(&philox, 4.0) - 4.0f;
    sum += curand_uniform(&mrg) - 0.5f;
  }
  atomicAdd(sums, sum);
}

int main() {
  const int threads = 128, samples = 50;
  curandState* states;
  require(cudaMalloc(&states, threads * sizeof *states));
  Buffer<unsigned> inside(1);
  Buffer<double> payoffs(1);
  Buffer<float> sums(1);
  prepare<<<2, threads / 2>>>(states);
  estimate<<<2, threads / 2>>>(states, samples, inside, payoffs);
  others<<<1, 64>>>(sums);
  finish();
  require(cudaFree(states));
  const double pi = 4.0 * inside[0] / (threads * samples), price = payoffs[0] / (threads * samples);
  const auto normal = [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; };
  const double d1 = (std::log(100 / 105.0) + 0.05 + 0.02) / 0.2;
  const double exact = 100 * normal(d1) - 105 * std::exp(-0.05) * normal(d1 - 0.2);
  const bool is_right = std::abs(pi - M_PI) < 0.1 && std::abs(price - exact) < 1;
  return verdict(is_right && std::abs(sums[0] / 1024) < 0.3);
}
