// PageRank on a graph in CSR form, ranks pushed by atomicAdd of double, a norm by shuffles.
// MUTANT: the offsets have one entry less than the kernel reads.
// expect: out-of-bounds
#include <cmath>
#include <vector>

#include "check.hpp"

__global__ void push(const int* offsets, const int* edges, int n, const double* ranks,
                     double* next) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int begin = offsets[i], end = offsets[i + 1];  //~
  for (int edge = begin; edge < end; ++edge) {
    atomicAdd(next + edges[edge], 0.85 * ranks[i] / (end - begin));
  }
}

__global__ void difference(const double* a, const double* b, int n, double* norm) {
  double sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += fabs(a[i] - b[i]);
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
  if (threadIdx.x % 32 == 0) atomicAdd(norm, sum);
}

int main() {
  const int n = 100;
#ifdef MUTANT
  Buffer<int> offsets(n);
  for (int i = 0; i < n; ++i) offsets[i] = 3 * i;
#else
  Buffer<int> offsets(n + 1);
  for (int i = 0; i <= n; ++i) offsets[i] = 3 * i;
#endif
  Buffer<int> edges(3 * n);
  for (int i = 0; i < 3 * n; ++i) edges[i] = (i * 7 + 1) % n * (i % 3 + 1) % n;
  Buffer<double> ranks(n, 1.0 / n), next(n), norm(1);
  int rounds = 0;
  do {
    for (double& each : next) each = 0.15 / n;
    norm[0] = 0;
    push<<<2, 64>>>(offsets, edges, n, ranks, next);
    difference<<<1, 64>>>(ranks, next, n, norm);
    finish();
    for (int i = 0; i < n; ++i) ranks[i] = next[i];
  } while (norm[0] > 1e-9 && ++rounds < 200);
  std::vector<double> expected(n, 1.0 / n);
  for (int round = 0; round <= rounds; ++round) {
    std::vector<double> after(n, 0.15 / n);
    for (int i = 0; i < 3 * n; ++i) after[edges[i]] += 0.85 * expected[i / 3] / 3;
    expected = after;
  }
  bool is_right = rounds < 200;
  for (int i = 0; i < n; ++i) is_right &= std::abs(ranks[i] - expected[i]) < 1e-12;
  return verdict(is_right);
}
