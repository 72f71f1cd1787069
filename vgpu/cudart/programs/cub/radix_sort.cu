// CUB's device-wide radix sort of pairs, and a kernel that checks the order on the device.
// MUTANT: the check compares the last key with one behind it.
// expect: out-of-bounds
#include <cub/device/device_radix_sort.cuh>
#include <vector>

#include "check.hpp"

__global__ void count_descents(const unsigned* keys, int n, int* descents) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef MUTANT
  if (i < n && keys[i] > keys[i + 1]) atomicAdd(descents, 1);  //~
#else
  if (i + 1 < n && keys[i] > keys[i + 1]) atomicAdd(descents, 1);
#endif
}

int main() {
  const int n = 1500;
  std::vector<unsigned> in(n), keys_out(n);
  std::vector<int> places(n), places_out(n);
  for (int i = 0; i < n; ++i) {
    in[i] = 2654435761u * i % 1009;
    places[i] = i;
  }
  unsigned *keys, *sorted;
  int *values, *sorted_values, *descents;
  require(cudaMalloc(&keys, n * sizeof(unsigned)));
  require(cudaMalloc(&sorted, n * sizeof(unsigned)));
  require(cudaMalloc(&values, n * sizeof(int)));
  require(cudaMalloc(&sorted_values, n * sizeof(int)));
  require(cudaMalloc(&descents, sizeof(int)));
  require(cudaMemset(descents, 0, sizeof(int)));
  require(cudaMemcpy(keys, in.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
  require(cudaMemcpy(values, places.data(), n * sizeof(int), cudaMemcpyHostToDevice));

  void* storage = nullptr;
  size_t bytes = 0;
  require(cub::DeviceRadixSort::SortPairs(storage, bytes, keys, sorted, values, sorted_values, n));
  require(cudaMalloc(&storage, bytes));
  require(cub::DeviceRadixSort::SortPairs(storage, bytes, keys, sorted, values, sorted_values, n));
  count_descents<<<(n + 127) / 128, 128>>>(sorted, n, descents);
  int found = 0;
  require(cudaMemcpy(&found, descents, sizeof found, cudaMemcpyDeviceToHost));
  require(cudaMemcpy(keys_out.data(), sorted, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
  require(cudaMemcpy(places_out.data(), sorted_values, n * sizeof(int), cudaMemcpyDeviceToHost));

  bool is_right = found == 0;
  for (int i = 0; i < n; ++i) {
    is_right &= keys_out[i] == in[places_out[i]];
    const bool same_key = i > 0 && keys_out[i] == keys_out[i - 1];
    is_right &= !same_key || places_out[i - 1] < places_out[i];  // the sort is stable
  }
  for (void* memory : {storage, (void*)keys, (void*)sorted, (void*)values, (void*)sorted_values,
                       (void*)descents}) {
    require(cudaFree(memory));
  }
  return verdict(is_right);
}
