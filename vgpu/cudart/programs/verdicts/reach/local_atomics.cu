// Atomics on local memory by generic addresses: each thread has its own, so they are executed on it
// like other operations.  The results are those of an H200.  Those of 128 bits and of packed types
// are an error: there, the H200 leaves memory unchanged, or writes something else.
//
// build: -arch=compute_90
// case optimised: | | 3
// expect optimised: clean
// prints optimised: u32 1 3
// prints optimised: u64 1 3
// prints optimised: s32 -1 -1, s64 -7 -2
// prints optimised: inc 1 2, dec 0 5
// prints optimised: and 8, or 14, xor 6
// prints optimised: f32 1.5 3.75, f64 1.5 3.75
// prints optimised: tiny 1
// prints optimised: exch 1 9
// prints optimised: cas 5 6, then 6 6
// prints optimised: cas16 5 6
// prints optimised: red 7 9 2.5
// prints optimised: threads 8128
// case debug: -G | | 3
// expect debug: clean
// prints debug: u64 1 3
// prints debug: f32 1.5 3.75, f64 1.5 3.75
// prints debug: threads 8128
// case unset: -DUNSET | | 3
// expect unset: error uninitialized-read operation branch
// case quad: -DQUAD | | 3
// expect quad: error out-of-bounds quad
// says quad: an atomic that local memory does not have
// case packed: -DPACKED | | 3
// expect packed: error out-of-bounds packed
// case beyond: -DBEYOND | | 3
// expect beyond: error out-of-bounds operation
#include <cstdio>
#include <cstdlib>
using u32 = unsigned;
using u64 = unsigned long long;
#define ATOM(op, type, r, old, at, v) \
  asm volatile("atom." op "." type " %0, [%1], %2;" : "=" r(old) : "l"(at), r(v) : "memory")
#define CAS(type, r, old, at, c, v)                  \
  asm volatile("atom.cas." type " %0, [%1], %2, %3;" \
               : "=" r(old)                          \
               : "l"(at), r(c), r(v)                 \
               : "memor"                             \
                 "y")

// Keeps a variable in memory, at a generic address.
template <class T>
__device__ T* at(T* local, void* global, int n) {
  return n > 100 ? (T*)global : local;
}

__global__ void values(void* g, int n) {
  u32 u = 1, ou, *pu = at(&u, g, n);
  ATOM("add.relaxed.gpu", "u32", "r", ou, pu, 2u);
  printf("u32 %u %u\n", ou, *(volatile u32*)pu);
  u64 w = 1, ow, *pw = at(&w, g, n);
  ATOM("add.relaxed.gpu", "u64", "l", ow, pw, 2ull);
  printf("u64 %llu %llu\n", ow, *(volatile u64*)pw);
  int s = -1, os, *ps = at(&s, g, n);
  ATOM("min", "s32", "r", os, ps, 4);
  long long t = -7, ot, *pt = at(&t, g, n);
  ATOM("max", "s64", "l", ot, pt, -2ll);
  printf("s32 %d %d, s64 %lld %lld\n", os, *(volatile int*)ps, ot, *(volatile long long*)pt);
  u32 i = 1, oi, *pi = at(&i, g, n), d = 0, od, *pd = at(&d, g, n);
  ATOM("inc", "u32", "r", oi, pi, 5u);
  ATOM("dec", "u32", "r", od, pd, 5u);
  printf("inc %u %u, dec %u %u\n", oi, *(volatile u32*)pi, od, *(volatile u32*)pd);
  u64 a = 12, o = 12, x = 12, old, *pa = at(&a, g, n), *po = at(&o, g, n), *px = at(&x, g, n);
  ATOM("and", "b64", "l", old, pa, 10ull);
  ATOM("or", "b64", "l", old, po, 10ull);
  ATOM("xor", "b64", "l", old, px, 10ull);
  printf("and %llu, or %llu, xor %llu\n", *(volatile u64*)pa, *(volatile u64*)po,
         *(volatile u64*)px);
}

