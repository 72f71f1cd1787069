// Interval arithmetic by operators, with intrinsics that round down and up: roots of a polynomial
// by bisection, each thread with a stack of intervals of its own.
// MUTANT: an interval is pushed behind the end of a stack in shared memory.
// expect: out-of-bounds
#include "check.hpp"

constexpr int kThreads = 8, kDeep = 24;

template <class T>
struct Interval {
  T low, high;
};
__device__ double add_down(double a, double b) { return __dadd_rd(a, b); }
__device__ double add_up(double a, double b) { return __dadd_ru(a, b); }
__device__ double mul_down(double a, double b) { return __dmul_rd(a, b); }
__device__ double mul_up(double a, double b) { return __dmul_ru(a, b); }
__device__ float add_down(float a, float b) { return __fadd_rd(a, b); }
__device__ float add_up(float a, float b) { return __fadd_ru(a, b); }
__device__ float mul_down(float a, float b) { return __fmul_rd(a, b); }
__device__ float mul_up(float a, float b) { return __fmul_ru(a, b); }

template <class T>
__device__ Interval<T> operator+(Interval<T> a, Interval<T> b) {
  return {add_down(a.low, b.low), add_up(a.high, b.high)};
}
template <class T>
__device__ Interval<T> operator*(Interval<T> a, Interval<T> b) {
  return {min(min(mul_down(a.low, b.low), mul_down(a.low, b.high)),
              min(mul_down(a.high, b.low), mul_down(a.high, b.high))),
          max(max(mul_up(a.low, b.low), mul_up(a.low, b.high)),
              max(mul_up(a.high, b.low), mul_up(a.high, b.high)))};
}

// x * x - 2 on [0, thread + 1): each thread's smallest intervals that may hold a root.
template <class T>
__global__ void find_roots(T width, Interval<T>* roots) {
  __shared__ Interval<T> stacks[kThreads][kDeep];
  Interval<T>* const stack = stacks[threadIdx.x];
  int depth = 0;
  stack[depth++] = {T(0), T(threadIdx.x + 1)};
  roots[threadIdx.x] = {T(-1), T(-1)};
  while (depth > 0) {
    const Interval<T> x = stack[--depth];
    const Interval<T> y = x * x + Interval<T>{T(-2), T(-2)};
    if (y.low > 0 || y.high < 0) continue;
    if (x.high - x.low < width) {
      roots[threadIdx.x] = x;
      continue;
    }
    const T middle = (x.low + x.high) / 2;
#ifdef MUTANT
    if (threadIdx.x == kThreads - 1) stack[kDeep] = x;  //~
#endif
    stack[depth++] = {middle, x.high};
    stack[depth++] = {x.low, middle};
  }
}

template <class T>
bool is_right(T width) {
  Buffer<Interval<T>> roots(kThreads);
  find_roots<T><<<1, kThreads>>>(width, roots);
  finish();
  if (roots[0].low != T(-1)) return false;  // the root is above 1
  bool right = true;
  for (int i = 1; i < kThreads; ++i) {
    const double low = roots[i].low, high = roots[i].high;
    right &= low * low <= 2 && 2 <= high * high && high - low < width;
  }
  return right;
}

int main() { return verdict(is_right(1e-3f) & is_right(1e-5)); }
