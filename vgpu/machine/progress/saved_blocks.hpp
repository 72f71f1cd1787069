// Copies of the state of blocks, from before a look-ahead.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/machine/running_launch.hpp"

namespace warpcheck::vgpu {

class SavedBlocks {
 public:
  explicit SavedBlocks(const RunningLaunch& launch) : launch_(launch) {}

  // Saves a block, unless it is saved already: all its warps, or `warps` warps from `first_warp`
  // on.
  void save(Slot& slot) { save(slot, 0, launch_.warps_per_block); }
  void save(Slot& slot, std::uint32_t first_warp, std::uint32_t warps);
  // Restores all saved blocks.  Local memory keeps its new size.
  void put_back();

 private:
  struct Saved {
    Slot* slot = nullptr;
    std::uint32_t phase = 0, live_lanes = 0, waiting_lanes = 0, ready_warps = 0, yielded_warps = 0;
    std::array<NamedBarrier, 16> barriers;
    std::vector<BarrierObjectState> objects;
    std::uint32_t first_warp = 0;
    std::vector<Warp> warps;
  };

  const RunningLaunch& launch_;
  std::vector<std::unique_ptr<Saved>> saved_;
};

}  // namespace warpcheck::vgpu
