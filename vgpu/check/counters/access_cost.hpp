// What an access of a warp costs: sectors of global memory, and wavefronts of shared memory.
//
// Global and local memory move in sectors of 32 bytes: a request moves each sector that one of its
// lanes touches (CUDA C++ Programming Guide, "Device Memory Accesses"; Nsight Compute's
// l1tex__t_sectors).  The least is as many as the bytes of the lanes fill.
//
// Shared memory has 32 banks of 4 bytes: in a wavefront, each bank gives or takes one word, which
// lanes that read or write it share and atomics do not (Programming Guide, "Shared Memory";
// l1tex__data_pipe_lsu_wavefronts_mem_shared).  Lanes of 8 bytes take turns by halves of the warp,
// and lanes of 16 bytes by quarters; by twice as many lanes if they read in pairs: active lanes
// among n and n ^ 1, or among n and n ^ 2, the same.  The least is one wavefront a turn; any other
// is a bank conflict.  vgpu/litmus/counters compares all that with a GPU.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

#include "vgpu/check/counters/lane_shapes.hpp"
#include "vgpu/machine/access.hpp"
#include "vgpu/machine/compute/simd.hpp"
#include "vgpu/machine/pattern.hpp"
#include "vgpu/program/warp_rows.hpp"

namespace warpcheck::vgpu {

inline constexpr std::uint32_t kSectorBytes = 32, kBanks = 32, kBankBytes = 4;
inline constexpr std::uint32_t kWavefrontBytes = kBanks * kBankBytes;

// The lanes of one access: each has `bytes` bytes at its offset.
struct AccessedLanes {
  std::uint32_t mask = 0;   // not empty
  std::uint32_t bytes = 0;  // 1, 2, 4, 8 or 16
  Pattern pattern = Pattern::scattered;
  std::uint64_t first = 0;                 // strided: the address of lane 0; uniform: of all
  const std::uint32_t* offsets = nullptr;  // scattered: by lane, relative to `first`

  [[nodiscard]] std::uint32_t offset_of(std::uint32_t lane) const {
    if (pattern == Pattern::scattered) return offsets[lane];
    return pattern == Pattern::strided ? lane * bytes : 0;
  }
};

// What an access moves, and the least that its bytes need: in sectors or in wavefronts.
struct AccessCost {
  std::uint32_t moved = 0, ideal = 0;
};

// How all lanes of a warp lie, relative to each other: what an access costs is the same wherever
// they lie like that, if they are moved by a multiple of a sector, or, in shared memory, of a bank.
class LaneShape {
 public:
  // Returns whether all lanes of an access lie as those of the last set(), which had its pattern.
  [[nodiscard]] bool is_of(const AccessedLanes& lanes, const LaneShapeFunctions& functions) const {
    if (lanes.pattern == Pattern::scattered) return is_of(lanes.first, lanes.offsets, functions);
    return (lanes.first & in_period_) == remainder_;
  }
  // The same for scattered lanes.
  //   begin: the address of offset 0
  [[nodiscard]] bool is_of(std::uint64_t begin, const std::uint32_t* offsets,
                           const LaneShapeFunctions& functions) const {
    const std::uint32_t last = kWarpLanes - 1;
    return offsets[last] - offsets_[last] == offsets[0] - offsets_[0] &&
           ((begin + offsets[0]) & in_period_) == remainder_ &&
           functions.is_moved(offsets, offsets_.data());
  }
  //   period: kSectorBytes or kBankBytes
  void set(const AccessedLanes& lanes, std::uint32_t period) {
    in_period_ = period - 1;
    remainder_ = lanes.first & in_period_;
    if (lanes.pattern != Pattern::scattered) return;
    remainder_ = (lanes.first + lanes.offsets[0]) & in_period_;
    std::copy_n(lanes.offsets, kWarpLanes, offsets_.begin());
  }

 private:
  std::array<std::uint32_t, kWarpLanes> offsets_{};  // if scattered
  std::uint64_t in_period_ = 0, remainder_ = 1;      // nothing has this shape
};

// Counts the different ones among up to 128 numbers.
class DistinctNumbers {
 public:
  void clear() { ++generation_; }
  // Returns whether it was not there yet.
  bool add(std::uint32_t number) {
    const std::uint64_t entry = generation_ << 32 | number;
    std::uint32_t at = number * 0x9e3779b1u >> 24;
    while (table_[at] >> 32 == generation_) {
      if (table_[at] == entry) return false;
      at = (at + 1) % table_.size();
    }
    table_[at] = entry;
    return true;
  }

 private:
  std::uint64_t generation_ = 1;
  std::array<std::uint64_t, 256> table_{};
};

class AccessCosts {
 public:
  explicit AccessCosts(std::string_view level = simd_level())
      : functions_(&lane_shape_functions(level)) {}
  [[nodiscard]] const LaneShapeFunctions& functions() const { return *functions_; }
  [[nodiscard]] AccessCost sectors(const AccessedLanes& lanes) {
    if (lanes.pattern == Pattern::uniform) return {1, 1};
    if (lanes.mask != ~0u) return sectors_of_some(lanes);
    const std::uint32_t begin = lanes.first % kSectorBytes;
    const std::uint32_t all =
        lanes.pattern == Pattern::scattered
            ? functions_->different(lanes.offsets, begin, std::countr_zero(kSectorBytes))
            : (begin + kWarpLanes * lanes.bytes - 1) / kSectorBytes + 1;
    static_assert(kWarpLanes == kSectorBytes);
    return {all, std::min(all, lanes.bytes)};
  }
  [[nodiscard]] AccessCost wavefronts(const AccessedLanes& lanes, AccessKind kind) {
    // Each lane of an atomic has a word of its own, also those with one address.
    const bool has_own_words = kind == AccessKind::atomic && lanes.bytes <= kBankBytes &&
                               lanes.pattern == Pattern::scattered;
    if (!has_own_words) return wavefronts_by_groups(lanes, kind);
    return {lanes.mask == ~0u ? functions_->lanes_of_busiest_bank(lanes.offsets)
                              : some_lanes_of_busiest_bank(lanes),
            1};
  }
  // Returns the number of different addresses.
  [[nodiscard]] std::uint32_t places(const AccessedLanes& lanes) {
    // Atomics have at least two bytes, and all are the same distance behind a multiple of these.
    if (lanes.pattern == Pattern::scattered && lanes.mask == ~0u && lanes.bytes > 1) {
      return functions_->different(lanes.offsets, 0,
                                   static_cast<unsigned>(std::countr_zero(lanes.bytes)));
    }
    return places_of_some(lanes);
  }

 private:
  AccessCost sectors_of_some(const AccessedLanes& lanes);
  AccessCost wavefronts_by_groups(const AccessedLanes& lanes, AccessKind kind);
  std::uint32_t places_of_some(const AccessedLanes& lanes);
  static std::uint32_t some_lanes_of_busiest_bank(const AccessedLanes& lanes);
  std::uint32_t wavefronts_of_group(const AccessedLanes& lanes, std::uint32_t group,
                                    AccessKind kind);

  const LaneShapeFunctions* functions_;
  DistinctNumbers seen_;
};

}  // namespace warpcheck::vgpu
