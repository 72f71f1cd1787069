// Callbacks of streams start threads of the host, which look at the results and free all that the
// stream had, while other streams still work.
//
// The mutant's kernel is in a stream of its own, unordered with the copies.
// expect: data-race
#include <condition_variable>
#include <mutex>
#include <thread>

#include "check.hpp"

constexpr int kCount = 256, kWorkloads = 8;

struct Workload {
  int number;
  int *host, *device;
  cudaStream_t stream;
};

std::mutex mutex;
std::condition_variable changed;
int finished = 0;
bool is_right = true;

__global__ void increment(int* data) {
  ++data[threadIdx.x];  //~
}

void take_results(Workload* work) {
  bool is_mine_right = true;
  for (int i = 0; i < kCount; ++i) is_mine_right &= work->host[i] == i + work->number + 1;
  require(cudaFree(work->device));
  require(cudaFreeHost(work->host));
  require(cudaStreamDestroy(work->stream));
  const std::lock_guard<std::mutex> lock(mutex);
  is_right &= is_mine_right;
  ++finished;
  changed.notify_one();
}

void CUDART_CB go_on(cudaStream_t, cudaError_t, void* work) {
  std::thread(take_results, static_cast<Workload*>(work)).detach();
}

void queue_work(Workload* work) {
  constexpr std::size_t kBytes = kCount * sizeof(int);
  require(cudaStreamCreate(&work->stream));
  require(cudaMalloc(&work->device, kBytes));
  require(cudaMallocHost(&work->host, kBytes));
  for (int i = 0; i < kCount; ++i) work->host[i] = i + work->number;
  require(cudaMemcpyAsync(work->device, work->host, kBytes, cudaMemcpyHostToDevice, work->stream));
  cudaStream_t of_kernel = work->stream;
#ifdef MUTANT
  require(cudaStreamCreateWithFlags(&of_kernel, cudaStreamNonBlocking));
#endif
  increment<<<1, kCount, 0, of_kernel>>>(work->device);
  require(cudaMemcpyAsync(work->host, work->device, kBytes, cudaMemcpyDeviceToHost, work->stream));
  require(cudaStreamAddCallback(work->stream, go_on, work, 0));
}

int main() {
  Workload all[kWorkloads];
  for (int i = 0; i < kWorkloads; ++i) {
    all[i].number = i;
    std::thread(queue_work, &all[i]).join();
  }
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [] { return finished == kWorkloads; });
  return verdict(is_right);
}
