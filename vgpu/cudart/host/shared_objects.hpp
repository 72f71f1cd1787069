// Which memory that host and device share an operation may use: what a copy and a library function
// name, and what the parameters of a kernel lead to.
//
// A kernel gets at memory by addresses.  Those that its parameters hold are followed into the
// memory there, as far as kBytesFollowed of each object and kBytesFollowedInAll: so structures that
// hold pointers, and short lists, are found; what lies behind the megabytes of a graph is not.
#pragma once

#include <vector>

#include "vgpu/cudart/host/host_watch.hpp"
#include "vgpu/cudart/streams/work.hpp"
#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {

inline constexpr std::size_t kBytesFollowed = 64 * 1024;
inline constexpr std::size_t kBytesFollowedInAll = 256 * 1024;

// Ranges of mapped memory with two views.
std::vector<AddressRange> shared_ranges(vgpu::DeviceMemory& memory, const Work& work);

}  // namespace warpcheck::cudart
