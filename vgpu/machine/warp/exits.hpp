// Executes instructions that end the run of a fragment: calls and returns, exits, barriers, traps,
// and all others that change which lanes continue where.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vgpu/machine/memory/bulk_copies.hpp"
#include "vgpu/machine/printing.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/sync/block_barriers.hpp"
#include "vgpu/machine/sync/cluster_barriers.hpp"
#include "vgpu/machine/sync/named_barriers.hpp"
#include "vgpu/machine/tensor/tensor_copies.hpp"
#include "vgpu/machine/tensor/warpgroups.hpp"
#include "vgpu/machine/tensor_memory/tensor_memory.hpp"
#include "vgpu/machine/warp/calls.hpp"
#include "vgpu/machine/warp/stacks.hpp"
#include "vgpu/machine/warp/warp_meetings.hpp"

namespace warpcheck::vgpu {

class Exits {
 public:
  struct Dependencies {
    Stacks& stacks;
    Calls& calls;
    WarpMeetings& meetings;
    BlockBarriers& block_barriers;
    NamedBarriers& named_barriers;
    ClusterBarriers& cluster_barriers;
    BulkCopies& bulk_copies;
    TensorCopies& tensor_copies;
    Warpgroups& warpgroups;
    TensorMemory& tensor_memory;
    Printing& printing;
  };
  Exits(RunningLaunch& launch, const Dependencies& dependencies)
      : launch_(launch), dependencies_(dependencies) {}

  // Executes `instr` for `lanes` of the fragment.  The fragment's pc is already stored; its other
  // lanes continue.
  Step leave(RunningFragment& run, std::size_t index, const Instr& instr, std::uint32_t lanes);
  // All lanes of a warp arrive at barrier 0, in a program without numbered barriers.
  void arrive(RunningFragment& run) { dependencies_.block_barriers.arrive(run, 0, run.mask); }
  // All warps have arrived at the barrier, and continue.
  void complete(Slot& slot) { dependencies_.block_barriers.complete_together(slot); }
  // All warps of a block exit, the one of `run` first; no thread waits for them.
  void exit_together(RunningFragment& run) const;

 private:
  void exit(RunningFragment& run, std::size_t index, std::uint32_t lanes);
  void end_block(Slot& slot) const;
  static void note_exit(const RunningFragment& run, std::uint32_t lanes);

  RunningLaunch& launch_;
  Dependencies dependencies_;
};

}  // namespace warpcheck::vgpu
