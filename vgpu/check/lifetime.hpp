// Memory that is used after it was freed, freed wrongly, or never freed.
//
// The device heap is memory like any other that the host allocates, with two differences (CUDA
// Programming Guide, "Dynamic Global Memory Allocation and Operations"): it is allocated and freed
// by threads, so findings name their lines; and neither side may free what the other has allocated.
// An allocation is left behind only when the trial ends: a kernel may keep it for a later one.
#pragma once

#include <cstdint>
#include <string_view>

#include "vgpu/check/checker.hpp"

namespace warpcheck::vgpu {

class LifetimeChecker final : public Checker {
 public:
  using Checker::Checker;
  [[nodiscard]] bool watches_accesses() const override { return false; }
  [[nodiscard]] bool watches_blocks() const override { return false; }
  void on_fault(const Fault& fault) override;
  void on_invalid_free(const InvalidFree& invalid) override;
  void on_trial_end(std::span<const Allocation* const> left) override;
};

// A host call that frees what it must not.
//   call: the API function, e.g. "cudaFree".
//   nearest: the device memory that the pointer was meant for, or null.
Finding invalid_host_free(std::string_view call, std::uint64_t address, const Allocation* nearest);

// A host call frees what an earlier one has asked to be freed in a stream.
Finding freed_twice(std::string_view call, const Allocation& allocation);

// A host copy or fill of memory that has been freed, or that is on the device heap, where no host
// call may reach it.
//   call, write: as of host_copy_out_of_bounds().
Finding host_copy_of_freed(std::string_view call, bool write, std::uint64_t address,
                           std::uint64_t bytes, const Allocation& freed);
// The host has read or written freed memory by itself.
//   freed_at: by which call; null: not known
Finding host_use_of_freed(bool write, std::uint64_t address, std::uint64_t bytes,
                          const Allocation& freed, const HostPlace& place,
                          const HostPlace* freed_at);
Finding host_copy_of_heap(std::string_view call, bool write, std::uint64_t address,
                          std::uint64_t bytes, const Allocation& allocation);

}  // namespace warpcheck::vgpu
