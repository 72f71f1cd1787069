// Finds the memory shared by host and device that an operation may use: the memory that a copy or a
// library function names, and the memory that a kernel's parameters lead to.
//
// A kernel accesses memory by addresses.  Addresses in its parameters are followed into memory, up
// to kBytesFollowed of each object and kBytesFollowedInAll in total.  So structures with pointers,
// and short lists, are found; the megabytes of a graph data structure are not.
#pragma once

#include <vector>

#include "vgpu/cudart/host_watch/host_watch.hpp"
#include "vgpu/cudart/streams/work.hpp"
#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {

inline constexpr std::size_t kBytesFollowed = 64 * 1024;
inline constexpr std::size_t kBytesFollowedInAll = 256 * 1024;

// Returns ranges of mapped memory with two views.
std::vector<AddressRange> shared_ranges(vgpu::DeviceMemory& memory, const Work& work);

}  // namespace warpcheck::cudart
