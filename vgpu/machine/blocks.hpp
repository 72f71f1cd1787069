// The blocks of a launch, from their admission to their end.
//
// The device admits blocks in ascending order while they fit.  An admitted block begins when one of
// its warps is chosen (turns.hpp); all other blocks of its cluster begin with it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "vgpu/machine/progress/block_watch.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/sync/cluster_barriers.hpp"
#include "vgpu/machine/sync/clusters.hpp"
#include "vgpu/machine/warp/stacks.hpp"

namespace warpcheck::vgpu {

class Blocks {
 public:
  struct Dependencies {
    Clusters& clusters;
    ClusterBarriers& cluster_barriers;
    Stacks& stacks;
    BlockWatch& watch;
  };
  Blocks(RunningLaunch& launch, const Dependencies& dependencies)
      : launch_(launch), dependencies_(dependencies) {}
  ~Blocks();
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  void begin_launch();
  void admit();
  // Makes an admitted block resident.
  Slot& begin(std::uint32_t block);
  void end(Slot& slot);
  // Takes a block, with its cluster, that has not begun, and never will then.  Returns the first
  // block of the cluster; none if all blocks have begun.
  std::optional<std::uint32_t> cancel();

  // Returns the blocks that are admitted and have not begun, ascending; for a cluster only its
  // first block.
  [[nodiscard]] const std::vector<std::uint32_t>& admitted() const { return admitted_; }
  // Returns the first block that is not admitted yet.
  [[nodiscard]] std::uint32_t admitted_end() const { return next_; }
  [[nodiscard]] std::uint32_t not_begun() const;
  // Returns the number of blocks that have ended.
  [[nodiscard]] std::uint32_t ended() const { return ended_; }

 private:
  void admit_share();
  void admit_sample();
  std::optional<std::uint32_t> next_of_sample();
  Slot& dispatch(std::uint32_t block);
  void begin_registers(Warp& warp) const;
  void start_warp(Slot& slot, Warp& warp);

  RunningLaunch& launch_;
  Dependencies dependencies_;
  std::vector<std::unique_ptr<Slot>> slots_;  // kept between launches
  std::vector<std::uint32_t> admitted_;
  std::uint32_t next_ = 0;
  std::size_t sampled_ = 0;  // blocks of the launch's sample that were admitted
  std::uint32_t ended_ = 0;
  std::uint64_t dispatched_ = 0;  // blocks of all launches
};

}  // namespace warpcheck::vgpu
