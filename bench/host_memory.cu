// The cost of observing the host's accesses to memory of kernels, for docs/develop/measurements.md.
#include <cuda_runtime.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

double seconds_of(auto&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}
void require(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorName(error));
  std::exit(1);
}
__global__ void touch(int* values, size_t at) { values[at] += 1; }
__global__ void signal(volatile int* flag) { *flag = 1; }
__global__ void sum(int* const* parts, int count, int* total) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) atomicAdd(total, *parts[i]);
}
constexpr size_t kBytes = 100 << 20, kCount = kBytes / sizeof(int);
void fill(int* values, size_t count) {
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<int>(i);
}
}  // namespace

int main(int, char** argv) {
  int *values, *flag, *total;
  require(cudaMallocManaged(&values, kBytes));
  require(cudaHostAlloc(&flag, sizeof *flag, cudaHostAllocMapped));
  int* const plain = static_cast<int*>(std::malloc(kBytes));
  const double own = seconds_of([&] { fill(plain, kCount); });
  const double again = seconds_of([&] { fill(plain, kCount); });
  std::printf("fill 100 MiB of the host's own: %.3f s, again %.3f s\n", own, again);
  const auto tell = [&](const char* what, double took, double than) {
    std::printf("%s: %.3f s, %.1f times\n", what, took, took / than);
  };
  tell("managed, before any kernel", seconds_of([&] { fill(values, kCount); }), own);
  touch<<<1, 1>>>(values, 0);
  require(cudaDeviceSynchronize());
  tell("managed, between kernels", seconds_of([&] { fill(values, kCount); }), again);
  touch<<<1, 1>>>(values, kCount - 1);
  tell("managed, beside a kernel that may use it", seconds_of([&] { fill(values, kCount - 1024); }),
       again);
  require(cudaDeviceSynchronize());
  *flag = 0;
  signal<<<1, 1>>>(flag);
  std::printf("poll a mapped flag: %.3f s\n", seconds_of([&] {
                while (*static_cast<volatile int*>(flag) == 0) {
                }
              }));
  require(cudaDeviceSynchronize());
  const int parts = std::atoi(argv[1]);
  int** list;
  require(cudaMallocManaged(&list, parts * sizeof(int*)));
  require(cudaMallocManaged(&total, sizeof(int)));
  *total = 0;
  std::vector<int*> of_host(parts);
  const double small = seconds_of([&] {
    for (int*& one : of_host) *(one = static_cast<int*>(std::malloc(64))) = 1;
  });
  std::printf("%d allocations of the host: %.4f s\n", parts, small);
  std::printf("managed: %.3f s\n", seconds_of([&] {
                for (int i = 0; i < parts; ++i) {
                  require(cudaMallocManaged(list + i, 64));
                  *list[i] = 1;
                }
              }));
  std::printf("a kernel over them: %.3f s\n", seconds_of([&] {
                sum<<<1, 128>>>(list, parts, total);
                require(cudaDeviceSynchronize());
              }));
  std::printf("free: %.3f s, sum %d\n", seconds_of([&] {
                for (int i = 0; i < parts; ++i) require(cudaFree(list[i]));
              }),
              *total);
}
