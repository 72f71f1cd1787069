// Thrust sums the values of equal neighbouring keys.
// MUTANT: the iterator over the values begins one element too late.
// expect: out-of-bounds
#include <thrust/device_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/reduce.h>
#include <vector>

#include "check.hpp"

struct Value {
  const int* data;
  __device__ int operator()(int i) const { return data[i]; }  //~
};

int main() {
  const int n = 1200, run = 7;
  std::vector<int> keys(n), values(n), sums((n + run - 1) / run);
  for (int i = 0; i < n; ++i) {
    keys[i] = i / run;
    values[i] = i * 3 % 10;
    sums[i / run] += values[i];
  }
  const thrust::device_vector<int> device_keys(keys.begin(), keys.end());
  const thrust::device_vector<int> data(values.begin(), values.end());
  thrust::device_vector<int> out_keys(sums.size()), out_sums(sums.size());
#ifdef MUTANT
  const int first = 1;
#else
  const int first = 0;
#endif
  const auto input = thrust::make_transform_iterator(thrust::counting_iterator<int>(first),
                                                     Value{thrust::raw_pointer_cast(data.data())});
  thrust::reduce_by_key(device_keys.begin(), device_keys.end(), input, out_keys.begin(),
                        out_sums.begin());
  std::vector<int> out(sums.size());
  thrust::copy(out_sums.begin(), out_sums.end(), out.begin());
  return verdict(out == sums);
}
