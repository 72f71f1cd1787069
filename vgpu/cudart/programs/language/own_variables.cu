// A thread reads what it alone has written, under a condition on its number that the compiler makes
// a selection: it loads for all threads, and all but one throw the value away.
// MUTANT: another thread than the one that wrote reads.
// expect: data-race
#include "check.hpp"

constexpr int kThreads = 96;

__device__ int finished;

#ifdef MUTANT
constexpr int kReader = 1;
#else
constexpr int kReader = 0;
#endif

__global__ void steps(const int* values, int* out, int n) {
  __shared__ int sums[4];
  __shared__ unsigned char is_open[kThreads];
  const int t = threadIdx.x;
  int kept = 0;
  for (int first = 0; first < n; first += kThreads) {
    const int value = first + t < n ? values[first + t] : 0;
    is_open[t] = value % 3 != 0;  //~
    if (t < 4) sums[t] = value;
    // && of three, of which one is loaded.
    if (t == kReader && value < 1000 && is_open[0]) kept += value;  //~
    // A choice, and a sum that only one thread makes.
    const int chosen = t == 0 ? sums[0] : value;
    if (t == 2) kept += sums[2];
    kept = max(kept, t == 3 ? chosen : kept);
    if (t == 0) finished = first;
    if (t == 0 && finished > n) kept = -1;
    __syncthreads();
  }
  out[t] = kept;
}

int main() {
  constexpr int kCount = 2 * kThreads + 5;
  Buffer<int> values(kCount), out(kThreads);
  for (int i = 0; i < kCount; ++i) values[i] = i * 7 % 50;
  steps<<<1, kThreads>>>(values, out, kCount);
  finish();
  bool is_right = out[2] >= values[2] + values[kThreads + 2];
#ifndef MUTANT
  int first = 0;
  for (int i = 0; i < kCount; i += kThreads) first += values[i] % 3 != 0 ? values[i] : 0;
  is_right &= out[0] == first;
#endif
  return verdict(is_right);
}
