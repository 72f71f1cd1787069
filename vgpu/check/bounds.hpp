// Findings about memory that a call of the host cannot access.
#pragma once

#include <cstdint>
#include <string_view>

#include "vgpu/check/finding.hpp"

namespace warpcheck::vgpu {

struct Allocation;

// Makes the finding for a host copy or fill whose range is not inside one allocation.
//   call: the API function, e.g. "cudaMemcpy".
//   write: whether the call was to write device memory.
//   nearest: the allocation at or below `address`, or null.
Finding host_copy_out_of_bounds(std::string_view call, bool write, std::uint64_t address,
                                std::uint64_t bytes, const Allocation* nearest);

// Makes the finding for a host copy or fill of memory that cuMemMap has mapped but that no device
// has access to.  The parameters are those of host_copy_out_of_bounds().
Finding host_copy_without_access(std::string_view call, bool write, std::uint64_t address,
                                 std::uint64_t bytes, const Allocation& mapped);

}  // namespace warpcheck::vgpu
