// cudaGetLastError: the last error of each host thread, of any device.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <unordered_map>
#include <utility>

namespace warpcheck::cudart {

class LastErrors {
 public:
  [[nodiscard]] cudaError_t get() const {
    const auto own = of_thread_.find(this_thread());
    return own == of_thread_.end() || own->second == cudaSuccess ? of_nobody_ : own->second;
  }
  cudaError_t take() {
    const auto own = of_thread_.find(this_thread());
    cudaError_t& last =
        own == of_thread_.end() || own->second == cudaSuccess ? of_nobody_ : own->second;
    return std::exchange(last, cudaSuccess);
  }
  void set(cudaError_t error) { of_thread_[this_thread()] = error; }
  // Sets the error of work that no call has waited for: the first thread that asks receives it.
  void set_for_anybody(cudaError_t error) { of_nobody_ = error; }
  void clear() {
    of_thread_.clear();
    of_nobody_ = cudaSuccess;
  }

 private:
  // Thread numbers of the operating system are reused, so threads get their own numbers here.
  static std::uint64_t this_thread() {
    static std::atomic<std::uint64_t> threads{0};
    thread_local const std::uint64_t number = ++threads;
    return number;
  }

  std::unordered_map<std::uint64_t, cudaError_t> of_thread_;
  cudaError_t of_nobody_ = cudaSuccess;
};

}  // namespace warpcheck::cudart
