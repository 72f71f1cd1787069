// The core of the machine: the components that execute a launch, one launch at a time.  Internal to
// vgpu/machine.
//
// A constructor of a component only keeps references to others and uses none of them, so the order
// of declaration does not matter.  Only the launch is first, because components give its memory
// back when they are destroyed.
#pragma once

#include <span>

#include "vgpu/machine/access/accesses.hpp"
#include "vgpu/machine/access/current_access.hpp"
#include "vgpu/machine/blocks.hpp"
#include "vgpu/machine/device_calls.hpp"
#include "vgpu/machine/memory/atomics.hpp"
#include "vgpu/machine/memory/bulk_copies.hpp"
#include "vgpu/machine/memory/copies.hpp"
#include "vgpu/machine/memory/device_heap.hpp"
#include "vgpu/machine/memory/grid_workspace.hpp"
#include "vgpu/machine/memory/local_memory.hpp"
#include "vgpu/machine/memory/provenance_objects.hpp"
#include "vgpu/machine/memory/targets.hpp"
#include "vgpu/machine/printing.hpp"
#include "vgpu/machine/progress/block_watch.hpp"
#include "vgpu/machine/progress/polls.hpp"
#include "vgpu/machine/progress/progress.hpp"
#include "vgpu/machine/progress/strong_writes.hpp"
#include "vgpu/machine/progress/waiting_threads.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/sync/barrier_objects.hpp"
#include "vgpu/machine/sync/block_barriers.hpp"
#include "vgpu/machine/sync/cluster_barriers.hpp"
#include "vgpu/machine/sync/clusters.hpp"
#include "vgpu/machine/sync/named_barriers.hpp"
#include "vgpu/machine/tensor/tensor_copies.hpp"
#include "vgpu/machine/tensor/warpgroups.hpp"
#include "vgpu/machine/texture/textures.hpp"
#include "vgpu/machine/warp/calls.hpp"
#include "vgpu/machine/warp/exits.hpp"
#include "vgpu/machine/warp/fragment_loop.hpp"
#include "vgpu/machine/warp/scalars.hpp"
#include "vgpu/machine/warp/stacks.hpp"
#include "vgpu/machine/warp/turns.hpp"
#include "vgpu/machine/warp/warp_meetings.hpp"
#include "vgpu/machine/warp/warps.hpp"

namespace warpcheck::vgpu {

class Core {
 public:
  explicit Core(DeviceMemory& memory) : launch_(memory) {}
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  Outcome run(const Launch& launch, WarpModel model, Strategy& strategy,
              const ObserverList& observers, const Limits& limits, bool want_edges);

 private:
  void begin(const Launch& launch, WarpModel model, Strategy& strategy,
             const ObserverList& observers, const Limits& limits, bool want_edges);
  Outcome::End loop();
  Stop run_turns(Slot& slot, std::uint32_t& number);
  bool faults_for_ever(const Slot& slot, const Warp& warp);
  void choose_code();
  void compile();
  [[nodiscard]] Lanes lanes_of_code() const;

  RunningLaunch launch_;
  std::uint64_t compile_at_ = kNoLimit;  // in steps of the launch

  PassedBarriers passed_barriers_{launch_};

  // Control flow within a warp.
  Stacks stacks_{launch_};
  Calls calls_{launch_, stacks_};
  WarpMeetings meetings_{launch_};

  // Synchronisation of warps and blocks.
  BlockBarriers block_barriers_{launch_};
  NamedBarriers named_barriers_{launch_, block_barriers_};
  Clusters clusters_{launch_};
  ClusterBarriers cluster_barriers_{launch_};

  // Choice of what runs next.
  BlockWatch block_watch_{launch_};
  Blocks blocks_{launch_, {clusters_, cluster_barriers_, stacks_, block_watch_}};
  Turns turns_{launch_, clusters_, blocks_, block_watch_};

  // Memory.
  GridWorkspace workspace_{launch_};
  Scalars scalars_{launch_, clusters_, workspace_};
  ProvenanceObjects provenance_objects_{launch_};
  StrongWrites strong_writes_{launch_};
  Targets targets_{launch_, clusters_, provenance_objects_};
  CurrentAccess current_{launch_};
  Atomics atomics_{launch_, current_, strong_writes_};
  LocalMemory local_memory_{launch_, current_, atomics_};
  Accesses accesses_{
      launch_, {targets_, provenance_objects_, current_, atomics_, local_memory_, strong_writes_}};
  BarrierObjects barrier_objects_{launch_, {clusters_, targets_, current_, accesses_}};
  Copies copies_{launch_, targets_, current_, accesses_};
  BulkCopies bulk_copies_{launch_, {targets_, current_, accesses_, barrier_objects_, blocks_}};
  TensorCopies tensor_copies_{launch_, {targets_, current_, accesses_, bulk_copies_}};
  Warpgroups warpgroups_{launch_, current_, accesses_};
  TensorMemory tensor_memory_{launch_,
                              {clusters_, current_, accesses_, barrier_objects_, bulk_copies_}};
  DeviceHeap heap_{launch_, targets_};
  DeviceCalls device_calls_{launch_, heap_};
  Textures textures_{launch_, targets_, current_, accesses_};
  Printing printing_{launch_};

  // Execution of fragments, and of warps, which consist of fragments.
  Exits exits_{launch_,
               {stacks_, calls_, meetings_, block_barriers_, named_barriers_, cluster_barriers_,
                bulk_copies_, tensor_copies_, warpgroups_, tensor_memory_, printing_}};
  NativeFrames native_frames_{launch_, accesses_, scalars_, fragments_};
  NativeRuns native_runs_{launch_};
  FragmentLoop fragments_{launch_,
                          {turns_, scalars_, accesses_, barrier_objects_, copies_, textures_, heap_,
                           device_calls_, meetings_, exits_, native_frames_, native_runs_}};
  Rounds rounds_{launch_, turns_, exits_, native_frames_, native_runs_};
  Warps warps_{launch_, turns_, fragments_, rounds_};

  // Detection of launches that do not end.
  WaitingThreads waiting_threads_{launch_, meetings_, cluster_barriers_};
  Lookahead::Dependencies lookahead_{launch_, warps_, cluster_barriers_, strong_writes_,
                                     waiting_threads_};
  TimeWaits time_waits_{launch_};
  Polls polls_{launch_, warps_, time_waits_, lookahead_};
  Progress progress_{launch_, {blocks_, meetings_, named_barriers_, waiting_threads_, lookahead_}};
};

}  // namespace warpcheck::vgpu
