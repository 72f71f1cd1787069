// Arrays on the stack that no register can hold: dynamic indices, kilobytes, passed by reference,
// of structs, and of a size that is only known at run time (alloca).
// MUTANT: an index runs past the end of the array.
// expect: out-of-bounds
#include <alloca.h>

#include "check.hpp"

struct Pair {
  int key, value;
};

__device__ void sort_pairs(Pair (&pairs)[32], int n) {
  for (int i = 1; i < n; ++i) {
    const Pair held = pairs[i];
    int j = i - 1;
    for (; j >= 0 && pairs[j].key > held.key; --j) pairs[j + 1] = pairs[j];
    pairs[j + 1] = held;
  }
}

__global__ void permute(const int* keys, int* out, int n) {
  Pair pairs[32];
  for (int i = 0; i < n; ++i) pairs[i] = {keys[i] ^ static_cast<int>(threadIdx.x), i};
  sort_pairs(pairs, n);
  int counts[1024];
  for (int i = 0; i < 1024; ++i) counts[i] = 0;
#ifdef MUTANT
  const int last = 5000;
#else
  const int last = 1023;
#endif
  for (int i = 0; i < n; ++i) ++counts[pairs[i].key * 31 % 1000];
  counts[last - keys[0]] += 1;  //~
  int* const order = static_cast<int*>(alloca(n * sizeof(int)));
  for (int i = 0; i < n; ++i) order[i] = pairs[i].value;
  int hash = counts[1023];
  for (int i = 0; i < n; ++i) hash = hash * 31 + order[i] + counts[pairs[i].key * 31 % 1000];
  out[threadIdx.x] = hash;
}

int main() {
  // With alloca(), nobody knows how much a thread needs.
  require(cudaDeviceSetLimit(cudaLimitStackSize, 8192));
  constexpr int n = 32;
  int *keys, *out;
  require(cudaMallocManaged(&keys, n * sizeof(int)));
  require(cudaMallocManaged(&out, n * sizeof(int)));
  for (int i = 0; i < n; ++i) keys[i] = i * 7 % 32;
  permute<<<1, n>>>(keys, out, n);
  require(cudaDeviceSynchronize());
  bool is_right = true;
  for (int thread = 0; thread < n; ++thread) {
    int hash = 1;
    for (int key = 0; key < n; ++key) {
      int i = 0;
      while ((keys[i] ^ thread) != key) ++i;
      hash = static_cast<int>(hash * 31u + i + 1u);
    }
    is_right &= out[thread] == hash;
  }
  require(cudaFree(out));
  require(cudaFree(keys));
  return verdict(is_right);
}
