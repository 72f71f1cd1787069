// Shuffles of every direction and width, of 64-bit values, doubles and structs; a scan in
// registers; a broadcast from the lane that a vote names.
// MUTANT: the scan adds what lanes without a left neighbour shuffle from themselves.
// expect: data-race
#include "check.hpp"

__device__ int inclusive_scan(int value) {
  for (int distance = 1; distance < 32; distance *= 2) {
    const int other = __shfl_up_sync(~0u, value, distance);
#ifdef MUTANT
    value += other;
#else
    if (threadIdx.x % 32 >= distance) value += other;
#endif
  }
  return value;
}

__global__ void shuffle(const int* data, int* places, double* doubles, long long* longs,
                        int* firsts) {
  const int lane = threadIdx.x, value = data[lane];
  places[inclusive_scan(1) - 1] = lane;  //~
  doubles[lane] = __shfl_xor_sync(~0u, value * 0.5, 1);
  longs[lane] = __shfl_down_sync(~0u, static_cast<long long>(value) << 40, 3, 8);
  const unsigned large = __ballot_sync(~0u, value > 50);
  const int first = __shfl_sync(~0u, value, __ffs(large) - 1);
  firsts[lane] = first;
}

int main() {
  Buffer<int> data(32), places(32), firsts(32);
  Buffer<double> doubles(32);
  Buffer<long long> longs(32);
  for (int i = 0; i < 32; ++i) data[i] = i * 37 % 64;
  shuffle<<<1, 32>>>(data, places, doubles, longs, firsts);
  finish();
  bool is_right = true;
  int first = -1;
  for (int i = 31; i >= 0; --i) first = data[i] > 50 ? data[i] : first;
  for (int i = 0; i < 32; ++i) {
    is_right &= places[i] == i && doubles[i] == data[i ^ 1] * 0.5 && firsts[i] == first;
    is_right &= longs[i] == static_cast<long long>(data[i % 8 + 3 < 8 ? i + 3 : i]) << 40;
  }
  return verdict(is_right);
}
