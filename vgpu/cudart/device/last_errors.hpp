// cudaGetLastError: the last error of each host thread, of any device.
//
// A `<<<>>>` returns nothing, and programs leave results of other calls unread, so a thread learns
// that they have failed only if it asks for the last error.  Calls of which it never does are
// remembered.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>

namespace warpcheck::cudart {

class LastErrors {
 public:
  // get(), take(): the calling thread asks for its error.
  [[nodiscard]] cudaError_t get() {
    unasked_of_thread_.erase(this_thread());
    const auto own = of_thread_.find(this_thread());
    return own == of_thread_.end() || own->second == cudaSuccess ? of_nobody_ : own->second;
  }
  cudaError_t take() {
    unasked_of_thread_.erase(this_thread());
    const auto own = of_thread_.find(this_thread());
    cudaError_t& last =
        own == of_thread_.end() || own->second == cudaSuccess ? of_nobody_ : own->second;
    return std::exchange(last, cudaSuccess);
  }
  void set(cudaError_t error) { of_thread_[this_thread()] = error; }
  // Sets the error of work that no call has waited for: the first thread that asks receives it.
  void set_for_anybody(cudaError_t error) { of_nobody_ = error; }
  // The last error of the calling thread is that of a failed call, which this finding reports, and
  // nothing else tells the thread that it has failed.
  void set_unasked(std::size_t finding) { unasked_of_thread_[this_thread()].insert(finding); }
  // Returns the findings of the calls for whose error no thread has asked.
  [[nodiscard]] std::set<std::size_t> unasked() const {
    std::set<std::size_t> all;
    for (const auto& [thread, findings] : unasked_of_thread_) {
      all.insert(findings.begin(), findings.end());
    }
    return all;
  }
  void clear() {
    of_thread_.clear();
    unasked_of_thread_.clear();
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
  std::unordered_map<std::uint64_t, std::set<std::size_t>> unasked_of_thread_;
  cudaError_t of_nobody_ = cudaSuccess;
};

}  // namespace warpcheck::cudart
