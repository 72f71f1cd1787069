// Addresses of shared memory, in a block and in a cluster.
//
// To a program, the blocks of a cluster share one window (.shared::cluster), in which bits 24 and
// up of an address are the rank of its block; so are those of a block's own variables.  Programs
// with pairs of blocks clear or flip bit 24.  PTX does not say it; devices of compute
// capability 9.0 do it (vgpu/cudart/programs/asynchronous/peer_addresses.cu).
//
// To the machine, the address operand of an instruction is an offset in the executing block's
// shared memory, or an offset in the window of a rank.  emit_function() converts:
// Emission::address().
#pragma once

#include <cstdint>

namespace warpcheck::vgpu {

inline constexpr std::uint32_t kRankShift = 24, kRankBits = 8;
inline constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << kRankShift;
inline constexpr std::uint32_t kClusterBlocksMax = 16;
// The windows of the ranks, after that of the executing block.
inline constexpr std::uint64_t kClusterOffset = kClusterBlocksMax * kWindowBytes;
constexpr std::uint64_t window_of_rank(std::uint64_t rank) {
  return kClusterOffset + rank * kWindowBytes;
}
constexpr std::uint32_t rank_of_window(std::uint64_t offset) {
  return static_cast<std::uint32_t>((offset - kClusterOffset) / kWindowBytes);
}
// Reserved shared memory, which does not belong to the program (cooperative groups at compute
// capability 8.0: 288 bytes), has a window after those, so an overrun does not reach it.
inline constexpr std::uint64_t kReservedSharedOffset = window_of_rank(kClusterBlocksMax);
inline constexpr std::uint32_t kReservedSharedBytes = 512;

}  // namespace warpcheck::vgpu
