// The machine: the components that execute a launch, one launch at a time; how a launch begins,
// runs and ends.
//
// A constructor of a component only keeps references to others and uses none of them, so the order
// of declaration does not matter.  Only the launch is first, because components give its memory
// back when they are destroyed.
#include "vgpu/machine/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "vgpu/machine/access/accesses.hpp"
#include "vgpu/machine/access/current_access.hpp"
#include "vgpu/machine/block_share.hpp"
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
#include "vgpu/machine/native/native_tier.hpp"
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
#include "vgpu/text/counted.hpp"

namespace warpcheck::vgpu {
namespace {

// Limits of bad accesses, in lanes: more than a large launch that ends makes, and more than one
// warp can make while all others get their turns.  The limits follow that of the steps, so that a
// loop of bad accesses shows the same under a lower one.
constexpr std::uint64_t kFaultsOfLaunch = 1u << 22;
constexpr std::uint64_t kFaultsOfWarp = 1u << 16;
constexpr std::uint64_t kFaultsMin = 1u << 10;
constexpr std::uint64_t kStepsOfFault = 5;

// Returns whether the attempt of several machines has been given up.
bool is_given_up(const Launch& launch) {
  const SharedGrid* const attempt = launch.share != nullptr ? &launch.share->grid() : launch.beside;
  return attempt != nullptr && attempt->is_given_up();
}

}  // namespace

Sync kernel_start_of(const Launch& launch) {
  Sync sync;
  sync.kind = Sync::Kind::kernel_start;
  sync.program = launch.program;
  sync.grid = launch.grid;
  sync.block = launch.block;
  sync.cluster = launch.cluster;
  sync.unordered_launches = launch.unordered_launches;
  sync.is_alone = launch.is_alone;
  sync.early_after = launch.early_after;
  sync.parameters = launch.parameters;
  sync.device = launch.device;
  sync.devices = launch.devices;
  sync.launched_as = launch.launched_as;
  return sync;
}

class Machine::Impl {
 public:
  explicit Impl(DeviceMemory& memory) : launch_(memory) {}

  Outcome run(const Launch& launch, WarpModel model, Strategy& strategy,
              const ObserverList& observers, const Limits& limits, bool want_edges) {
    Sync sync = kernel_start_of(launch);
    if (limits.enough != nullptr && *limits.enough) {
      for (const auto kind : {Sync::Kind::kernel_start, Sync::Kind::kernel_end}) {
        sync.kind = kind;
        for (Observer* const observer : observers.of_launches()) observer->on_sync(sync);
      }
      Outcome outcome;
      outcome.end = Outcome::End::enough;
      return outcome;
    }
    begin(launch, model, strategy, observers, limits, want_edges);
    launch_.notify_of_begin(sync);
    const Outcome::End end = loop();
    rounds_.end_launch();
    for (Slot* slot : std::vector<Slot*>(launch_.resident())) blocks_.end(*slot);

    sync.kind = Sync::Kind::kernel_end;
    launch_.notify_of_end(sync);
    workspace_.end_launch();
    if (launch.program->native != nullptr) {
      launch.program->native->count(lanes_of_code(), launch_.steps());
    }
    return launch_.finish(end);
  }

 private:
  // An observer of the last launch may have thrown an exception, so no state can be relied on.
  void begin(const Launch& launch, WarpModel model, Strategy& strategy,
             const ObserverList& observers, const Limits& limits, bool want_edges) {
    launch_.begin(launch, model, strategy, limits);
    const bool keeps_objects = provenance_objects_.begin_launch();
    launch_.begin_observers(observers, want_edges, provenance_objects_.may_read_own_writes());
    passed_barriers_.begin_launch();
    block_watch_.begin_launch();
    blocks_.begin_launch();
    cluster_barriers_.begin_launch();
    current_.end_asynchronous();
    const bool keeps_plans = accesses_.begin_launch();
    targets_.begin_launch(keeps_objects && keeps_plans);
    progress_.begin_launch();
    time_waits_.begin_launch();
    workspace_.begin_launch();
    rounds_.begin_launch();
    strategy.begin(launch.index, launch_.block_count(), launch_.warps_per_block());
    choose_code();
  }

  // Decides whether the launch begins with its program's machine code, and after how many steps the
  // program is compiled.
  void choose_code() {
    const NativeTier* const tier = launch_.program().native.get();
    launch_.use_native(nullptr);
    launch_.use_native_some(nullptr);
    compile_at_ = kNoLimit;
    const Observers& observers = launch_.observers();
    // Machine code moves whole rows, does not ask the strategy at fences, and reports no steps.
    if (launch_.request().weak_memory != nullptr || observers.following.values) return;
    if (observers.watch_steps) return;
    if (launch_.strategy().decides_fences(launch_.request().index)) return;
    if (tier == nullptr || launch_.limits().compile == Compile::never) return;
    const bool at_once = launch_.limits().compile == Compile::at_once;
    if (at_once) native_runs_.compile_for_some();
    launch_.use_native_some(tier->code(Lanes::some));
    if (tier->code(lanes_of_code()) != nullptr || at_once) return compile();
    compile_at_ = tier->steps_left(lanes_of_code());
  }

