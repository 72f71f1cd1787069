// Loops around a compare-and-swap that write parts of words of fresh memory.  Their branch compares what the swap
// has found with what was read at the same place, so it does not depend on undefined bits, and every bit of the
// result is written in the end.  A swap whose expected value comes from anywhere else depends on undefined bits.
//
// build: -arch=compute_80
// case halves: | | halves
// expect halves: clean
// prints halves: 3412
// case halves_g: -G | | halves
// expect halves_g: clean
// prints halves_g: 3412
// case bytes: | | bytes
// expect bytes: clean
// prints bytes: 3020100
// case bytes_g: -G | | bytes
// expect bytes_g: clean
// prints bytes_g: 3020100
// case shared: | | shared
// expect shared: clean
// prints shared: 3020100
// case half_written: | | half_written
// expect half_written: note uninitialized-read guess copy
// case sum: | | sum
// expect sum: error uninitialized-read of_sum copy
// case sum_g: -G | | sum
// expect sum_g: error uninitialized-read of_sum copy
// case fresh_lock: | | fresh_lock
// expect fresh_lock: error uninitialized-read takes
// case fresh_lock_g: -G | | fresh_lock
// expect fresh_lock_g: error uninitialized-read takes takes_if
// case other_place: | | other_place
// expect other_place: error uninitialized-read other other_if
// case unset: | | unset
// expect unset: error uninitialized-read unset
#include <cstdio>
#include <cstring>

__global__ void halves(unsigned short* p, bool all) {
  const unsigned short mask = threadIdx.x % 2 ? 0xff00 : 0x00ff;
  const unsigned short bits = threadIdx.x % 2 ? 0x3400 : 0x0012;
  if (!all && threadIdx.x % 2 == 1) return;
  unsigned short* where = p + threadIdx.x / 2;
  unsigned short old = *(volatile unsigned short*)where, seen;  //~ guess
  do {
    seen = old;
    old = atomicCAS(where, seen, (unsigned short)((seen & ~mask) | bits));
  } while (old != seen);
}

__device__ void store_byte(unsigned* word, unsigned byte, unsigned value) {
  unsigned old = *(volatile unsigned*)word, seen;
  do {
    seen = old;
    old = atomicCAS(word, seen, (seen & ~(0xffu << 8 * byte)) | value << 8 * byte);
  } while (old != seen);
}

__global__ void bytes(unsigned* p) { store_byte(p + threadIdx.x / 4, threadIdx.x % 4, threadIdx.x % 4); }

__global__ void bytes_in_shared(unsigned* p) {
  __shared__ unsigned words[32];
  store_byte(words + threadIdx.x / 4, threadIdx.x % 4, threadIdx.x % 4);
  __syncthreads();
  if (threadIdx.x < 32) p[threadIdx.x] = words[threadIdx.x];
}

__global__ void sum(float* p) {
  int* const word = (int*)p;
  int old = *(volatile int*)word, seen;  //~ of_sum
  do {
    seen = old;
    old = atomicCAS(word, seen, __float_as_int(__int_as_float(seen) + 1.0f));
  } while (old != seen);
}

__global__ void fresh_lock(int* lock, int* out) {
  const int found = atomicCAS(lock, 0, 1);  //~ takes
  if (found == 0) out[0] = 1;               //~ takes takes_if
}

__global__ void other_place(int* p, int* out) {
  const int seen = *(volatile int*)(p + 1);  //~ other
  const int found = atomicCAS(p, seen, 1);   //~ other
  if (found == seen) out[0] = 1;             //~ other_if
}

__global__ void unset(int* p, int* out, int n) {
  int seen;
  if (n > 5) seen = out[n];
  p[0] = 7;
  if (atomicCAS(p, seen, 1) == seen) out[0] = 1;  //~ unset
}

int main(int, char** arguments) {
  unsigned *p, *out, host[32];
  cudaMalloc(&p, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemset(out, 0, sizeof host);
  const auto is = [&](const char* name) { return std::strcmp(arguments[1], name) == 0; };
  if (is("halves")) halves<<<1, 128>>>((unsigned short*)p, true);
  if (is("half_written")) halves<<<1, 128>>>((unsigned short*)p, false);
  if (is("bytes")) bytes<<<1, 128>>>(p);
  if (is("shared")) bytes_in_shared<<<1, 128>>>(p);
  if (is("sum")) sum<<<1, 1>>>((float*)p);
  if (is("fresh_lock")) fresh_lock<<<1, 1>>>((int*)p, (int*)out);
  if (is("other_place")) other_place<<<1, 1>>>((int*)p, (int*)out);
  if (is("unset")) unset<<<1, 1>>>((int*)p, (int*)out, 3);
  const bool decides = is("fresh_lock") || is("other_place") || is("unset");
  cudaMemcpy(host, decides ? out : p, is("sum") ? 4 : sizeof host, cudaMemcpyDeviceToHost);  //~ copy
  // An undefined sum has no value to print.
  if (!is("sum") && !is("half_written")) printf("%x\n", is("halves") ? host[31] & 0xffff : host[31]);
  cudaFree(p);
  cudaFree(out);
  return 0;
}
