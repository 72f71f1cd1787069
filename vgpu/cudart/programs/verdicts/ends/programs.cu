// A program whose first argument selects the behaviour: how it ends, and what is told of it in reports.
// Tests of the command line (ci/exec) run it as well; modes without a case wait, or vary, or need input.
// also unoptimized: -G
// case race: | | race
// expect race: error data-race race_written race_read
// says race: data-race on shared memory copy[32], 4 bytes, in kernel shift
// case race_abort: | | race-abort
// expect race_abort: error data-race race_written race_read
// case race__exit: | | race-_exit
// expect race__exit: error data-race race_written race_read
// case race_exit: | | race-exit
// expect race_exit: error data-race race_written race_read
// case clean: | | clean 3
// expect clean: clean
// status clean: 3
// case threads: | | threads
// expect threads: clean
// says threads: no findings; 4 launches of 1 kernel
// case main_thread_ends: | | main-thread-ends
// expect main_thread_ends: clean
// says main_thread_ends: no findings; 2 launches of 1 kernel
// prints main_thread_ends: the last thread
// case crash: | | crash
// expect crash: clean
// says crash: was killed by signal 11
// status crash: 139
// case leak: | --leaks | leak
// expect leak: error leak
// case leak_unasked: | | leak
// expect leak_unasked: clean
// case refused_call: | | refused-call
// expect refused_call: clean
// says refused_call: refused: cudaDestroyExternalMemory
// prints refused_call: cudaErrorNotSupported
// status refused_call: 2
// case refused_kernel: | | refused-kernel
// expect refused_kernel: clean
// says refused_kernel: special register '%pm0'
// prints refused_kernel: error: cudaErrorNotSupported
// status refused_kernel: 2
// case overtake: | | overtake
// expect overtake: clean
// case overtake_later: | --runs 10 | overtake
// expect overtake_later: error out-of-bounds only_then
// case many_killed: | | many-killed
// expect many_killed: clean
// says many_killed: no findings; 300 launches of 1 kernel
// status many_killed: 137
// case update: | | update
// expect update: error data-race update
// expect update: note data-race update
// case scratch: | | scratch
// expect scratch: error data-race scratch
// case poll: | | poll
// expect poll: error data-race exchange poll
// case copies_of_the_same: | | copies 500 same
// expect copies_of_the_same: note data-race
#include <cuda_runtime.h>
#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

__global__ void shift(int* data, int n) {
  __shared__ int copy[64];
  const int i = threadIdx.x;
  copy[i] = data[i];  //~ race_written
  if (i + 1 < n) data[i] = copy[i + 1];  //~ race_read
}

__global__ void twice(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= 2;
}

// Reads out of bounds if block 1 reaches the counter first.
__global__ void overtake(int* counter, const int* data, int* sum) {
  for (int i = 0; i < 64; ++i) atomicAdd(sum, 1);
  if (atomicAdd(counter, 1) == 0 && blockIdx.x == 1) {
    atomicAdd(sum, data[4]);  //~ only_then
  }
}

// Each block takes two of four locks, in a circle: no one can go on if each has taken its first.
__device__ int forks[4];
__global__ void dine() {
  const unsigned left = blockIdx.x, right = (left + 1) % gridDim.x;
  for (int round = 0; round < 3; ++round) {
    while (atomicCAS(&forks[left], 0, 1) != 0) __nanosleep(20);
    while (atomicCAS(&forks[right], 0, 1) != 0) __nanosleep(20);
    atomicExch(&forks[right], 0);
    atomicExch(&forks[left], 0);
  }
}

// Strong accesses do not race, but the last one decides.
__global__ void last_writer(volatile int* last) {
  for (int i = 0; i < 64; ++i) *last = 1000 + blockIdx.x;
}

__global__ void count_up(int* count) {
  *count += threadIdx.x;  //~ update
}

// Each block would need its own scratch memory.
__global__ void share_scratch(int* scratch, int* data) {
  const int i = threadIdx.x;
  scratch[i] = blockIdx.x;  //~ scratch
  scratch[i] += data[i];  //~ scratch
  data[i] = scratch[i] + 1;  //~ scratch
  scratch[i] = scratch[i] * 2;  //~ scratch
  data[i + 64] = scratch[i];  //~ scratch
}

__global__ void poll(int* flag, int* data) {
  if (blockIdx.x == 0) atomicExch(flag, 2);  //~ exchange
  if (blockIdx.x == 1 && *flag == 2) data[threadIdx.x] = 1;  //~ poll
}

