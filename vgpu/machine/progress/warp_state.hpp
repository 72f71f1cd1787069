// The states of warps, by which a look-ahead recognises that a warp or a block has returned to an
// earlier state.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/machine/progress/memory_changes.hpp"
#include "vgpu/machine/running_launch.hpp"

namespace warpcheck::vgpu {

struct WarpState {
  // Copies the state of a warp.
  WarpState(const RunningLaunch& launch, const Slot& slot, const Warp& warp,
            const MemoryChanges::State& its_memory);
  // Returns whether the fragments of the warp are at the same places.
  [[nodiscard]] bool is_at_places_of(const Warp& warp) const;
  // Returns whether registers and barriers are the same.
  [[nodiscard]] bool has_values_of(const Slot& slot, const Warp& warp) const;

  Fragments fragments;
  RowBank words, wides, predicates;
  MemoryChanges::State memory;
  std::uint32_t cluster_arrived = 0;
  std::vector<NamedBarrier> barriers;  // if the program uses them
};

// Returns the size of a warp's registers.
inline std::uint64_t register_bytes(const Warp& warp) {
  return warp.words.bytes() + warp.wides.bytes() + warp.predicates.bytes();
}

// Returns a hash of the states of all warps of the blocks, without memory.
std::uint64_t hash_of(const RunningLaunch& launch, const std::vector<Slot*>& blocks);

}  // namespace warpcheck::vgpu
