// What exec_test.py runs: one program with many ways to behave, chosen by its first argument.
#include <cuda_runtime.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

__global__ void shift(int* data, int n) {
  __shared__ int copy[64];
  const int i = threadIdx.x;
  copy[i] = data[i];                     // race: one side
  if (i + 1 < n) data[i] = copy[i + 1];  // race: the other side
}

__global__ void twice(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= 2;
}

// Reads out of bounds where block 1 comes to the counter first.
__global__ void overtake(int* counter, const int* data, int* sum) {
  for (int i = 0; i < 64; ++i) atomicAdd(sum, 1);
  if (atomicAdd(counter, 1) == 0 && blockIdx.x == 1) {
    atomicAdd(sum, data[4]);  // only then
  }
}

// The virtual GPU has no performance monitors.
__global__ void read_monitor(unsigned* value) {
  asm volatile("mov.u32 %0, %%pm0;" : "=r"(*value));  // refused
}

template <typename... Arguments>
void run(void (*kernel)(Arguments...), int blocks, int threads, Arguments... arguments) {
  kernel<<<blocks, threads>>>(arguments...);
  cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  if (error != cudaSuccess) std::printf("error: %s\n", cudaGetErrorName(error));
}

int* device_array(int n) {
  int* data = nullptr;
  cudaMalloc(&data, n * sizeof(int));
  const std::vector<int> host(n, 1);
  cudaMemcpy(data, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  return data;
}

void race() {
  int* const data = device_array(64);
  run(shift, 1, 64, data, 64);
  cudaFree(data);
}

bool doubled() {
  const int n = 1000;
  int* const data = device_array(n);
  run(twice, (n + 127) / 128, 128, data, n);
  std::vector<int> host(n);
  cudaMemcpy(host.data(), data, n * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(data);
  return host == std::vector<int>(n, 2);
}

bool doubled_by_threads() {
  std::vector<std::thread> threads;
  bool right[4] = {};
  for (bool& each : right) threads.emplace_back([&each] { each = doubled(); });
  for (std::thread& thread : threads) thread.join();
  return right[0] && right[1] && right[2] && right[3];
}

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "race") race();
  if (mode == "race-abort") race(), std::abort();
  if (mode == "race-_exit") race(), _exit(3);
  if (mode == "race-exit") race(), std::exit(3);
  if (mode == "clean") return doubled() ? std::atoi(argv[2]) : 1;
  if (mode == "threads") return doubled_by_threads() ? 0 : 1;
  if (mode == "crash") doubled(), std::raise(SIGSEGV);
  if (mode == "leak") device_array(16);
  if (mode == "refused-call") {
    int* const data = device_array(1);
    cudaIpcMemHandle_t handle;
    std::printf("%s\n", cudaGetErrorName(cudaIpcGetMemHandle(&handle, data)));
    cudaFree(data);
  }
  if (mode == "refused-kernel") run(read_monitor, 1, 1, static_cast<unsigned*>(nullptr));
  if (mode == "overtake") {
    int* const counter = device_array(1);
    int* const sum = device_array(1);
    int* const data = device_array(4);
    cudaMemset(counter, 0, sizeof(int));
    run(overtake, 2, 1, counter, static_cast<const int*>(data), sum);
    for (int* memory : {counter, sum, data}) cudaFree(memory);
  }
  if (mode == "echo") {
    for (std::string line; std::getline(std::cin, line);) std::cout << "<" << line << ">\n";
    for (int i = 2; i < argc; ++i) std::cerr << "[" << argv[i] << "]\n";
  }
  if (mode == "wait") {
    doubled();
    std::signal(SIGTERM, [](int) {
      constexpr char kText[] = "terminated\n";
      _exit(write(STDOUT_FILENO, kText, sizeof kText - 1) > 0 ? 9 : 8);
    });
    std::puts("waiting");
    std::fflush(stdout);
    while (true) pause();
  }
  return 0;
}
