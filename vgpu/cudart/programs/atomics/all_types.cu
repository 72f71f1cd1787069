// Every atomic function on every type, at block, device and system scope; what they return.
// MUTANT: a counter of the grid is incremented at block scope.
// expect: data-race
#include "check.hpp"

__global__ void signed_ones(int* a, int* olds) {
  const int t = threadIdx.x;
  olds[t] = atomicAdd(a, 1);
  atomicSub(a + 1, t), atomicExch(a + 2, 31), atomicMin(a + 3, -t);
  atomicMax(a + 4, t), atomicAnd(a + 5, ~(1 << t % 32)), atomicOr(a + 6, 1 << t % 32);
  atomicXor(a + 7, t), atomicCAS(a + 8, 0, 1), atomicAdd_block(a + 9, 1),
      atomicAdd_system(a + 10, 1);
}
__global__ void unsigned_ones(unsigned* a, unsigned long long* b) {
  const unsigned t = threadIdx.x;
  atomicInc(a, 9), atomicDec(a + 1, 9), atomicAdd(a + 2, t), atomicMin(a + 3, 100 - t);
  atomicMax(a + 4, t), atomicAdd(b, 1ull << 33), atomicMin(b + 1, 1000ull - t);
  atomicMax(b + 2, static_cast<unsigned long long>(t)), atomicAnd(b + 3, ~(1ull << t));
  atomicOr(b + 4, 1ull << t), atomicXor(b + 5, 1ull << t / 2), atomicCAS(b + 6, 0ull, 5ull);
  atomicMin(reinterpret_cast<long long*>(b + 7), -static_cast<long long>(t));
}
__global__ void floats(float* a, double* b, unsigned short* c) {
  atomicAdd(a, 0.5f), atomicAdd(b, 0.25), atomicAdd_block(a + 1, 1.0f),
      atomicAdd_system(b + 1, 2.0);
  atomicExch(a + 2, 3.0f);
  unsigned short old = 0, assumed;
  do {
    assumed = old;
    old = atomicCAS(c, assumed, static_cast<unsigned short>(assumed + 3));
  } while (old != assumed);
}
__global__ void count_blocks(int* count) {
#ifdef MUTANT
  atomicAdd_block(count, 1);  //~
#else
  atomicAdd(count, 1);
#endif
}

int main() {
  const int n = 64;
  Buffer<int> a(16), olds(n);
  Buffer<unsigned> u(8);
  Buffer<unsigned long long> l(8);
  Buffer<float> f(4);
  Buffer<double> d(4);
  Buffer<unsigned short> s(2);
  a[5] = -1, u[3] = 1000, l[1] = 5000, l[3] = ~0ull;
  signed_ones<<<1, n>>>(a, olds);
  unsigned_ones<<<1, n>>>(u, l);
  floats<<<1, n>>>(f, d, s);
  count_blocks<<<10, 1>>>(a + 11);
  finish();
  bool is_right =
      a[0] == n && a[1] == -n * (n - 1) / 2 && a[2] == 31 && a[3] == 1 - n && a[4] == n - 1;
  is_right &=
      a[5] == 0 && a[6] == -1 && a[7] == 0 && a[8] == 1 && a[9] == n && a[10] == n && a[11] == 10;
  is_right &= u[0] == n % 10 && u[1] == (10 - n % 10) % 10 && u[2] == n * (n - 1) / 2;
  is_right &=
      u[3] == 100 - (n - 1) && u[4] == n - 1 && l[0] == (64ull << 33) && l[1] == 1000 - (n - 1);
  is_right &= l[2] == n - 1 && l[3] == 0 && l[4] == ~0ull && l[5] == 0 && l[6] == 5;
  is_right &= static_cast<long long>(l[7]) == 1 - n && f[0] == 32 && d[0] == 16 && f[1] == n;
  is_right &= d[1] == 2 * n && f[2] == 3 && s[0] == 3 * n;
  unsigned long long seen = 0;
  for (const int old : olds) seen |= 1ull << old;
  return verdict(is_right && seen == ~0ull);
}
