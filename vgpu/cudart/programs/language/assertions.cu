// assert() in a kernel that holds, and one that does not: the launch dies, and the program
// notices.
// MUTANT: the second kernel of the program fails its assertion.
// expect: trap
#include <cassert>

#include "check.hpp"

__global__ void check_sorted(const int* data, int n) {
  const int i = threadIdx.x;
  if (i + 1 < n) assert(data[i] <= data[i + 1] && "the data are sorted");  //~
}

int main() {
  constexpr int n = 32;
  int* data;
  require(cudaMallocManaged(&data, n * sizeof(int)));
  for (int i = 0; i < n; ++i) data[i] = 3 * i;
  check_sorted<<<1, n>>>(data, n);
  require(cudaDeviceSynchronize());
#ifdef MUTANT
  data[n - 1] = 0;
  check_sorted<<<1, n>>>(data, n);
  if (cudaDeviceSynchronize() != cudaErrorAssert) return verdict(false);
  return 0;
#endif
  require(cudaFree(data));
  return verdict(true);
}
