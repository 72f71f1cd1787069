// What a pair's kernel function uses: device memory with an owner, and error checks.
//
// Everything here is plain CUDA runtime API, so the same pair runs on the virtual GPU and on a
// real one.  Launches are not wrapped: a kernel's launcher takes pointers, counts and a launch
// shape, and uses <<<>>>.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace warpcheck {

// A CUDA call failed.  what() names the error, its text and the calling line.
class CudaError : public std::runtime_error {
 public:
  CudaError(cudaError_t code, const char* file, unsigned line);
  [[nodiscard]] cudaError_t code() const { return code_; }

 private:
  cudaError_t code_;
};

// Throws CudaError unless `code` is cudaSuccess. Built-ins give the place of the call, because
// Clang 14 has no std::source_location.
void check(cudaError_t code, const char* file = __builtin_FILE(), unsigned line = __builtin_LINE());

// `size` elements of device memory, freed with the object.
template <class T>
class DeviceArray {
  static_assert(std::is_trivially_copyable_v<T>, "device memory holds plain bytes");

 public:
  // Not initialised: reading an element before writing it is a finding.
  explicit DeviceArray(std::size_t size) : size_(size) {
    check(cudaMalloc(reinterpret_cast<void**>(&data_), size * sizeof(T)));
  }
  explicit DeviceArray(std::span<const T> values) : DeviceArray(values.size()) {
    if (size_ != 0) {
      check(cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
    }
  }
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~DeviceArray() { static_cast<void>(cudaFree(data_)); }

  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] const T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

  // Waits for earlier kernels (cudaMemcpy on the default stream) and copies all elements.
  [[nodiscard]] std::vector<T> download() const {
    std::vector<T> values(size_);
    if (size_ != 0) {
      check(cudaMemcpy(values.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    }
    return values;
  }

  // Sets every byte to `byte`.
  void fill_bytes(int byte) {
    if (size_ != 0) check(cudaMemset(data_, byte, size_ * sizeof(T)));
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// The device of one trial.
class Device {
 public:
  template <class T>
  [[nodiscard]] DeviceArray<T> upload(const std::vector<T>& values) {
    return DeviceArray<T>(std::span<const T>(values));
  }
  template <class T>
  [[nodiscard]] DeviceArray<T> array(std::size_t size) {
    return DeviceArray<T>(size);
  }
  // For the result of a call, or after a launch: device.check(cudaGetLastError()).
  void check(cudaError_t code, const char* file = __builtin_FILE(),
             unsigned line = __builtin_LINE()) {
    warpcheck::check(code, file, line);
  }
};

}  // namespace warpcheck
