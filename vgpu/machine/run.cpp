// Blocks and warps: how a launch begins, runs and ends.
#include <algorithm>
#include <bit>
#include <iterator>

#include "vgpu/machine/core.hpp"

namespace warpcheck::vgpu {

class Machine::Impl : public Core {
  using Core::Core;
};

Machine::Machine(DeviceMemory& memory) : impl_(std::make_unique<Impl>(memory)) {}
Machine::~Machine() = default;

Outcome Machine::run(const Launch& launch, WarpModel model, Strategy& strategy,
                     std::span<Observer* const> observers, const Limits& limits, bool want_edges) {
  return impl_->run(launch, model, strategy, observers, limits, want_edges);
}

Core::Core(DeviceMemory& memory) : memory_(memory), rows_(memory_row_functions()) {}

Core::~Core() {
  for (const auto& slot : slots_) {
    if (slot->shared != nullptr) memory_.release_private(slot->shared);
    if (slot->reserved_shared != nullptr) memory_.release_private(slot->reserved_shared);
    for (const Warp& warp : slot->warps) {
      if (warp.local != nullptr) memory_.release_private(warp.local);
      for (const Warp::LocalPiece& piece : warp.local_beyond) {
        memory_.release_private(piece.allocation);
      }
    }
  }
  if (parameters_ != nullptr) memory_.release_private(parameters_);
}

Outcome Core::run(const Launch& launch, WarpModel model, Strategy& strategy,
                  std::span<Observer* const> observers, const Limits& limits, bool want_edges) {
  launch_ = &launch;
  program_ = launch.program;
  model_ = model;
  strategy_ = &strategy;
  observers_ = observers;
  access_observers_.clear();
  std::ranges::copy_if(
      observers, std::back_inserter(access_observers_),
      [&](const Observer* observer) { return observer->watches_accesses_of(*launch.program); });
  limits_ = limits;
  want_edges_ = want_edges;
  outcome_ = {};
  begin_launch(launch);
  if (launch.cooperative && program_->has_grid_workspace) allocate_workspace();
  strategy.begin(launch.index, block_count_, warps_per_block_);
  Sync sync;
  sync.kind = Sync::Kind::kernel_start;
  sync.program = program_;
  sync.grid = launch.grid;
  sync.block = launch.block;
  sync.cluster = launch.cluster;
  sync.unordered_launches = launch.unordered_launches;
  notify([&](Observer& observer) { observer.on_sync(sync); });
  collective_observers_.clear();
  std::ranges::copy_if(observers, std::back_inserter(collective_observers_),
                       [](const Observer* observer) { return observer->watches_collectives(); });

  const Outcome::End end = loop();
  if (outcome_.end == Outcome::End::completed) outcome_.end = end;
  for (Slot* slot : std::vector<Slot*>(resident_)) end_block(*slot);

  sync.kind = Sync::Kind::kernel_end;
  notify([&](Observer& observer) { observer.on_sync(sync); });
  if (workspace_ != nullptr) free_workspace();
  return std::move(outcome_);
}

// What cooperative groups expect of a cooperative launch: zeros in global memory, where the barrier
// of the grid keeps its state.
void Core::allocate_workspace() {
  constexpr std::uint32_t kWorkspaceBytes = 64;
  workspace_ = memory_.allocate(kWorkspaceBytes, ptx::Space::global, "grid workspace");
  if (workspace_ == nullptr) return;  // then the program finds none, and traps
  std::fill_n(workspace_->data, kWorkspaceBytes, std::byte{0});
  notify([&](Observer& observer) { observer.on_allocate(*workspace_); });
  HostAccess zeros;
  zeros.allocation = workspace_;
  zeros.bytes = kWorkspaceBytes;
  zeros.write = true;
  notify([&](Observer& observer) { observer.on_host_access(zeros); });
}

void Core::free_workspace() {
  notify([&](Observer& observer) { observer.on_free(*workspace_); });
  memory_.free(std::exchange(workspace_, nullptr));
}

void Core::begin_launch(const Launch& launch) {
  block_count_ = static_cast<std::uint32_t>(launch.grid.count());
  threads_ = static_cast<std::uint32_t>(launch.block.count());
  warps_per_block_ = (threads_ + kWarpLanes - 1) / kWarpLanes;
  next_block_ = 0;
  look_at_ = limits_.look_after;
  blocks_ended_ = blocks_ended_at_look_ = 0;
  looks_ = repeating_looks_ = 0;
  restless_block_ = 0;
  order_ = {};
  ++run_;
  resident_.clear();
  admitted_.clear();
  end_watch();
  // An observer may have thrown.
  for (const auto& slot : slots_) slot->occupied = false;
  workspace_ = nullptr;
  asynchronous_ = must_yield_ = false;
  end_asynchronous();
  clusters_.clear();
  written_ = nullptr;
  last_target_.assign(program_->code.size(), nullptr);
  const auto bytes = static_cast<std::uint32_t>(launch.parameters.size());
  if (parameters_ == nullptr || parameters_->bytes != bytes) {
    if (parameters_ != nullptr) memory_.release_private(parameters_);
    parameters_ = memory_.allocate_private(bytes, ptx::Space::param);
    parameters_->read_only = true;
    parameters_->name = "parameters";
  }
  std::copy(launch.parameters.begin(), launch.parameters.end(), parameters_->data);
  find_meant_objects(launch);
}

// Makes a block resident in a free slot.
void Core::dispatch(std::uint32_t block) {
  auto free_slot =
      std::find_if(slots_.begin(), slots_.end(), [](const auto& slot) { return !slot->occupied; });
  if (free_slot == slots_.end()) {
    slots_.push_back(std::make_unique<Slot>());
    slots_.back()->index = static_cast<std::uint32_t>(slots_.size() - 1);
    free_slot = std::prev(slots_.end());
  }
  Slot& slot = **free_slot;
  const Dim3& grid = launch_->grid;
  slot.occupied = true;
  slot.block = block;
  slot.position = {block % grid.x, block / grid.x % grid.y, block / grid.x / grid.y};
  slot.phase = 0;
  slot.live_lanes = threads_;
  slot.waiting_lanes = 0;
  slot.exit_pc = ptx::kNone;
  slot.cluster = block;
  slot.cluster_rank = 0;
  if (program_->has_named_barriers) {
    for (NamedBarrier& barrier : slot.barriers) barrier.arrivals.clear();
  }
  slot.objects.clear();
  slot.yielded_warps = slot.polling_warps = 0;
  slot.turn_steps = 0;
  slot.watch_at = std::uint64_t{kQuantaBeforeWatch} * limits_.quantum;
  slot.ready_warps = warps_per_block_ == 32 ? ~0u : (1u << warps_per_block_) - 1;
  const std::uint32_t shared_bytes =
      launch_->dynamic_shared_bytes == 0
          ? program_->static_shared_bytes
          : program_->dynamic_shared_offset + launch_->dynamic_shared_bytes;
  slot.shared = memory_.renew_private(slot.shared, shared_bytes, ptx::Space::shared);
  slot.shared->symbols = program_->shared_symbols;
  if (program_->uses_reserved_shared) renew_reserved_shared(slot);

  Sync sync;
  sync.kind = Sync::Kind::block_start;
  sync.program = program_;
  sync.place = {block, 0, slot.index, 0};
  sync.shared = slot.shared;
  notify([&](Observer& observer) { observer.on_sync(sync); });

  slot.warps.resize(std::max<std::size_t>(slot.warps.size(), warps_per_block_));
  const auto after = std::find_if(resident_.begin(), resident_.end(),
                                  [&](const Slot* other) { return other->block > block; });
  resident_.insert(after, &slot);
  for (std::uint32_t index = 0; index < warps_per_block_; ++index) {
    slot.warps[index].index = index;
    start_warp(slot, slot.warps[index]);
  }
}

void Core::start_warp(Slot& slot, Warp& warp) {
  const std::uint32_t first = warp.index * kWarpLanes;
  const std::uint32_t count = std::min(kWarpLanes, threads_ - first);
  warp.lanes = count == kWarpLanes ? ~0u : (1u << count) - 1;
  warp.live = warp.lanes;
  warp.accesses = 0;
  warp.stops = 0;
  warp.releases = 0;
  warp.quantum_left = warp.quantum_rest = 0;
  warp.quanta = 0;
  warp.fragments.resize(1);
  Fragment& fragment = warp.fragments.front();
  fragment = {};
  fragment.pc = program_->functions.front().entry;
  fragment.mask = warp.lanes;
  if (warp.run != run_) {  // registers start as zeros once a launch; no program may rely on more
    warp.run = run_;
    warp.words.reset(program_->words_max * std::size_t{kWordRowBytes});
    warp.wides.reset(program_->wides_max * std::size_t{kWideRowBytes});
    warp.predicates.reset(program_->predicates_max * std::size_t{4});
  }
  warp.undefined.clear();
  start_stack(warp);
  warp.ask_at = strategy_->next_access(launch_->index, {slot.block, warp.index}, 0);
}

void Core::end_block(Slot& slot) {
  Sync sync;
  sync.kind = Sync::Kind::block_end;
  sync.program = program_;
  sync.place = {slot.block, 0, slot.index, slot.phase};
  sync.shared = slot.shared;
  sync.has_ended = slot.live_lanes == 0;
  notify([&](Observer& observer) { observer.on_sync(sync); });
  ++blocks_ended_;
  slot.occupied = false;
  slot.ready_warps = 0;
  resident_.erase(std::find(resident_.begin(), resident_.end(), &slot));
  if (watched_ == &slot) end_watch();
  admit_blocks();
}

Slot* Core::slot_of(std::uint32_t block) {
  for (Slot* slot : resident_) {
    if (slot->block == block) return slot;
  }
  return nullptr;
}

Outcome::End Core::loop() {
  admit_blocks();
  choose_order();
  WarpId next;
  if (!default_next(false, next)) return Outcome::End::completed;
  while (true) {
    Slot* slot = slot_of(next.block);
    if (slot == nullptr) {
      begin_block(next.block);
      slot = slot_of(next.block);
    }
    Warp& warp = slot->warps[next.warp];
    slot->polling_warps &= ~(1u << next.warp);
    const std::uint64_t steps_before = outcome_.steps;
    const Stop stop = run_warp(*slot, warp);
    slot->turn_steps += outcome_.steps - steps_before;
    if (stop == Stop::halted) return Outcome::End::trap;
    if (outcome_.steps >= limits_.steps_max) {
      return end_at_step_limit(*slot, warp);
    }
    const bool must_look = outcome_.steps >= look_at_;
    if (stop == Stop::preempted) {
      next = preempted_to_;
      continue;
    }
    if (stop == Stop::released) {
      choose_at_release(*slot, warp, next);
      continue;
    }
    const WarpId stopped = next;
    const std::uint64_t stop_index = warp.stops++;
    // A barrier that this warp completed has made itself ready again.
    if (!warp.is_ready()) slot->ready_warps &= ~(1u << warp.index);
    if (slot->live_lanes == 0) {
      end_block(*slot);
      slot = nullptr;
    } else if (slot->ready_warps == 0 && !waits_for_cluster(*slot) && !unblock(*slot)) {
      return Outcome::End::deadlock;
    }
    if (must_look && cannot_end()) return Outcome::End::deadlock;
    if (!choose_after_stop(stop, slot, stopped, stop_index, next)) return Outcome::End::completed;
  }
}

}  // namespace warpcheck::vgpu
