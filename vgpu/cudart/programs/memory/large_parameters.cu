// A structure of 12 KB passed by value: parameters beyond 4 KB, read in place (__grid_constant__)
// and by an index that only the thread knows.
// MUTANT: all blocks sum up into one place.
// expect: data-race
#include "check.hpp"

constexpr int kTerms = 1500;

struct Polynomial {
  int count;
  double factors[kTerms];
};

__device__ double term(const Polynomial* polynomial, int i) { return polynomial->factors[i] * i; }

__global__ void sum_terms(const __grid_constant__ Polynomial polynomial, double* sums) {
  double sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < polynomial.count;
       i += gridDim.x * blockDim.x) {
    sum += term(&polynomial, i);
  }
#ifdef MUTANT
  sums[threadIdx.x] += sum;  //~
#else
  sums[blockIdx.x * blockDim.x + threadIdx.x] += sum;
#endif
}

int main() {
  static Polynomial polynomial;
  polynomial.count = kTerms - 3;
  double expected = 0;
  for (int i = 0; i < kTerms; ++i) {
    polynomial.factors[i] = i % 7;
    if (i < polynomial.count) expected += polynomial.factors[i] * i;
  }
  Buffer<double> sums(3 * 64);
  sum_terms<<<3, 64>>>(polynomial, sums);
  finish();
  double sum = 0;
  for (double each : sums) sum += each;
  return verdict(sum == expected);
}
