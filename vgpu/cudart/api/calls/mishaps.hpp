// Records failed calls as possible causes of later findings: a pointer that is invalid because its
// allocation failed, bytes that are unwritten because a copy or a launch did not happen, or because
// a copy ended before them.  It also
// knows the calls that findings name: the one that is running, and those that allocated and freed
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vgpu/check/reporter.hpp"
#include "vgpu/cudart/api/calls/memory_calls.hpp"
#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {

class Mishaps final : public vgpu::Causes {
 public:
  void clear();
  // Sets the text for a call with this key: "cudaMalloc(&pointer, 8589934592) failed before: ...".
  //   finding: the number of the finding that reports it
  void describe(const std::string& key, std::string text, std::size_t finding) {
    failures_[key] = {std::move(text), finding};
  }
  [[nodiscard]] std::size_t finding_of(const std::string& key) const {
    return failures_.at(key).finding;
  }
  // Records that it has failed; the same call can fail often.
  //   target: the memory that it should have written, or null
  void add(std::string_view call, const std::string& key, const vgpu::Allocation* target);
  // The running call has written these bytes of the memory, in one row.
  void wrote(const vgpu::Allocation& allocation, std::string_view call, std::uint64_t begin,
             std::uint64_t bytes);
  // The host now executes an operation requested by the call with this return address; null: not
  // known.
  void perform(const void* return_address) { performing_ = return_address; }
  [[nodiscard]] const void* performing() const { return performing_; }
  [[nodiscard]] vgpu::HostPlace place_of_call() const override {
    return place_of_call(performing_);
  }
  [[nodiscard]] std::uint32_t number_of_call() const override {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(performing_));
  }
  [[nodiscard]] static vgpu::HostPlace place_of_call(const void* return_address);
  // The running call has allocated the memory, or has asked for its end.
  void allocated(const vgpu::Allocation& allocation);
  void free_requested(const vgpu::Allocation& allocation);
  void freed(const vgpu::Allocation& allocation);
  [[nodiscard]] const MemoryCalls& memory_calls() const { return memory_calls_; }

  [[nodiscard]] std::string of_pointer_to_nothing() const override;
  // Returns the failed allocation that was to replace the freed memory.
  [[nodiscard]] std::string of_use_after_free(const vgpu::Allocation& allocation) const override;
  [[nodiscard]] std::string of_unwritten(const vgpu::Allocation& allocation,
                                         std::uint32_t offset) const override;
  [[nodiscard]] vgpu::HostPlace place_of_allocation(
      const vgpu::Allocation& allocation) const override {
    return memory_calls_.place_of_allocation(allocation);
  }
  [[nodiscard]] vgpu::HostPlace place_of_free(const vgpu::Allocation& allocation) const override {
    return memory_calls_.place_of_free(allocation);
  }

 private:
  struct Failure {
    std::string text;
    std::size_t finding = 0;
  };

  // A copy or fill that ends before the end of its memory.
  struct ShortWrite {
    const void* return_address = nullptr;
    std::string call;
    std::uint64_t begin = 0, end = 0;
  };

  static std::string text_of(const ShortWrite& write, std::uint64_t all);

  const void* performing_ = nullptr;
  std::map<std::string, Failure> failures_;  // by key
  std::uint64_t calls_ = 0;                  // number of failed calls
  std::string first_allocation_, last_allocation_, last_launch_;
  std::uint64_t last_allocation_at_ = 0;
  std::size_t allocations_ = 0;
  std::map<const vgpu::Allocation*, std::string> writes_;       // the latest failed write of each
  std::map<const vgpu::Allocation*, ShortWrite> short_writes_;  // that ends last
  // The number of failed calls at each free, oldest first.  Most frees are never looked up.
  std::vector<std::pair<const vgpu::Allocation*, std::uint64_t>> freed_at_;
  MemoryCalls memory_calls_;
};

}  // namespace warpcheck::cudart
