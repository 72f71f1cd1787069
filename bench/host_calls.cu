// The time that calls of a program take, for docs/develop/measurements.md: host_calls ROUND prints
// the CPU time of one round of calls, in microseconds.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>

namespace {

void require(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorName(error));
  std::exit(1);
}
double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}
__global__ void add_one(float* values) { values[threadIdx.x] += 1; }

constexpr size_t kBytes = 16 << 20;
constexpr int kStreams = 4;

struct Program {
  Program() {
    require(cudaMalloc(&device, kBytes));
    require(cudaMemset(device, 0, kBytes));
    require(cudaMallocHost(&host, kBytes));
    for (cudaStream_t& stream : streams) require(cudaStreamCreate(&stream));
    for (cudaEvent_t& event : events) require(cudaEventCreate(&event));
  }
  void launch(cudaStream_t stream, float* values) { add_one<<<1, 32, 0, stream>>>(values); }
  void wait() { require(cudaDeviceSynchronize()); }
  // A copy in, a kernel and a copy out.
  void pipe(cudaStream_t stream, size_t at) {
    require(cudaMemcpyAsync(device + at, host + at, 4096, cudaMemcpyHostToDevice, stream));
    launch(stream, device + at);
    require(cudaMemcpyAsync(host + at, device + at, 4096, cudaMemcpyDeviceToHost, stream));
  }
  void pass_to_and_fro() {
    for (int i = 0; i < 2; ++i) {
      launch(streams[i], device);
      require(cudaEventRecord(events[i], streams[i]));
      require(cudaStreamWaitEvent(streams[1 - i], events[i], 0));
    }
  }
  void use_stream() {
    cudaStream_t stream{};
    require(cudaStreamCreate(&stream));
    launch(stream, device);
    require(cudaStreamSynchronize(stream));
    require(cudaStreamDestroy(stream));
  }
  void allocate(bool of_host) {
    void* bytes = nullptr;
    if (of_host) {
      require(cudaMallocHost(&bytes, 4096));
      require(cudaFreeHost(bytes));
    } else {
      require(cudaMallocAsync(&bytes, 4096, nullptr));
      require(cudaFreeAsync(bytes, nullptr));
    }
  }

  float *device = nullptr, *host = nullptr;
  cudaStream_t streams[kStreams]{};
  cudaEvent_t events[2]{};
};

void measure(Program& program, int rounds, const std::function<void(int)>& round) {
  for (int i = 0; i < rounds / 10; ++i) round(i);
  program.wait();
  const double begin = cpu_seconds();
  for (int i = 0; i < rounds; ++i) round(i);
  program.wait();
  std::printf("%.3f us\n", (cpu_seconds() - begin) / rounds * 1e6);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string name = count > 1 ? arguments[1] : "";
  Program program;
  const auto launch_and_wait = [&](int) {
    program.launch(nullptr, program.device);
    program.wait();
  };
  const auto stream_of = [&](int i) { return program.streams[i % kStreams]; };
  if (name == "launch_and_wait" || name == "launch_after_host_memory") {
    require(cudaFreeHost(program.host));
    if (name != "launch_and_wait") {
      for (int i = 0; i < 11'000; ++i) program.allocate(true);
    }
    measure(program, 20'000, launch_and_wait);
  } else if (name == "launch_beside_host_memory") {
    measure(program, 20'000, launch_and_wait);
  } else if (name == "launch") {
    measure(program, 20'000, [&](int) { program.launch(nullptr, program.device); });
  } else if (name == "launch_in_streams") {
    measure(program, 20'000,
            [&](int i) { program.launch(stream_of(i), program.device + 1024 * (i % kStreams)); });
  } else if (name == "events") {
    measure(program, 10'000, [&](int) { program.pass_to_and_fro(); });
  } else if (name == "copy_after_streams") {
    for (int i = 0; i < 5'500; ++i) program.use_stream();
    measure(program, 20'000, [&](int) {
      require(cudaMemcpy(program.host, program.device, 4, cudaMemcpyDeviceToHost));
    });
  } else if (name == "pool") {
    measure(program, 20'000, [&](int) { program.allocate(false); });
  } else if (name == "pipe") {
    measure(program, 2'000, [&](int i) { program.pipe(stream_of(i), 65'536 * (i % kStreams)); });
  } else if (name == "pipe_apart") {
    measure(program, 1'000, [&](int i) { program.pipe(stream_of(i), 1024 * i); });
  } else {
    std::printf("unknown round\n");
    return 1;
  }
  return 0;
}
