// Contents of arrays that are too large to hold.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/kernel/kernel_description.hpp"

namespace warpcheck {

// Writes the elements at both ends of a device array and around each power of two of bytes, where
// indices are wrong if they are; the others are 0.  Neighbours differ, and so do elements that a
// wrapped index confuses.  Throws CudaError.
void fill_sparsely(const ArrayParameter& array, std::uint64_t length, std::byte* to);

}  // namespace warpcheck
