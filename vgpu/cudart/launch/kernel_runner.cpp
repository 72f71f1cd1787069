#include "vgpu/cudart/launch/kernel_runner.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "vgpu/check/checker.hpp"
#include "vgpu/check/weak/write_histories.hpp"
#include "vgpu/cudart/code/device_code.hpp"
#include "vgpu/cudart/copies/transfers.hpp"
#include "vgpu/cudart/device/findings.hpp"
#include "vgpu/cudart/device/observers.hpp"
#include "vgpu/cudart/device/trial.hpp"
#include "vgpu/cudart/device/virtual_clock.hpp"
#include "vgpu/cudart/device/virtual_gpu.hpp"
#include "vgpu/cudart/exec/arrivals.hpp"
#include "vgpu/cudart/exec/launch_progress.hpp"
#include "vgpu/cudart/graphs/graph_run.hpp"
#include "vgpu/cudart/host_watch/host_accesses.hpp"
#include "vgpu/cudart/launch/copy_kernels.hpp"
#include "vgpu/cudart/memory/host_blocks.hpp"
#include "vgpu/cudart/streams/idle_progress.hpp"

namespace warpcheck::cudart {
namespace {

cudaError_t error_of(vgpu::Trap::Cause cause) {
  switch (cause) {
    case vgpu::Trap::Cause::assertion: return cudaErrorAssert;
    case vgpu::Trap::Cause::bad_call: return cudaErrorInvalidPc;
    // An address beyond the stack is not an address of the thread (seen on sm_90).
    case vgpu::Trap::Cause::stack_overflow:
    case vgpu::Trap::Cause::no_object:
    case vgpu::Trap::Cause::faults:
    case vgpu::Trap::Cause::tensor_bounds:
    case vgpu::Trap::Cause::surface_bounds: return cudaErrorIllegalAddress;
    case vgpu::Trap::Cause::copy_bytes:
    case vgpu::Trap::Cause::surface_alignment: return cudaErrorMisalignedAddress;
    case vgpu::Trap::Cause::map_rule:
    case vgpu::Trap::Cause::tensor_rule: return cudaErrorIllegalInstruction;
    case vgpu::Trap::Cause::trap:
    case vgpu::Trap::Cause::breakpoint:
    case vgpu::Trap::Cause::bad_index: break;
  }
  return cudaErrorLaunchFailure;
}

// What a launch may have without cudaFuncSetAttribute(); 0: the kernel has no variables there.
std::uint32_t most_dynamic_shared(const vgpu::Program& program) {
  const bool has_any = std::ranges::any_of(program.shared_symbols,
                                           [](const auto& symbol) { return symbol.bytes == 0; });
  const std::size_t begin = program.dynamic_shared_offset;
  return has_any && begin < virtual_gpu::kBlockSharedBytes
             ? static_cast<std::uint32_t>(virtual_gpu::kBlockSharedBytes - begin)
             : 0;
}

// Returns CUDA's error for a launch that ended so; cudaSuccess: the device remains usable.
cudaError_t error_of(const vgpu::Outcome& outcome) {
  switch (outcome.end) {
    case vgpu::Outcome::End::trap: return error_of(outcome.cause);
    case vgpu::Outcome::End::step_limit:
    case vgpu::Outcome::End::deadlock: return cudaErrorLaunchTimeout;
    case vgpu::Outcome::End::completed:
    case vgpu::Outcome::End::enough:
    case vgpu::Outcome::End::refused:
    case vgpu::Outcome::End::given_up: break;
  }
  return cudaSuccess;
}

// Appends what `other` does not have; both are ascending.  A launch may have thousands of others
// that are unordered with it, and few that come before it, or the other way round.
void append_difference(std::vector<std::uint32_t>& to, const std::vector<std::uint32_t>& from,
                       const std::vector<std::uint32_t>& other) {
  auto rest = from.begin();
  for (const std::uint32_t known : other) {
    if (rest == from.end()) return;
    if (*rest != known) {
      const auto found = std::lower_bound(rest, from.end(), known);
      to.insert(to.end(), rest, found);
      rest = found;
      if (rest == from.end() || *rest != known) continue;
    }
    ++rest;
  }
  to.insert(to.end(), rest, from.end());
}

}  // namespace

// Returns whether the host, or another process, may write memory while the launch runs.
bool KernelRunner::host_may_write(const HostState& host) const {
  if (dependencies_.memory.is_shared_by_processes()) return true;
  return dependencies_.trial.in_ambient() && dependencies_.memory.has_mapped() &&
         (!host.waits || other_threads_may_run());
}

// A launch by the host, and the launches that the grids of its operation have run before.
struct KernelRunner::HostLaunch {
  const KernelWork& work;  // of the launch by the host
  const Operation& operation;
  const HostState& host;
  std::vector<std::uint32_t> unordered;    // launches of other operations
  std::vector<std::uint32_t> ran;          // launches of this one
  std::uint32_t early_after = ptx::kNone;  // the previous launch, which need not have completed
  bool has_overlapped = false;             // others have run while it was suspended
};

void KernelRunner::run(const KernelWork& work, const Operation& operation, const HostState& host) {
  static_cast<void>(run(work, operation, host, {}));
}

std::uint32_t KernelRunner::run(const KernelWork& work, const Operation& operation,
                                const HostState& host,
                                const std::vector<std::uint32_t>& also_unordered) {
  HostLaunch host_launch{.work = work,
                         .operation = operation,
                         .host = host,
                         .unordered = dependencies_.transfers.unordered_launches(operation),
                         .ran = {}};
  if (!also_unordered.empty()) {
    host_launch.unordered.insert(host_launch.unordered.end(), also_unordered.begin(),
                                 also_unordered.end());
    std::ranges::sort(host_launch.unordered);
  }
  if (work.early_after.position != 0) {
    const std::uint32_t* const earlier = dependencies_.transfers.launch_of(work.early_after);
    if (earlier != nullptr) host_launch.early_after = *earlier;
  }
  const Grid grid{work.linked,     work.grid,       work.block, work.dynamic_shared_bytes,
                  work.parameters, work.launched_as};
  std::vector<std::uint32_t> all;
  const std::uint32_t number = run_grid(host_launch, grid, {}, all);
  if (work.graph_run != nullptr) work.graph_run->ran(number, operation, also_unordered);
  return number;
}

vgpu::Launch KernelRunner::launch_of(const HostLaunch& host_launch, const Grid& grid,
                                     DeviceState& device) const {
  const KernelWork& work = host_launch.work;
  vgpu::Launch launch;
  launch.program = &grid.linked->program;
  launch.grid = grid.grid;
  launch.block = grid.block;
  launch.cluster = grid.depth == 0 ? work.cluster : Dim3{};
  launch.explicit_cluster = grid.depth == 0 && work.explicit_cluster;
  launch.dynamic_shared_bytes = grid.dynamic_shared_bytes;
  launch.parameters = grid.parameters;
  launch.cooperative = grid.depth == 0 && work.cooperative;
  launch.textures = &dependencies_.textures;
  launch.asked_as = host_launch.operation.number;
  launch.host_runs = host_may_write(host_launch.host);
  launch.launched_as = grid.launched_as;
  launch.graph = work.graph_run == nullptr ? 0 : work.graph_run->current();
  launch.device = device.number;
  launch.devices = static_cast<unsigned>(dependencies_.devices.size());
  const Suppositions& supposed = dependencies_.trial.settings().supposed;
  launch.peers = supposed.peer_access ? ~std::uint32_t{0} : device.peers;
  if (supposed.more_dynamic_shared) {
    launch.dynamic_shared_bytes =
        std::max(launch.dynamic_shared_bytes, most_dynamic_shared(*launch.program));
  }
  launch.rights = host_launch.operation.rights.get();
  launch.stack_bytes = static_cast<std::uint32_t>(
      std::min<std::size_t>(device.limits.get(cudaLimitStackSize), UINT32_MAX));
  return launch;
}

// Counts the grid as a launch, and tells those who wait for it.
Trial::LaunchNumber KernelRunner::begin(const HostLaunch& host_launch, const Grid& grid) {
  const LinkedKernel& linked = *grid.linked;
  const Trial::LaunchNumber number =
      dependencies_.trial.launch(linked.program, linked.ptx_hash, linked.code->edited_places(),
                                 static_cast<std::uint32_t>(grid.block.count()));
  if (linked.order_source.pc != ptx::kNone)
    dependencies_.trial.order_shows(linked.program, linked.order_source);
  dependencies_.arrivals.launched(number.kernel);
  if (grid.depth == 0) {
    const KernelWork& work = host_launch.work;
    dependencies_.arrivals.launches({work.grid, work.block, work.dynamic_shared_bytes,
                                     work.parameters, host_launch.operation.number},
                                    host_launch.operation.asked_at);
  }
  dependencies_.progress.launched(number.kernel);
  return number;
}

// Returns the number of its launch.
//   before: launches of the same operation that come before the grid, ascending
//   all: the launches of the grid and of its children are added; null if the operation has only
//        this grid
std::uint32_t KernelRunner::run_grid(HostLaunch& host_launch, const Grid& grid,
                                     const std::vector<std::uint32_t>& before,
                                     std::vector<std::uint32_t>& all) {
  DeviceState& device = dependencies_.devices[host_launch.work.device];
  const Trial::LaunchNumber number = begin(host_launch, grid);
  std::vector<std::uint32_t> unordered = host_launch.unordered;
  append_difference(unordered, host_launch.ran, before);
  vgpu::Launch launch = launch_of(host_launch, grid, device);
  if (grid.depth == 0 && host_launch.early_after != ptx::kNone) {
    launch.early_after = host_launch.early_after;
    unordered.push_back(host_launch.early_after);
  }
  launch.index = number.launch;
  const auto goes_on = [&](bool others_have_run) {
    if (others_have_run) {
      dependencies_.progress.goes_on(number.kernel);
      notify_of_resumption(launch);
      host_launch.has_overlapped = true;
    }
    notify_of_known(*turns_.find(host_launch.operation), others_have_run);
  };
  std::optional<KernelTurns::Turn> turn(
      std::in_place, turns_,
      KernelTurns::Turn::Dependencies{dependencies_.host_blocks, host_launch.host}, number.launch,
      host_launch.operation, std::ref(goes_on));
  begin_beside(*turn, unordered);
  launch.unordered_launches = unordered;
  launch.is_alone = grid.depth == 0 && is_alone(host_launch) && !launch.host_runs;
  DeviceGrids grids(
      {.device = device,
       .findings = dependencies_.findings,
       .conditionals = dependencies_.conditionals,
       .copies = copies_of(device),
       .last_launched = last_launched_,
       .devices = static_cast<unsigned>(dependencies_.devices.size()),
       .capability = dependencies_.trial.capability(),
       .concurrent_work = host_launch.host.concurrent_work == nullptr ? nullptr : &*turn,
       .is_trial = !dependencies_.trial.in_ambient(),
       .graph_run = host_launch.work.graph_run.get(),
       .launch = number.launch},
      grid);
  launch.device_runtime = &grids;
  if (launch.program->uses_heap) device.limits.use_heap();

  if (!host_launch.host.is_gone) dependencies_.host_blocks.copy_registered_to_device();
  dependencies_.host_accesses.launch_begins(number.launch);
  comparison_.begins(launch, *grid.linked, device.allocations);
  const vgpu::Outcome outcome = run_launch(launch, host_launch, *turn);
  turn.reset();
  comparison_.ended(launch, *grid.linked, outcome);
  dependencies_.progress.ended(outcome);
  if (!host_launch.host.is_gone) dependencies_.host_blocks.copy_registered_to_host();

  dependencies_.trial.count(outcome);
  dependencies_.clock.spend_launch(outcome.steps);
  if (outcome.end == vgpu::Outcome::End::refused) throw vgpu::Refusal(outcome.refusal);
  if (const cudaError_t error = error_of(outcome); error != cudaSuccess) {
    device.errors.set_sticky(error);
  }
  dependencies_.host_accesses.launch_ended(number.launch, host_launch.operation);
  dependencies_.transfers.launched(number.launch, host_launch.operation,
                                   &dependencies_.host_accesses.signals());
  if (grid.depth == 0 && grids.children().empty()) return number.launch;
  host_launch.ran.push_back(number.launch);
  all.push_back(number.launch);
  run_children(host_launch, grids.children(), before, all);
  return number.launch;
}

vgpu::Outcome KernelRunner::run_launch(vgpu::Launch& launch, const HostLaunch& host_launch,
                                       const KernelTurns::Turn& turn) {
  const std::optional<vgpu::BlockSample> sample = sampler_.sample_of(launch);
  launch.sample = sample ? &*sample : nullptr;
  std::optional<vgpu::Outcome> in_parallel;
  if (const RanAhead* const ahead = host_launch.operation.ahead.get()) {
    in_parallel = ahead->outcome;
  } else {
    in_parallel = run_in_parallel(launch, host_launch);
  }
  if (in_parallel) {
    notify_machines(kernel_start_of(launch));
    return *in_parallel;
  }
  const TrialSettings& settings = dependencies_.trial.settings();
  const vgpu::ObserverList* observers = &dependencies_.observers.list();
  std::optional<vgpu::ObserverList> with_histories;
  std::unique_ptr<vgpu::WriteHistories> histories;
  vgpu::Strategy& strategy = dependencies_.trial.strategy();
  if (!turn.is_concurrent() && strategy.chooses_past(launch.index) &&
      vgpu::WriteHistories::concern(*launch.program)) {
    histories = std::make_unique<vgpu::WriteHistories>(settings.warp_model);
    launch.weak_memory = histories.get();
    with_histories = *observers;
    with_histories->add(*histories);
    observers = &*with_histories;
  }
  vgpu::Outcome outcome = turn.machine().run(launch, settings.warp_model, strategy, *observers,
                                             settings.limits, settings.want_feedback);
  if (settings.jobs > 1) machines_.learn(launch, outcome);
  if (sample) sampler_.ended(launch, outcome);
  return outcome;
}

// The launch was suspended, and others have run.
void KernelRunner::notify_of_resumption(const vgpu::Launch& launch) const {
  dependencies_.host_accesses.launch_goes_on(launch.index);
  dependencies_.trial.strategy().begin(
      launch.index, static_cast<std::uint32_t>(launch.grid.count()),
      static_cast<std::uint32_t>((launch.block.count() + 31) / 32));
  const vgpu::Sync start = vgpu::kernel_start_of(launch);
  dependencies_.host_accesses.signals().on_sync(start);
  KernelTurns::notify_reporter(dependencies_.observers.list().all(), start);
}

// The launch goes on: tells the checkers which launches come before what it does from now on.
void KernelRunner::notify_of_known(KernelTurns::Turn& turn, bool others_have_run) const {
  const std::vector<std::uint32_t> known = turn.take_news(dependencies_.transfers);
  if (others_have_run || !known.empty()) {
    dependencies_.findings.checkers().resumes({turn.launch(), known});
  }
}

// The launch begins, maybe while others are suspended.
//   unordered: those that the host does not know of are added
void KernelRunner::begin_beside(const KernelTurns::Turn& turn,
                                std::vector<std::uint32_t>& unordered) const {
  if (!turn.is_concurrent()) return;
  std::vector<std::uint32_t> suspended;
  for (const KernelTurns::Turn* const other : turns_.in_progress()) {
    if (other == &turn) continue;
    suspended.push_back(other->launch());
    if (!turn.operation().clock.covers(other->operation().stamp)) {
      unordered.push_back(other->launch());
    }
  }
  std::ranges::sort(unordered);
  dependencies_.findings.checkers().begins_beside(suspended);
}

void KernelRunner::signalled(const Operation& kernel, const OperationSet& by) {
  if (KernelTurns::Turn* const turn = turns_.find(kernel)) turn->learn(by);
}

// Returns whether everything else comes before the launch, or after it.  One of several kernels of
// an operation may be unordered with other kernels of it.
bool KernelRunner::is_alone(const HostLaunch& host_launch) {
  return host_launch.host.runs_alone &&
         std::holds_alternative<KernelWork>(host_launch.operation.work);
}

// Runs the launch on several threads, with the same result as on one; nothing: it must run on one
// thread.
std::optional<vgpu::Outcome> KernelRunner::run_in_parallel(const vgpu::Launch& launch,
                                                           const HostLaunch& host_launch) {
  const TrialSettings& settings = dependencies_.trial.settings();
  if (settings.jobs < 2 || settings.strategy != nullptr) return {};
  if (!is_alone(host_launch)) return {};
  if (settings.want_feedback || is_watched()) return {};
  dependencies_.progress.on_sync(kernel_start_of(launch));
  ParallelMachines::Settings of_machines = parallel_settings();
  of_machines.on_progress = [&](std::uint32_t blocks) {
    dependencies_.progress.blocks_ended(blocks);
  };
  return machines_.run(launch, of_machines);
}

bool KernelRunner::is_watched() const { return dependencies_.observers.has_added(); }

// The observers see that a launch has run, but not its accesses.
void KernelRunner::notify_machines(vgpu::Sync sync) const {
  for (const auto kind : {vgpu::Sync::Kind::kernel_start, vgpu::Sync::Kind::kernel_end}) {
    sync.kind = kind;
    for (vgpu::Observer* const observer : dependencies_.observers.list().of_launches()) {
      observer->on_sync(sync);
    }
  }
}

ParallelMachines::Settings KernelRunner::parallel_settings() const {
  const TrialSettings& settings = dependencies_.trial.settings();
  return {.machines = settings.jobs,
          .checkers = settings.checkers,
          .warp_model = settings.warp_model,
          .limits = settings.limits,
          .whole = &dependencies_.findings.checkers()};
}

vgpu::Launch KernelRunner::launch_for(const Operation& operation, const HostState& host) const {
  const auto& work = std::get<KernelWork>(operation.work);
  const HostLaunch host_launch{
      .work = work, .operation = operation, .host = host, .unordered = {}, .ran = {}};
  const Grid grid{work.linked, work.grid, work.block, work.dynamic_shared_bytes, {}};
  vgpu::Launch launch = launch_of(host_launch, grid, dependencies_.devices[work.device]);
  launch.parameters = work.parameters;
  return launch;
}

// Runs the children in the order of their launches, which is one of the allowed orders; grids of
// the tail stream come last.
//   all: the parent, and everything that has run below it
void KernelRunner::run_children(HostLaunch& host_launch, const std::vector<ChildGrid>& children,
                                const std::vector<std::uint32_t>& before_parent,
                                std::vector<std::uint32_t>& all) {
  const Errors& errors = dependencies_.devices[host_launch.work.device].errors;
  if (std::exchange(host_launch.has_overlapped, false)) {
    std::vector<std::uint32_t> unordered;
    std::ranges::set_union(host_launch.unordered,
                           dependencies_.transfers.unordered_launches(host_launch.operation),
                           std::back_inserter(unordered));
    host_launch.unordered = std::move(unordered);
  }
  std::vector<std::vector<std::uint32_t>> below(children.size());
  // Of a child that later ones follow: what comes before it, and what has run below it.
  std::vector<std::vector<std::uint32_t>> known(children.size());
  std::vector<std::size_t> followers(children.size());
  for (const ChildGrid& child : children) {
    for (const std::size_t earlier : child.after) ++followers[earlier];
  }
  for (const bool is_tail : {false, true}) {
    for (std::size_t i = 0; i < children.size(); ++i) {
      if (children[i].is_tail != is_tail || errors.has_sticky()) continue;
      std::vector<std::uint32_t> before;
      for (const std::size_t earlier : children[i].after) {
        std::vector<std::uint32_t>& of_earlier = known[earlier];
        const bool is_last = --followers[earlier] == 0;
        if (is_last && before.empty()) {
          before = std::move(of_earlier);
        } else {
          before.insert(before.end(), of_earlier.begin(), of_earlier.end());
        }
        if (is_last) of_earlier = {};
      }
      if (before.empty()) before = before_parent;
      if (is_tail) before.insert(before.end(), all.begin(), all.end());
      if (!std::ranges::is_sorted(before)) std::ranges::sort(before);
      before.erase(std::unique(before.begin(), before.end()), before.end());
      run_grid(host_launch, children[i].grid, before, below[i]);
      if (followers[i] != 0) {
        known[i] = std::move(before);
        known[i].insert(known[i].end(), below[i].begin(), below[i].end());
      }
      all.insert(all.end(), below[i].begin(), below[i].end());
    }
  }
}

DeviceCode& KernelRunner::copies_of(const DeviceState& device) {
  static const auto& text = *new const std::string(copy_kernels());
  std::unique_ptr<DeviceCode>& code = copies_[device.number];
  if (code == nullptr) code = std::make_unique<DeviceCode>(text, "copies of device code");
  return *code;
}

}  // namespace warpcheck::cudart
