// A particle filter: weights, a normalising sum, resampling by a binary search in the scan of
// weights.
// MUTANT: the search reads the scan of all blocks before they have written it.
// expect: data-race, uninitialized-read
#include <cmath>
#include <vector>

#include "check.hpp"

constexpr int kParticles = 256;

__global__ void weigh(const float* at, float measured, float* weights) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float error = at[i] - measured;
  weights[i] = expf(-error * error / 2);
}

__device__ void scan_weights(const float* weights, float* scan) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k <= i; ++k) sum += weights[k];
  scan[i] = sum;  //~
}

__device__ void pick(const float* scan, const float* at, float* picked) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float wanted = (i + 0.5f) / kParticles * scan[kParticles - 1];  //~
  int low = 0, high = kParticles - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (scan[middle] < wanted) {  //~
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  picked[i] = at[low];
}

__global__ void resample(const float* weights, float* scan, const float* at, float* picked) {
  scan_weights(weights, scan);
#ifdef MUTANT
  pick(scan, at, picked);
#endif
}
__global__ void choose(const float* scan, const float* at, float* picked) {
  pick(scan, at, picked);
}

int main() {
  float *weights, *scan;
  require(cudaMalloc(&weights, kParticles * sizeof(float)));
  require(cudaMalloc(&scan, kParticles * sizeof(float)));
  Buffer<float> at(kParticles), picked(kParticles);
  for (int i = 0; i < kParticles; ++i) at[i] = i / 16.0f;
  weigh<<<2, kParticles / 2>>>(at, 5, weights);
  resample<<<2, kParticles / 2>>>(weights, scan, at, picked);
#ifndef MUTANT
  choose<<<2, kParticles / 2>>>(scan, at, picked);
#endif
  finish();
  require(cudaFree(scan));
  require(cudaFree(weights));
  float mean = 0;
  bool is_right = true;
  for (int i = 0; i < kParticles; ++i) {
    mean += picked[i] / kParticles;
    is_right &= i == 0 || picked[i] >= picked[i - 1];
  }
  return verdict(is_right && std::abs(mean - 5) < 0.2f);
}
