// The state of a launch from before a look-ahead, which continues from it: everything that is done
// meanwhile is undone.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "vgpu/machine/progress/memory_changes.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/sync/cluster_barriers.hpp"

namespace warpcheck::vgpu {

class Snapshot {
 public:
  //   observers: those that are called until the snapshot is destroyed, instead of the launch's own
  Snapshot(RunningLaunch& launch, ClusterBarriers& cluster_barriers, const Observers& observers)
      : launch_(launch),
        cluster_barriers_(cluster_barriers),
        clusters_(cluster_barriers.states()),
        progress_(launch.run_ahead(observers)) {}
  ~Snapshot() {
    restore();
    launch_.end_run_ahead(std::move(progress_));
  }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  // Returns how many steps the launch had executed, and how far its time was ahead of them.
  [[nodiscard]] std::uint64_t steps() const { return progress_.outcome.steps; }
  [[nodiscard]] std::uint64_t time_ahead() const { return progress_.time_ahead; }
  // Returns the memory that has been changed since.
  [[nodiscard]] MemoryChanges& changes() { return changes_; }
  // Saves warps of a block, unless the block is saved already.  They must not run before that.
  void save(Slot& slot, std::uint32_t first_warp, std::uint32_t warps);
  // Restores the saved blocks, memory, cluster barriers and time.  The blocks must be saved again
  // before they run.  Local memory keeps its new size.
  void restore();

 private:
  struct SavedWarp {
    WarpProgress progress;
    Fragments fragments;
    RowBank words, wides, predicates;
    UndefinedRegisters undefined;  // the warp continues with none
  };
  struct Saved {
    Slot* slot = nullptr;
    SlotProgress progress;
    std::array<NamedBarrier, 16> barriers;
    std::vector<BarrierObjectState> objects;
    std::uint32_t first_warp = 0;
    std::vector<SavedWarp> warps;
  };
  void restore_blocks();

  RunningLaunch& launch_;
  ClusterBarriers& cluster_barriers_;
  ClusterBarriers::States clusters_;
  RunningLaunch::Progress progress_;
  MemoryChanges changes_;
  std::vector<std::unique_ptr<Saved>> saved_;
};

}  // namespace warpcheck::vgpu