__global__ void floats(void* g, int n) {
  float f = 1.5f, of, *pf = at(&f, g, n);
  ATOM("add", "f32", "f", of, pf, 2.25f);
  double e = 1.5, oe, *pe = at(&e, g, n);
  ATOM("add", "f64", "d", oe, pe, 2.25);
  printf("f32 %g %g, f64 %g %g\n", of, *(volatile float*)pf, oe, *(volatile double*)pe);
  float tiny = __uint_as_float(1), *ptiny = at(&tiny, g, n);
  ATOM("add", "f32", "f", of, ptiny, 0.0f);
  printf("tiny %u\n", *(volatile u32*)ptiny);
}

__global__ void swaps(void* g, int n) {
  u64 w = 1, ow, *pw = at(&w, g, n);
  ATOM("exch", "b64", "l", ow, pw, 9ull);
  printf("exch %llu %llu\n", ow, *(volatile u64*)pw);
  *pw = 5;
  CAS("b64", "l", ow, pw, 5ull, 6ull);
  const u64 first = ow, now = *(volatile u64*)pw;
  CAS("b64", "l", ow, pw, 5ull, 7ull);
  printf("cas %llu %llu, then %llu %llu\n", first, now, ow, *(volatile u64*)pw);
  unsigned short k = 5, ok, *pk = at(&k, g, n);
  CAS("b16", "h", ok, pk, (unsigned short)5, (unsigned short)6);
  printf("cas16 %d %d\n", ok, *(volatile unsigned short*)pk);
  u64 r = 3, *pr = at(&r, g, n);
  asm volatile("red.add.u64 [%0], %1;" : : "l"(pr), "l"(4ull) : "memory");
  u32 m = 3, *pm = at(&m, g, n);
  asm volatile("red.max.u32 [%0], %1;" : : "l"(pm), "r"(9u) : "memory");
  double d = 1, *pd = at(&d, g, n);
  asm volatile("red.add.f64 [%0], %1;" : : "l"(pd), "d"(1.5) : "memory");
  printf("red %llu %u %g\n", *(volatile u64*)pr, *(volatile u32*)pm, *(volatile double*)pd);
}

// Each thread of four warps, at its own place of its own array.
__global__ void threads(u64* sum, int n) {
  u64 own[4] = {0, 0, 0, 0}, old, *place = at(&own[threadIdx.x % n], sum, n);
  for (u32 i = 0; i < 2; ++i) ATOM("add", "u64", "l", old, place, (u64)threadIdx.x);
  atomicAdd(sum, own[threadIdx.x % n] - old);
}

__global__ void wrong(u64* out, int n) {
  u64 word[2], old;
#ifndef UNSET
  word[0] = word[1] = 0;
#endif
#ifdef BEYOND
  u64* place = at(&word[0], out, n) + 100000 * n;
#else
  u64* place = at(&word[n - 3], out, n);
#endif
  ATOM("add", "u64", "l", old, place, 1ull);  //~ operation
  if (old != 0) out[1] = word[1];             //~ branch
}

__global__ void missing(u64* out, int n) {
  alignas(16) u64 word[2] = {1, 2}, low, high;
  u64* place = at(&word[0], out, n);
#ifdef QUAD
  asm volatile(
      "{ .reg .b128 v, o; mov.b128 v, {%3, %4}; atom.exch.b128 o, [%2], v; mov.b128 {%0, %1}, o; }"
      : "=l"(low), "=l"(high)
      : "l"(place), "l"(3ull), "l"(4ull)  //~ quad
      : "memory");
#else
  u32 old;
  ATOM("add.noftz", "f16x2", "r", old, place, 0x3c003c00u);  //~ packed
  low = high = old;
#endif
  out[0] = low + high;
}

int main(int, char** arguments) {
  const int n = atoi(arguments[1]);
  u64 *p, sum = 0;
  cudaMalloc(&p, 64);
  cudaMemset(p, 0, 64);
#if defined(QUAD) || defined(PACKED)
  missing<<<1, 1>>>(p, n);
  cudaDeviceSynchronize();
#elif defined(UNSET) || defined(BEYOND)
  wrong<<<1, 1>>>(p, n);
  cudaDeviceSynchronize();
#else
  values<<<1, 1>>>(p, n);
  floats<<<1, 1>>>(p, n);
  swaps<<<1, 1>>>(p, n);
  cudaDeviceSynchronize();
  threads<<<1, 128>>>(p, n);
  cudaMemcpy(&sum, p, sizeof sum, cudaMemcpyDeviceToHost);
  printf("threads %llu\n", sum);
#endif
  cudaFree(p);
  return 0;
}
