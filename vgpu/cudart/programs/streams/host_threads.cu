// Host threads, by std::thread and OpenMP, each with a stream of its own and one per thread.
// options: -Xcompiler -fopenmp
#include <atomic>
#include <thread>
#include <vector>

#include "check.hpp"

__global__ void fill(int* data, int value) { data[threadIdx.x] = value; }

int main() {
  constexpr int kThreads = 4, kRounds = 5;
  std::atomic<int> wrong = 0;
  const auto work = [&](int number) {
    require(cudaSetDevice(0));
    cudaStream_t stream;
    require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    int* data;
    require(cudaMallocAsync(&data, 64 * sizeof(int), stream));
    for (int round = 0; round < kRounds; ++round) {
      int result[64];
      fill<<<1, 64, 0, stream>>>(data, 100 * number + round);
      require(cudaMemcpyAsync(result, data, sizeof result, cudaMemcpyDeviceToHost, stream));
      require(cudaStreamSynchronize(stream));
      for (const int each : result) wrong += each != 100 * number + round;
    }
    require(cudaFreeAsync(data, stream));
    require(cudaStreamSynchronize(stream));
    require(cudaStreamDestroy(stream));
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (std::thread& each : threads) each.join();
#pragma omp parallel for num_threads(3)
  for (int i = 0; i < 6; ++i) {
    int* data;
    int result[32];
    require(cudaMalloc(&data, sizeof result));
    fill<<<1, 32, 0, cudaStreamPerThread>>>(data, i);
    require(
        cudaMemcpyAsync(result, data, sizeof result, cudaMemcpyDeviceToHost, cudaStreamPerThread));
    require(cudaStreamSynchronize(cudaStreamPerThread));
    wrong += result[31] != i;
    require(cudaFree(data));
  }
  return verdict(wrong == 0);
}
