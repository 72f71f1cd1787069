// 128-bit compare-and-swap and exchange, sums of float2 and float4: what sm_90 has.
// arch: compute_90
// MUTANT: a pair is read while others swap it.
// expect: data-race
#include "check.hpp"

struct __align__(16) Pair {
  long long low, high;
};

__global__ void swap(Pair* pairs, Pair* last) {
  Pair seen = {0, 0};
  while (true) {
    const Pair wanted = {seen.low + 1, seen.high - 2};
    const Pair found = atomicCAS(pairs, seen, wanted);  //~
    if (found.low == seen.low && found.high == seen.high) break;
    seen = found;
  }
#ifdef MUTANT
  if (threadIdx.x == 5 && blockIdx.x == 0) *last = *pairs;  //~
#else
  if (threadIdx.x == 5 && blockIdx.x == 0) atomicExch(last, Pair{5, 6});
#endif
}
__global__ void add(float4* wide, float2* narrow) {
  atomicAdd(wide, make_float4(1, 2, 3, 4));
  atomicAdd(narrow, make_float2(0.5f, threadIdx.x));
}

int main() {
  Buffer<Pair> pairs(1), last(1);
  Buffer<float4> wide(1);
  Buffer<float2> narrow(1);
  swap<<<2, 32>>>(pairs, last);
  add<<<2, 32>>>(wide, narrow);
  finish();
  return verdict(pairs[0].low == 64 && pairs[0].high == -128 && last[0].high == 6 &&
                 wide[0].w == 256 && wide[0].x == 64 && narrow[0].x == 32 && narrow[0].y == 992);
}
