// Instructions that end the run of a fragment: calls and returns, exits, barriers, traps, and
// whatever else changes which lanes go on where.
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
#include "vgpu/machine/warp/calls.hpp"
#include "vgpu/machine/warp/stacks.hpp"
#include "vgpu/machine/warp/warp_meetings.hpp"

namespace warpcheck::vgpu {

class Departures {
 public:
  struct Parts {
    Stacks& stacks;
    Calls& calls;
    WarpMeetings& meetings;
    BlockBarriers& block_barriers;
    NamedBarriers& named_barriers;
    ClusterBarriers& cluster_barriers;
    BulkCopies& bulk_copies;
    TensorCopies& tensor_copies;
    Warpgroups& warpgroups;
    Printing& printing;
  };
  Departures(RunningLaunch& launch, const Parts& parts) : launch_(launch), parts_(parts) {}

  // `lanes` of the fragment execute `instr`; the fragment has its pc stored, and others go on.
  Step leave(RunningFragment& run, std::size_t index, const Instr& instr, std::uint32_t lanes);
  // Of a program without numbered barriers, all lanes of a warp: the same of a barrier.
  void arrive(RunningFragment& run) { parts_.block_barriers.arrive(run, 0, run.mask); }
  // All warps have, and go on.
  void complete(Slot& slot) { parts_.block_barriers.complete_together(slot); }
  // All warps of a block exit, the one of `run` first; nobody waits for them.
  void exit_together(RunningFragment& run) const;

 private:
  void exit(RunningFragment& run, std::size_t index, std::uint32_t lanes);
  static void note_exit(const RunningFragment& run, std::uint32_t lanes);

  RunningLaunch& launch_;
  Parts parts_;
};

}  // namespace warpcheck::vgpu
