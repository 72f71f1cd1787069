// Waits without a call of the runtime: for a callback, by a condition variable, and for a kernel,
// in a loop that reads page-locked memory.
//
// The mutant's second kernel is in a stream of its own, unordered with the first.
// expect: data-race
#include <condition_variable>
#include <mutex>

#include "check.hpp"

__global__ void produce(int* data) {
  data[threadIdx.x] = static_cast<int>(threadIdx.x) + 1;  //~
}

__global__ void sum(const int* data, int* result, volatile int* is_ready) {
  int total = 0;
  for (int i = 0; i < 32; ++i) total += data[i];  //~
  *result = total;
  __threadfence_system();
  *is_ready = 1;
}

std::mutex mutex;
std::condition_variable changed;
bool is_told = false;

void CUDART_CB tell(void*) {
  const std::lock_guard<std::mutex> lock(mutex);
  is_told = true;
  changed.notify_one();
}

int main() {
  int *data, *result;
  volatile int* is_ready;
  require(cudaMalloc(&data, 32 * sizeof(int)));
  require(cudaMallocHost(&result, sizeof(int)));
  require(cudaMallocHost(const_cast<int**>(&is_ready), sizeof(int)));
  *is_ready = 0;
  cudaStream_t stream, other;
  require(cudaStreamCreate(&stream));
  require(cudaStreamCreate(&other));

  produce<<<1, 32, 0, stream>>>(data);
#ifdef MUTANT
  sum<<<1, 1, 0, other>>>(data, result, is_ready);
#else
  sum<<<1, 1, 0, stream>>>(data, result, is_ready);
#endif
  require(cudaLaunchHostFunc(stream, tell, nullptr));
  {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [] { return is_told; });
  }
  while (*is_ready == 0) {
  }
  const bool is_right = *result == 32 * 33 / 2;

  require(cudaStreamDestroy(stream));
  require(cudaStreamDestroy(other));
  require(cudaFree(data));
  require(cudaFreeHost(result));
  require(cudaFreeHost(const_cast<int*>(is_ready)));
  return verdict(is_right);
}
