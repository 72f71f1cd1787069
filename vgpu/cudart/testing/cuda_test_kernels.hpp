// Ordinary CUDA host code, compiled by nvcc, for the test of the whole path.
#pragma once

#include <vector>

namespace warpcheck::cudart::cuda_test {

// Returns values[i] * weights[i % 4] + i, using __constant__ weights {2, 3, 5, 7} that the host
// sets, in a two-dimensional grid.
std::vector<int> weigh(const std::vector<int>& values);

// Returns the reversed array, by a template kernel with dynamic shared memory; one block.
std::vector<double> reverse(const std::vector<double>& values);

// Returns how many threads of three launches incremented the __device__ counter.
int count_threads(int threads);

// The published single-buffer scan, without a barrier between read and write; one block.
std::vector<int> racy_scan(const std::vector<int>& values);

}  // namespace warpcheck::cudart::cuda_test
