// The sum of each warp by shuffles, and how many lanes are positive by a vote.
// MUTANT: only half of the lanes are named in the mask, but all of them take part.
// expect: barrier-divergence, uninitialized-read
#include "check.hpp"

__global__ void sums(const int* data, int* sum, int* positive) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int value = data[i];
#ifdef MUTANT
  const unsigned mask = 0x0000ffff;
#else
  const unsigned mask = 0xffffffff;
#endif
  int total = value;
  for (int distance = 16; distance > 0; distance /= 2) {
    total += __shfl_down_sync(mask, total, distance);  //~
  }
  const unsigned votes = __ballot_sync(0xffffffff, value > 0);
  if (threadIdx.x % 32 == 0) {
    sum[i / 32] = total;
    positive[i / 32] = __popc(votes);
  }
}

int main() {
  constexpr int kWarps = 8, kThreads = kWarps * 32;
  int in[kThreads], sum[kWarps], positive[kWarps];
  for (int i = 0; i < kThreads; ++i) in[i] = i * 37 % 101 - 50;
  int *data, *sum_out, *positive_out;
  require(cudaMalloc(&data, sizeof in));
  require(cudaMalloc(&sum_out, sizeof sum));
  require(cudaMalloc(&positive_out, sizeof positive));
  require(cudaMemcpy(data, in, sizeof in, cudaMemcpyHostToDevice));
  sums<<<2, kThreads / 2>>>(data, sum_out, positive_out);
  require(cudaGetLastError());
  require(cudaMemcpy(sum, sum_out, sizeof sum, cudaMemcpyDeviceToHost));
  require(cudaMemcpy(positive, positive_out, sizeof positive, cudaMemcpyDeviceToHost));

  bool is_right = true;
  for (int warp = 0; warp < kWarps; ++warp) {
    int expected_sum = 0, expected_positive = 0;
    for (int i = 32 * warp; i < 32 * warp + 32; ++i) {
      expected_sum += in[i];
      expected_positive += in[i] > 0;
    }
    is_right &= sum[warp] == expected_sum && positive[warp] == expected_positive;
  }
  require(cudaFree(positive_out));
  require(cudaFree(sum_out));
  require(cudaFree(data));
  return verdict(is_right);
}
