// Thrust sorts a vector on the device by a comparison of our own.
// MUTANT: the comparison looks up an order that has one entry less than there are kinds.
// expect: out-of-bounds
#include <thrust/device_vector.h>
#include <thrust/sort.h>
#include <algorithm>
#include <vector>

#include "check.hpp"

struct InOrder {
  const int* rank;
  __device__ bool operator()(int a, int b) const { return rank[a] < rank[b]; }  //~
};

int main() {
  constexpr int kKinds = 6;
  const std::vector<int> rank{3, 1, 5, 0, 4, 2};
  std::vector<int> in(500);
  for (int i = 0; i < 500; ++i) in[i] = i * 11 % kKinds;
#ifdef MUTANT
  const thrust::device_vector<int> ranks(rank.begin(), rank.end() - 1);
#else
  const thrust::device_vector<int> ranks(rank.begin(), rank.end());
#endif
  thrust::device_vector<int> data(in.begin(), in.end());
  thrust::sort(data.begin(), data.end(), InOrder{thrust::raw_pointer_cast(ranks.data())});

  std::vector<int> out(in.size());
  thrust::copy(data.begin(), data.end(), out.begin());
  std::sort(in.begin(), in.end(), [&](int a, int b) { return rank[a] < rank[b]; });
  return verdict(out == in);
}
