// Copies to and from arrays, row after row and box by box: the functions of old programs.
// expect: uninitialized-read
#include <cuda_runtime.h>

#include <numeric>
#include <vector>

#include "check.hpp"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

constexpr int kWidth = 20, kHeight = 6;
constexpr size_t kRow = kWidth * sizeof(int), kBytes = kRow * kHeight;

int main() {
  std::vector<int> in(kWidth * kHeight), out(kWidth * kHeight);
  std::iota(in.begin(), in.end(), 1);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t first, second;
  require(cudaMallocArray(&first, &format, kWidth, kHeight));
  require(cudaMallocArray(&second, &format, kWidth, kHeight));

  // Two and a half rows at once, the rest in a stream.
  const size_t half = 2 * kRow + kRow / 2;
  require(cudaMemcpyToArray(first, 0, 0, in.data(), half, cudaMemcpyHostToDevice));
  cudaStream_t stream;
  require(cudaStreamCreate(&stream));
#ifndef MUTANT
  require(cudaMemcpyToArrayAsync(first, kRow / 2, 2, in.data() + half / sizeof(int), kBytes - half,
                                 cudaMemcpyHostToDevice, stream));
#endif
  require(cudaStreamSynchronize(stream));

  // Device memory is a source as well.
  int* linear;
  require(cudaMalloc(&linear, kBytes));
  require(cudaMemcpyFromArray(linear, first, 0, 0, kBytes, cudaMemcpyDeviceToDevice));
  require(
      cudaMemcpyToArray(second, 0, 1, linear + kWidth, kBytes - kRow, cudaMemcpyDeviceToDevice));
  require(cudaMemcpyArrayToArray(second, 0, 0, first, 0, 0, kRow, cudaMemcpyDeviceToDevice));
  require(
      cudaMemcpyFromArrayAsync(out.data(), second, 0, 0, kBytes, cudaMemcpyDeviceToHost, stream));
  require(cudaStreamSynchronize(stream));
  const bool is_right = out == in;
  require(cudaFree(linear));
  require(cudaFreeArray(first));
  require(cudaFreeArray(second));
  require(cudaStreamDestroy(stream));
  return verdict(is_right);
}