// Two blocks end at once, the others take very long.
__global__ void compute(int* values) {
  int value = values[threadIdx.x];
  for (long long i = 0; blockIdx.x >= 2 && i < 1LL << 60; ++i) value = value * 1664525 + 1013904223;
  if (value == 0) values[threadIdx.x] = 1;
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

// Another stream's copy overlaps each copy by one byte.
void race_of_copies(int times, bool same_bytes) {
  char* const data = reinterpret_cast<char*>(device_array(64));
  static char host[256];
  cudaStream_t streams[2];
  for (cudaStream_t& stream : streams) cudaStreamCreate(&stream);
  for (int i = 0; i < times; ++i) {
    if (!same_bytes) std::memset(host, i, sizeof host);
    cudaMemcpyAsync(data, host, 64, cudaMemcpyHostToDevice, streams[i % 2]);
    if (i % 50 == 49) cudaDeviceSynchronize();
  }
  cudaDeviceSynchronize();
  cudaFree(data);
}

bool doubled_by_threads() {
  std::vector<std::thread> threads;
  bool right[4] = {};
  for (bool& each : right) threads.emplace_back([&each] { each = doubled(); });
  for (std::thread& thread : threads) thread.join();
  return right[0] && right[1] && right[2] && right[3];
}

// Passes a device array of n elements to `show`.
template <typename Show>
void with_array(int n, Show show) {
  int* const data = device_array(n);
  show(data);
  cudaFree(data);
}

void print_copy(const int* data, int n) {
  std::vector<int> host(n);
  cudaMemcpy(host.data(), data, n * sizeof(int), cudaMemcpyDeviceToHost);
  for (const int each : host) std::printf("%d\n", each);
}

// Programs whose output may depend on the schedule, for different reasons, or on the host alone.
void outputs(const std::string& mode) {
  if (mode == "file") {
    with_array(1, [](int* last) {
      run(last_writer, 2, 1, static_cast<volatile int*>(last));
      int result = 0;
      cudaMemcpy(&result, last, sizeof result, cudaMemcpyDeviceToHost);
      std::ofstream("result.txt") << "the last is " << result << "\n";
    });
  }
  if (mode == "noise" || mode == "stopwatch") {
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    const int n = mode == "noise" ? static_cast<int>(now) : 1;
    with_array(1, [&](int* data) {
      cudaMemcpy(data, &n, sizeof n, cudaMemcpyHostToDevice);
      run(twice, 1, 1, data, 1);
      print_copy(data, 1);
    });
    std::printf("%lld ns, stack at %p\n", static_cast<long long>(now),
                static_cast<const void*>(&n));
  }
}

void wait_for_signal() {
  std::signal(SIGTERM, [](int) {
    constexpr char kText[] = "terminated\n";
    _exit(write(STDOUT_FILENO, kText, sizeof kText - 1) > 0 ? 9 : 8);
  });
  std::puts("waiting");
  std::fflush(stdout);
  while (true) pause();
}

void wait_as_a_job() {
  std::signal(SIGTSTP, [](int) { static_cast<void>(!write(STDOUT_FILENO, "stop\n", 5)); });
  std::signal(SIGCONT, [](int) { static_cast<void>(!write(STDOUT_FILENO, "continue\n", 9)); });
  std::puts("ready");
  std::fflush(stdout);
  while (true) pause();
}

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "race") race();
  if (mode == "race-abort") race(), std::abort();
  if (mode == "race-_exit") race(), _exit(3);
  if (mode == "race-exit") race(), std::exit(3);
  if (mode == "clean") return doubled() ? std::atoi(argv[2]) : 1;
  if (mode == "threads") return doubled_by_threads() ? 0 : 1;
  if (mode == "main-thread-ends") {
    std::thread([] { std::puts(doubled() ? "the last thread" : "wrong"); }).detach();
    doubled();
    ::pthread_exit(nullptr);
  }
  if (mode == "crash") doubled(), std::raise(SIGSEGV);
  if (mode == "leak") device_array(16);
  if (mode == "refused-call") {
    int* const data = device_array(1);
    std::printf("%s\n", cudaGetErrorName(cudaDestroyExternalMemory(nullptr)));
    cudaFree(data);
  }
  if (mode == "refused-kernel") run(read_monitor, 1, 1, static_cast<unsigned*>(nullptr));
  if (mode == "dine") run(dine, 4, 1);
  if (mode == "overtake") {
    int* const counter = device_array(1);
    int* const sum = device_array(1);
    int* const data = device_array(4);
    cudaMemset(counter, 0, sizeof(int));
    run(overtake, 2, 1, counter, static_cast<const int*>(data), sum);
    for (int* memory : {counter, sum, data}) cudaFree(memory);
  }
  outputs(mode);
  if (mode == "many-killed") {
    with_array(1, [](int* data) {
      for (int i = 0; i < 300; ++i) run(twice, 1, 1, data, 1);
      std::raise(SIGKILL);
    });
  }
  if (mode == "race-begun") {
    doubled();
    std::ofstream("begun") << "\n";
    race();
  }
  if (mode == "race-wait") {
    race();
    std::printf("%d\n", getpid());
    std::fflush(stdout);
    while (true) pause();
  }
  if (mode == "length") {
    doubled();
    std::ostringstream all;
    all << std::cin.rdbuf();
    std::cout << all.str().size() << "\n";
  }
  if (mode == "update" || mode == "scratch" || mode == "poll") {
    int* const one = device_array(128);
    int* const other = device_array(128);
    if (mode == "update") run(count_up, 4, 64, one);
    if (mode == "scratch") run(share_scratch, 2, 64, one, other);
    if (mode == "poll") run(poll, 2, 64, one, other);
    cudaFree(one), cudaFree(other);
  }
  if (mode == "copies") race_of_copies(std::atoi(argv[2]), argc > 3);
  if (mode == "echo") {
    for (std::string line; std::getline(std::cin, line);) std::cout << "<" << line << ">\n";
    for (int i = 2; i < argc; ++i) std::cerr << "[" << argv[i] << "]\n";
  }
  if (mode == "wait") {
    doubled();
    wait_for_signal();
  }
  if (mode == "job") wait_as_a_job();
  if (mode == "long") run(compute, 64, 1, device_array(1));
  if (mode == "long-of-many") run(compute, 1200, 128, device_array(128));
  return 0;
}
