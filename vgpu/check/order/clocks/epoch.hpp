// Thread epochs: 64-bit numbers that say which thread accessed a cell, and when.
//
//   [ launch:12 ][ block:22 ][ phase:20 ][ thread:10 ]
//
// `phase` counts the whole-block barriers that the block has completed.  The only synchronisation
// here is kernel order and those barriers, so two epochs tell whether their accesses are related in
// causality order (PTX ISA 8.9.5): the earlier access comes first if it belongs to an earlier
// launch, or to the same block and an earlier phase, or to the same thread.
//
// Programs can have more phases and launches than these bits hold.  Accesses that come before
// everything in the future need not be distinguished any more, so EpochNumbers renumbers when
// numbers run out.
#pragma once

#include <cstdint>

namespace warpcheck::vgpu {

using Epoch = std::uint64_t;

inline constexpr unsigned kThreadBits = 10, kPhaseBits = 20, kBlockBits = 22, kLaunchBits = 12;

inline constexpr Epoch kPhaseUnit = Epoch{1} << kThreadBits;
inline constexpr Epoch kBlockUnit = kPhaseUnit << kPhaseBits;
inline constexpr Epoch kLaunchUnit = kBlockUnit << kBlockBits;

inline constexpr std::uint64_t kThreadsMax = kPhaseUnit;
inline constexpr std::uint64_t kPhasesMax = std::uint64_t{1} << kPhaseBits;
inline constexpr std::uint64_t kBlocksMax = std::uint64_t{1} << kBlockBits;
inline constexpr std::uint64_t kLaunchesMax = std::uint64_t{1} << kLaunchBits;

// The limits of the numbers.  Tests make them smaller.
struct EpochLimits {
  std::uint64_t launches = kLaunchesMax;  // at least 4
  std::uint64_t blocks = kBlocksMax;      // of a grid
  std::uint64_t phases = kPhasesMax;      // at least 3
  std::uint32_t segments = 1u << 16;      // of the general checker, before it forgets unused ones
  std::uint32_t deferred = 1u << 18;      // deferred rows of atomics per allocation
  std::uint32_t queue_chunks = 1u << 13;  // chunks of deferred rows, of all allocations
  bool has_rows = true;                   // rows of global memory are kept as rows
  bool has_lines = true;                  // by the general checker, too
};

// The number of consecutive threads of a block that are ordered among themselves.
inline constexpr std::uint64_t kOrderedInThread = 1;           // program order only
inline constexpr std::uint64_t kOrderedInWarp = 32;            // lockstep warps
inline constexpr std::uint64_t kOrderedInBlock = kThreadsMax;  // only other blocks count

constexpr std::uint32_t block_of(Epoch epoch) {
  return static_cast<std::uint32_t>(epoch / kBlockUnit % kBlocksMax);
}
constexpr std::uint32_t launch_of(Epoch epoch) {
  return static_cast<std::uint32_t>(epoch / kLaunchUnit);
}
constexpr std::uint32_t phase_of(Epoch epoch) {
  return static_cast<std::uint32_t>(epoch / kPhaseUnit % kPhasesMax);
}
constexpr std::uint32_t thread_of(Epoch epoch) {
  return static_cast<std::uint32_t>(epoch % kPhaseUnit);
}

// Returns whether causality order does not relate an access at `earlier` to one at `later`, made
// after it.  Works on one epoch or on a vector of epochs (the result is then a mask).  With x = the
// differing bits, unsigned wrap-around makes each line one interval:
//   same launch, block and phase, threads further apart:   ordered_threads <= x < kPhaseUnit
//   same launch, other block:                              kBlockUnit <= x < kLaunchUnit
template <typename T>
[[gnu::always_inline]] constexpr auto unordered(const T& earlier, const T& later,
                                                std::uint64_t ordered_threads) {
  const T x = earlier ^ later;
  return (x - ordered_threads < kPhaseUnit - ordered_threads) |
         (x - kBlockUnit < kLaunchUnit - kBlockUnit);
}

// Returns whether the epochs belong to different blocks of one launch.
template <typename T>
[[gnu::always_inline]] constexpr auto across_blocks(const T& earlier, const T& later) {
  return (earlier ^ later) - kBlockUnit < kLaunchUnit - kBlockUnit;
}

}  // namespace warpcheck::vgpu
