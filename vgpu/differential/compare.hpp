// One random program on the machine and on the reference.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace warpcheck::vgpu {

// Threads of the one block: two warps, the second one partial.
inline constexpr std::uint32_t kDifferentialThreads = 45;

// What differs, with thread and word; empty: nothing.
std::string difference(std::uint64_t seed);
// The same for the text of a program, which may have been edited.
std::string difference_in(std::string_view text, std::string_view name);

}  // namespace warpcheck::vgpu
