// What every program here ends with, its own verdict, printed; and what most begin with.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

// Ends the program where a call of the runtime fails.
inline void require(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorString(error));
  std::exit(1);
}

// Waits for the previous launch, and checks it.
inline void finish() {
  require(cudaGetLastError());
  require(cudaDeviceSynchronize());
}

// For who compares runs to the bit (ci/compare_with_gpu.py): prints a digest of the bytes (FNV-1a).
inline void print_digest(const void* data, std::size_t bytes) {
  static const bool is_wanted = std::getenv("PROGRAM_DIGESTS") != nullptr;
  if (!is_wanted) return;
  require(cudaDeviceSynchronize());
  unsigned long long hash = 14695981039346656037u;
  for (std::size_t i = 0; i < bytes; ++i) {
    hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211u;
  }
  std::printf("buffer of %zu bytes: %016llx\n", bytes, hash);
}

// Managed memory for `size` elements, each of `value`.
template <typename T>
class Buffer {
 public:
  explicit Buffer(std::size_t size, const T& value = T()) : size_(size) {
    require(cudaMallocManaged(&data_, size * sizeof(T)));
    for (T& each : *this) each = value;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    print_digest(data_, size_ * sizeof(T));
    require(cudaFree(data_));
  }

  operator T*() { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  std::size_t size() const { return size_; }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

// What threads that each sum one place of all tiles, counted from the end, should have found.
inline bool are_sums_of_tiles(Buffer<int>& sums, Buffer<int>& data) {
  const std::size_t tile = sums.size();
  bool is_right = true;
  for (std::size_t i = 0; i < tile; ++i) {
    int sum = 0;
    for (std::size_t at = tile - 1 - i; at < data.size(); at += tile) sum += data[at];
    is_right &= sums[i] == sum;
  }
  return is_right;
}

// Prints "right" or "wrong"; the program's exit status.
inline int verdict(bool is_right) {
  std::puts(is_right ? "right" : "wrong");
  return is_right ? 0 : 1;
}
