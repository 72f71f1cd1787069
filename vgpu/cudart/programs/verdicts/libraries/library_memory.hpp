// What programs with libraries have in common: calls that must succeed, and memory of the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                \
  if (const int status = static_cast<int>(call)) { \
    std::printf("%s answers %d\n", #call, status); \
    std::exit(1);                                  \
  }

template <class T>
T* allocate(std::size_t count) {
  T* pointer = nullptr;
  CHECK(cudaMalloc(&pointer, count * sizeof(T)));
  return pointer;
}

template <class T>
std::vector<T> to_host(const T* pointer, std::size_t count) {
  std::vector<T> values(count);
  CHECK(cudaMemcpy(values.data(), pointer, count * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}
