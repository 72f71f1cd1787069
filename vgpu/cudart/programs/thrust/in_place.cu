// Thrust drops items in place: those that equal the one before, with and without values, and those
// of a kind; in vectors and by pointers.
// notes: data-race
// MUTANT: the values are one too few.
// expect: out-of-bounds
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/remove.h>
#include <thrust/sequence.h>
#include <thrust/unique.h>

#include "check.hpp"

struct Half {
  __device__ int operator()(int i) const { return i / 2; }
};

struct IsOdd {
  __device__ bool operator()(int i) const { return i % 2 != 0; }
};

int main() {
  const int n = 6000;
  thrust::device_vector<int> keys(n), values(n);
  const auto fill = [&] {
    thrust::sequence(values.begin(), values.end());
    thrust::transform(values.begin(), values.end(), keys.begin(), Half());
  };
  fill();
  bool is_right = thrust::unique(keys.begin(), keys.end()) - keys.begin() == n / 2;
  is_right &= keys[n / 2 - 1] == n / 2 - 1;
  fill();
  const auto ends = thrust::unique_by_key(keys.begin(), keys.end(), values.begin());
  is_right &= ends.second - values.begin() == n / 2 && values[n / 2 - 1] == n - 2;
  fill();
  int* const data = thrust::raw_pointer_cast(keys.data());
  int* own;
  require(cudaMalloc(&own, n * sizeof(int)));
  require(cudaMemcpy(own, thrust::raw_pointer_cast(values.data()), n * sizeof(int),
                     cudaMemcpyDeviceToDevice));
#ifdef MUTANT
  require(cudaFree(own));
  require(cudaMalloc(&own, (n - 1) * sizeof(int)));
  require(cudaMemset(own, 0, (n - 1) * sizeof(int)));
  is_right = true;
#endif
  is_right &= thrust::unique_by_key(thrust::device, data, data + n, own).first - data == n / 2;
  require(cudaFree(own));
  thrust::sequence(keys.begin(), keys.end());
  is_right &= thrust::remove_if(keys.begin(), keys.end(), IsOdd()) - keys.begin() == n / 2;
  is_right &= keys[n / 2 - 1] == n - 2;
  thrust::sequence(keys.begin(), keys.end());
  is_right &= thrust::remove_if(thrust::device, data, data + n, IsOdd()) - data == n / 2;
  is_right &= keys[n / 2 - 1] == n - 2;
  // Nothing is dropped, so each block writes its whole tile again.
  thrust::sequence(keys.begin(), keys.end());
  is_right &= thrust::unique(keys.begin(), keys.end()) == keys.end();
  is_right &= thrust::unique_by_key(keys.begin(), keys.end(), values.begin()).first == keys.end();
  return verdict(is_right);
}
