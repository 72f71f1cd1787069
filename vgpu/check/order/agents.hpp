// The agents of asynchronous copies, which are in the program order of no thread (PTX ISA
// 8.9.1.1).  Clocks know them by numbers beside those of the threads of a block.
#pragma once

#include <cstdint>

namespace warpcheck::vgpu::agents {

inline constexpr std::uint32_t kCopier = 1u << 16;       // + thread: its copier
inline constexpr std::uint32_t kBulkReads = 2u << 16;    // + thread: the reads of its bulk copies
inline constexpr std::uint32_t kBulkWrites = 3u << 16;   // + thread: their writes
inline constexpr std::uint32_t kObject = 4u << 16;       // + offset: an mbarrier
inline constexpr std::uint32_t kProducts = 64u << 16;    // + thread: of its warpgroup
inline constexpr std::uint32_t kWarpCopies = 65u << 16;  // + thread: its part of copies of its warp

}  // namespace warpcheck::vgpu::agents
