// The atomic operation of one lane, as PTX ISA 9.7.13.5 defines it.  See reference.hpp.
#pragma once

#include <cstdint>

#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::vgpu {

// Returns the new value in memory.  Throws std::logic_error for unsupported operations.
std::uint64_t reference_atomic(const ptx::Modifiers& modifiers, std::uint64_t old, std::uint64_t b,
                               std::uint64_t c);

}  // namespace warpcheck::vgpu
