// A dynamic work queue: threads take intervals, split them and put halves back, until none are
// left and nobody works (adaptive integration).
// MUTANT: an interval is put back without a release before it is counted.
// expect: data-race
#include <cmath>

#include "check.hpp"

struct Interval {
  float low, high;
};
constexpr int kCapacity = 4096;

__device__ float function(float x) { return x * x; }

__global__ void integrate(Interval* queue, int* ready, int* put, int* taken, int* open,
                          float* total) {
  float sum = 0;
  if (threadIdx.x % 32 == 0) {
    while (atomicAdd(open, 0) > 0) {
      const int at = atomicAdd(taken, 0);
      if (at >= atomicAdd(put, 0) || atomicAdd(ready + at, 0) == 0) continue;
      if (atomicCAS(taken, at, at + 1) != at) continue;
      __threadfence();
      const Interval work = queue[at];  //~
      const float middle = (work.low + work.high) / 2;
      if (work.high - work.low > 0.006f) {
        const int to = atomicAdd(put, 2);
        queue[to] = {work.low, middle};       //~
        queue[to + 1] = {middle, work.high};  //~
#ifndef MUTANT
        __threadfence();
#endif
        atomicAdd(open, 2);
        atomicExch(ready + to, 1);
        atomicExch(ready + to + 1, 1);
      } else {
        sum += (work.high - work.low) * function(middle);
      }
      atomicSub(open, 1);
    }
  }
  atomicAdd(total, sum);
}

int main() {
  Buffer<Interval> queue(kCapacity);
  Buffer<int> ready(kCapacity), counters(3);
  Buffer<float> total(1);
  queue[0] = {0, 3};
  ready[0] = 1;
  counters[0] = 1, counters[2] = 1;
  integrate<<<4, 64>>>(queue, ready, counters, counters + 1, counters + 2, total);
  finish();
  return verdict(std::abs(total[0] - 9) < 0.01f && counters[0] == counters[1] && counters[2] == 0);
}