  void compile() {
    compile_at_ = kNoLimit;
    launch_.use_native(launch_.program().native->make(launch_.program(), lanes_of_code(),
                                                      FragmentLoop::native_calls()));
  }

  // Returns the kind of machine code for warps with all lanes.
  [[nodiscard]] Lanes lanes_of_code() const {
    const Dim3& block = launch_.request().block;
    const bool in_row = block.x % kWarpLanes == 0 || (block.y == 1 && block.z == 1);
    return in_row ? Lanes::in_row : Lanes::all;
  }

  // Runs the turn of a warp; if no component needs control in between, also the turns of other
  // warps of its block.
  //   number: of the warp; becomes the number of the last warp that ran
  Stop run_turns(Slot& slot, std::uint32_t& number) {
    Warp& warp = slot.warps[number];
    if (warp.quanta != 0 || warp.may_wait_for_time() || !turns_.keeps_block(slot)) {
      return polls_.run(slot, warp);
    }
    const std::uint64_t until_watch = slot.watch_at - std::min(slot.watch_at, slot.turn_steps);
    const std::uint64_t until = std::min({launch_.limits().steps_max, compile_at_,
                                          progress_.looks_at(), launch_.steps() + until_watch});
    return warps_.run_in_turn(slot, number, until);
  }

  // Returns whether a warp makes bad accesses for ever, as a loop over all 32-bit numbers does.  A
  // GPU stops at the first one.  Here the launch continues, so that one run reports all findings.
  bool faults_for_ever(const Slot& slot, const Warp& warp) {
    const std::uint64_t faults_max =
        std::clamp(launch_.limits().steps_max / kStepsOfFault, kFaultsMin, kFaultsOfLaunch);
    if (launch_.outcome().faults < faults_max) return false;
    if (warp.faults < std::min(kFaultsOfWarp, faults_max)) return false;
    if (warp.fragments.empty()) return false;
    const std::string detail = fmt::format(
        "the kernel was stopped here, after {} outside of memory or misaligned; a GPU stops "
        "at the first one",
        counted(launch_.outcome().faults, "access"));
    const Fragment& fragment = warp.fragments.front();
    launch_.halt({&launch_.program(), launch_.place_of(slot, warp), fragment.pc, fragment.mask,
                  Trap::Cause::faults, detail});
    return true;
  }

  Outcome::End loop() {
    if (launch_.is_enough()) return Outcome::End::enough;
    blocks_.admit();
    turns_.begin_launch();
    WarpId next;
    if (!turns_.choose_first(next)) return Outcome::End::completed;
    while (true) {
      Slot* slot = launch_.slot_of(next.block);
      if (slot == nullptr) slot = &blocks_.begin(next.block);
      slot->polling_warps &= ~(1u << next.warp);
      const std::uint64_t steps_before = launch_.steps();
      const Stop stop = run_turns(*slot, next.warp);
      Warp& warp = slot->warps[next.warp];
      slot->turn_steps += launch_.steps() - steps_before;
      slot->steps += launch_.steps() - steps_before;
      if (stop == Stop::halted || faults_for_ever(*slot, warp)) return Outcome::End::trap;
      if (launch_.is_enough()) return Outcome::End::enough;
      if (launch_.steps() >= launch_.limits().steps_max) {
        return progress_.end_at_step_limit(*slot, warp);
      }
      if (is_given_up(launch_.request())) return Outcome::End::given_up;
      if (launch_.steps() >= compile_at_) [[unlikely]]
        compile();
      if (turns_.all_poll_in_vain()) progress_.look_soon();
      const bool must_look = progress_.must_look();
      if (must_look) launch_.report_tally();
      if (stop == Stop::preempted) {
        next = turns_.preempted_to();
        continue;
      }
      if (stop == Stop::released) {
        turns_.choose_at_release(*slot, warp, next);
        continue;
      }
      const WarpId stopped = next;
      const std::uint64_t stop_index = warp.stops++;
      // A barrier that this warp completed may have made the warp itself ready again.
      if (!warp.is_ready()) slot->ready_warps &= ~(1u << warp.index);
      if (slot->live_lanes == 0) {
        blocks_.end(*slot);
        slot = nullptr;
      } else if (slot->ready_warps == 0 && !cluster_barriers_.waits(*slot) &&
                 !progress_.unblock(*slot)) {
        return Outcome::End::deadlock;
      }
      if (must_look && progress_.cannot_end()) return Outcome::End::deadlock;
      if (must_look && progress_.goes_on()) time_waits_.may_pass();
      if (!turns_.choose_after_stop(stop, slot, stopped, stop_index, next))
        return Outcome::End::completed;
      if (turns_.round_has_ended() && time_waits_.is_used()) {
        time_waits_.end_round(!blocks_.admitted().empty());
        if (time_waits_.wants_look()) progress_.look_when_paid();
      }
    }
  }

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

Machine::Machine(DeviceMemory& memory) : impl_(std::make_unique<Impl>(memory)) {}
Machine::~Machine() = default;

Outcome Machine::run(const Launch& launch, WarpModel model, Strategy& strategy,
                     const ObserverList& observers, const Limits& limits, bool want_edges) {
  return impl_->run(launch, model, strategy, observers, limits, want_edges);
}

}  // namespace warpcheck::vgpu
