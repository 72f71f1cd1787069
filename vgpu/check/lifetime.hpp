// The checker for lifetime errors: memory is used after it was freed, freed wrongly, or never
// freed.
//
// The device heap is memory like any other allocation, with two differences (CUDA Programming
// Guide, "Dynamic Global Memory Allocation and Operations").  Threads allocate and free it, so
// findings name the lines of those threads.  Neither the host nor the device may free what the
// other has allocated.  A heap allocation is a leak only when the trial ends without a free, since
// a later kernel may free it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "vgpu/check/checker.hpp"

namespace warpcheck::vgpu {

class LifetimeChecker final : public Checker {
 public:
  using Checker::Checker;
  [[nodiscard]] Watched watches() const override {
    Watched watched = Watched::rare();
    watched.trial_end = true;
    return watched;
  }
  void on_fault(const Fault& fault) override;
  void on_invalid_free(const InvalidFree& invalid) override;
  // Tensor memory that a block has not deallocated.
  void on_tensor_memory(const TensorMemoryEvent& event) override;
  void on_trial_end(std::span<const Allocation* const> left) override;

 private:
  // The calls of the host that allocated what was left, in the order of their findings.
  std::map<std::string, std::uint32_t> host_places_;
};

// Makes the finding for a host call that frees memory which it must not free.
//   call: the API function, e.g. "cudaFree".
//   nearest: the device memory that the pointer probably means, or null.
//   freed_at: the call of the host that freed that memory before, if any; here and below
Finding invalid_host_free(std::string_view call, std::uint64_t address, const Allocation* nearest,
                          const HostPlace& freed_at);

// Makes the finding for a host call that frees an allocation which an earlier call has already
// freed in stream order.
Finding freed_twice(std::string_view call, const Allocation& allocation, const HostPlace& freed_at);

// Makes the finding for a host copy or fill of freed memory. host_copy_of_heap() is for memory on
// the device heap, which no host call may access.
//   call, write: as in host_copy_out_of_bounds().
Finding host_copy_of_freed(std::string_view call, bool write, std::uint64_t address,
                           std::uint64_t bytes, const Allocation& freed, const HostPlace& freed_at);
// Makes the finding for a read or write of freed memory by host code itself, not by a call.
Finding host_use_of_freed(bool write, std::uint64_t address, std::uint64_t bytes,
                          const Allocation& freed, const HostPlace& place,
                          const HostPlace& freed_at);
Finding host_copy_of_heap(std::string_view call, bool write, std::uint64_t address,
                          std::uint64_t bytes, const Allocation& allocation);

}  // namespace warpcheck::vgpu
