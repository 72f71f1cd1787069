#include "vgpu/machine/progress/snapshot.hpp"

#include <algorithm>
#include <utility>

namespace warpcheck::vgpu {
namespace {

// Copies everything of a warp except its undefined registers, which move to the copy.
Warp copy_of(Warp& warp) {
  Warp copy;
  copy.live = warp.live;
  copy.accesses = warp.accesses;
  copy.ask_at = warp.ask_at;
  copy.fences = warp.fences;
  copy.faults = warp.faults;
  copy.ask_at_fence = warp.ask_at_fence;
  copy.stops = warp.stops;
  copy.releases = warp.releases;
  copy.quantum_left = warp.quantum_left;
  copy.quantum_rest = warp.quantum_rest;
  copy.quanta = warp.quanta;
  copy.time_reads = warp.time_reads;
  copy.has_paused = warp.has_paused;
  copy.fragments = warp.fragments;
  copy.words = warp.words;
  copy.wides = warp.wides;
  copy.predicates = warp.predicates;
  copy.undefined = warp.undefined.take();
  copy.cluster_arrived = warp.cluster_arrived;
  copy.cluster_phase = warp.cluster_phase;
  return copy;
}

// Restores a warp.  Local memory keeps its new size.
void restore_warp(Warp& warp, Warp& copy) {
  warp.live = copy.live;
  warp.accesses = copy.accesses;
  warp.ask_at = copy.ask_at;
  warp.fences = copy.fences;
  warp.faults = copy.faults;
  warp.ask_at_fence = copy.ask_at_fence;
  warp.stops = copy.stops;
  warp.releases = copy.releases;
  warp.quantum_left = copy.quantum_left;
  warp.quantum_rest = copy.quantum_rest;
  warp.quanta = copy.quanta;
  warp.time_reads = copy.time_reads;
  warp.has_paused = copy.has_paused;
  warp.fragments = std::move(copy.fragments);
  warp.words = std::move(copy.words);
  warp.wides = std::move(copy.wides);
  warp.predicates = std::move(copy.predicates);
  warp.undefined = std::move(copy.undefined);
  warp.cluster_arrived = copy.cluster_arrived;
  warp.cluster_phase = copy.cluster_phase;
}

}  // namespace

void Snapshot::save(Slot& slot, std::uint32_t first_warp, std::uint32_t warps) {
  const auto is_saved = [&](const auto& saved) { return saved->slot == &slot; };
  if (std::ranges::any_of(saved_, is_saved)) return;
  auto saved = std::make_unique<Saved>();
  saved->slot = &slot;
  saved->phase = slot.phase;
  saved->live_lanes = slot.live_lanes;
  saved->waiting_lanes = slot.waiting_lanes;
  saved->ready_warps = slot.ready_warps;
  saved->yielded_warps = slot.yielded_warps;
  if (launch_.program().has_named_barriers) saved->barriers = slot.barriers;
  saved->objects = slot.objects;
  saved->first_warp = first_warp;
  for (std::uint32_t index = 0; index < warps; ++index) {
    saved->warps.push_back(copy_of(slot.warps[first_warp + index]));
  }
  saved_.push_back(std::move(saved));
}

void Snapshot::restore() {
  launch_.restore_time(progress_);
  changes_.undo(0);
  restore_blocks();
  cluster_barriers_.restore(clusters_);
}

void Snapshot::restore_blocks() {
  for (const std::unique_ptr<Saved>& saved : saved_) {
    Slot& slot = *saved->slot;
    slot.phase = saved->phase;
    slot.live_lanes = saved->live_lanes;
    slot.waiting_lanes = saved->waiting_lanes;
    slot.ready_warps = saved->ready_warps;
    slot.yielded_warps = saved->yielded_warps;
    if (launch_.program().has_named_barriers) slot.barriers = std::move(saved->barriers);
    slot.objects = std::move(saved->objects);
    for (std::size_t i = 0; i < saved->warps.size(); ++i) {
      restore_warp(slot.warps[saved->first_warp + i], saved->warps[i]);
    }
  }
  saved_.clear();
}

}  // namespace warpcheck::vgpu
