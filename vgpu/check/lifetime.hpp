// Findings about memory that the host uses after it was freed, or frees wrongly.
#pragma once

#include <cstdint>
#include <string_view>

#include "vgpu/check/finding.hpp"

namespace warpcheck::vgpu {

struct Allocation;
struct HostPlace;

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
// The same for memory of a device, whose address means nothing to the host.
Finding host_use_of_device_memory(bool write, std::uint64_t address, std::uint64_t bytes,
                                  const Allocation& allocation, const HostPlace& place);
// The same for memory that the host shares, whose nearest allocation this is.
Finding host_use_out_of_bounds(bool write, std::uint64_t address, std::uint64_t bytes,
                               const Allocation& allocation, const HostPlace& place);
// Makes the finding for free(), which reads what stands before the block that it is given: memory
// of a device, or memory that the host shares.
Finding host_free_of_cuda_memory(const Allocation& allocation, const HostPlace& place);
Finding host_copy_of_heap(std::string_view call, bool write, std::uint64_t address,
                          std::uint64_t bytes, const Allocation& allocation);

}  // namespace warpcheck::vgpu
