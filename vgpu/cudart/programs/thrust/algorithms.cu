// A dozen algorithms of thrust with fancy iterators: transforms, permutations, zips, sets,
// searches.
// options: --extended-lambda
// MUTANT: an index of a gather is past its array.
// expect: out-of-bounds
#include <thrust/binary_search.h>
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <thrust/tabulate.h>
#include <thrust/transform_reduce.h>

#include "check.hpp"

struct Product {
  __host__ __device__ int operator()(const thrust::tuple<int, int>& pair) const {
    return thrust::get<0>(pair) * thrust::get<1>(pair);
  }
};
struct IsOdd {
  __host__ __device__ bool operator()(int value) const { return value % 2 != 0; }
};

int main() {
  const int n = 300;
  thrust::device_vector<int> numbers(n), squares(n), places(n), gathered(n);
  thrust::sequence(numbers.begin(), numbers.end());
  thrust::transform(numbers.begin(), numbers.end(), squares.begin(),
                    [] __device__(int value) { return value * value; });
  thrust::tabulate(places.begin(), places.end(), [] __device__(int i) { return i * 7 % 300; });
#ifdef MUTANT
  places[5] = n;
#endif
  thrust::gather(places.begin(), places.end(), numbers.begin(), gathered.begin());
  const auto pairs =
      thrust::make_zip_iterator(thrust::make_tuple(numbers.begin(), squares.begin()));
  const int cubes = thrust::transform_reduce(pairs, pairs + 20, Product(), 0, thrust::plus<int>());
  const long odd = thrust::count_if(thrust::device, gathered.begin(), gathered.end(), IsOdd());
  const auto chosen = thrust::make_permutation_iterator(squares.begin(), places.begin());
  const int sum = thrust::inner_product(chosen, chosen + 4, numbers.begin(), 0);
  thrust::device_vector<int> common(n);
  const auto end = thrust::set_intersection(numbers.begin(), numbers.end(), squares.begin(),
                                            squares.end(), common.begin());
  const auto found = thrust::lower_bound(squares.begin(), squares.end(), 50);
  const thrust::host_vector<int> host = gathered;
  bool is_right = cubes == 36100 && odd == n / 2 && end - common.begin() == 18;
  is_right &= sum == 49 * 1 + 196 * 2 + 441 * 3 && found - squares.begin() == 8;
  for (int i = 0; i < n; ++i) is_right &= host[i] == i * 7 % 300;
  return verdict(is_right);
}
