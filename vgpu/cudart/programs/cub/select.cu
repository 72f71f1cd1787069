// CUB's device-wide selection (stream compaction) by a predicate on the device.
// MUTANT: the predicate looks the value up in a table that is one element too small for it.
// expect: out-of-bounds
#include <cub/device/device_select.cuh>
#include <vector>

#include "check.hpp"

constexpr int kValues = 10;

struct Wanted {
  const int* table;
  __device__ bool operator()(int value) const { return table[value] != 0; }  //~
};

int main() {
  const int n = 2000;
  std::vector<int> in(n), expected;
  for (int i = 0; i < n; ++i) in[i] = i * 7 % kValues;
  std::vector<int> table(kValues);
  for (int i = 0; i < kValues; ++i) table[i] = i % 3 == 0;
#ifdef MUTANT
  const int entries = kValues - 1;
#else
  const int entries = kValues;
#endif
  int *data, *selected, *count, *lookup;
  require(cudaMalloc(&data, n * sizeof(int)));
  require(cudaMalloc(&selected, n * sizeof(int)));
  require(cudaMalloc(&count, sizeof(int)));
  require(cudaMalloc(&lookup, entries * sizeof(int)));
  require(cudaMemcpy(data, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  require(cudaMemcpy(lookup, table.data(), entries * sizeof(int), cudaMemcpyHostToDevice));

  void* storage = nullptr;
  size_t bytes = 0;
  require(cub::DeviceSelect::If(storage, bytes, data, selected, count, n, Wanted{lookup}));
  require(cudaMalloc(&storage, bytes));
  require(cub::DeviceSelect::If(storage, bytes, data, selected, count, n, Wanted{lookup}));
  int found = 0;
  require(cudaMemcpy(&found, count, sizeof found, cudaMemcpyDeviceToHost));
  for (const int value : in) {
    if (table[value]) expected.push_back(value);
  }
  std::vector<int> out(found);
  require(cudaMemcpy(out.data(), selected, found * sizeof(int), cudaMemcpyDeviceToHost));
  for (void* memory : {storage, (void*)data, (void*)selected, (void*)count, (void*)lookup}) {
    require(cudaFree(memory));
  }
  return verdict(out == expected);
}
