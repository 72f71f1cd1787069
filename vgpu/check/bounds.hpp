// Bounds and alignment, per allocation in every space (PTX ISA 6.4.1: an address must be a
// multiple of the access size).
#pragma once

#include <cstdint>
#include <string_view>

#include "vgpu/check/checker.hpp"

namespace warpcheck::vgpu {

class BoundsChecker final : public Checker {
 public:
  using Checker::Checker;
  [[nodiscard]] bool watches_accesses() const override { return false; }
  [[nodiscard]] bool watches_blocks() const override { return false; }
  void on_fault(const Fault& fault) override;
};

// A host copy or fill that is not inside one allocation.
//   call: the API function, e.g. "cudaMemcpy".
//   write: whether device memory was to be written.
//   nearest: the allocation at or below `address`, or null.
Finding host_copy_out_of_bounds(std::string_view call, bool write, std::uint64_t address,
                                std::uint64_t bytes, const Allocation* nearest);

// The same of memory that cuMemMap has put there, and no device has access to.
Finding host_copy_without_access(std::string_view call, bool write, std::uint64_t address,
                                 std::uint64_t bytes, const Allocation& mapped);

}  // namespace warpcheck::vgpu
