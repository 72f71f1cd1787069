#include "vgpu/cudart/host_watch/signals_of_kernels.hpp"

#include <algorithm>

#include "vgpu/check/order/clocks/bits.hpp"
#include "vgpu/check/reporter.hpp"
#include "vgpu/program/flow/order_sources.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/memory_order.hpp"

namespace warpcheck::cudart {
namespace {

// Limit per launch and allocation: a kernel that makes strong accesses to more places does not use
// them as flags.
constexpr std::size_t kPlacesMax = 4096;
// Limit per launch: a launch that writes more words before it signals is not checked.
constexpr std::size_t kOpenMax = 4096;

}  // namespace

void SignalsOfKernels::begin(std::uint32_t launch) {
  launch_ = launch;
  open_.clear();
  open_count_ = 0;
}

void SignalsOfKernels::forget() {
  places_.clear();
  unseen_.clear();
  unreleased_.clear();
  behind_releases_.clear();
  device_atomics_.clear();
}

bool SignalsOfKernels::watches_accesses_of(const vgpu::Program& program) const {
  if (!memory_.has_mapped()) return false;
  const auto [known, is_new] = has_strong_accesses_.try_emplace(&program, false);
  if (is_new) {
    known->second = std::ranges::any_of(program.code, [](const vgpu::Instr& instr) {
      return instr.kind == vgpu::InstrKind::atomic || instr.modifiers.order != ptx::Order::weak;
    });
  }
  return known->second;
}

void SignalsOfKernels::on_sync(const vgpu::Sync& sync) {
  if (sync.kind == vgpu::Sync::Kind::kernel_end && sync.program != nullptr) {
    return note_end(*sync.program);
  }
  if (sync.kind != vgpu::Sync::Kind::kernel_start) return;
  grid_ = sync.grid;
  block_ = sync.block;
}

void SignalsOfKernels::on_access(const vgpu::Access& access) {
  const bool is_shared = access.space == ptx::Space::global && access.allocation->has_two_views();
  if (access.order == ptx::Order::weak && access.kind != vgpu::AccessKind::atomic) {
    if (is_shared && access.kind == vgpu::AccessKind::write) note_weak_write(access);
    return;
  }
  if (ptx::releases(access.order) && access.scope == ptx::Scope::sys) release_all();
  if (!is_shared) return note_unseen(access);
  if (access.kind != vgpu::AccessKind::read) note_signal(access);
  const bool is_of_device =
      access.kind == vgpu::AccessKind::atomic && access.scope != ptx::Scope::sys;
  const auto note = [&](bool write) {
    std::set<std::uint32_t>& places = places_[{launch_, access.allocation->id, write}];
    vgpu::for_each_bit(access.mask, [&](unsigned lane) {
      const std::uint32_t first = access.offset[lane] / 4;
      const std::uint32_t last = (access.offset[lane] + access.bytes - 1) / 4;
      for (std::uint32_t word = first; word <= last && places.size() < kPlacesMax; ++word) {
        if (!places.insert(word).second || !write || !is_of_device) continue;
        device_atomics_.try_emplace({launch_, {access.allocation->id, word}},
                                    place_of(access, lane, access.pc));
      }
    });
  };
  if (access.kind != vgpu::AccessKind::read) note(true);
  if (access.kind != vgpu::AccessKind::write && !is_reduction(access)) note(false);
}

void SignalsOfKernels::note_unseen(const vgpu::Access& access) {
  const bool is_of_host =
      access.space == ptx::Space::global && access.allocation->is_shared_with_host();
  if (!is_of_host) return;
  if (access.kind != vgpu::AccessKind::read) unseen_.insert({launch_, true});
  if (access.kind != vgpu::AccessKind::write) unseen_.insert({launch_, false});
}

// Returns whether the access is an atomic operation and the program does not use its old value.
bool SignalsOfKernels::is_reduction(const vgpu::Access& access) {
  if (access.kind != vgpu::AccessKind::atomic) return false;
  const auto [known, is_new] = unused_.try_emplace(access.program);
  if (is_new) known->second = vgpu::unused_old_values(*access.program);
  return known->second[access.pc];
}

void SignalsOfKernels::on_fence(const vgpu::Fence& fence) {
  const bool is_of_threads = !fence.proxy && !fence.object_inits && !fence.controls_grids();
  if (is_of_threads && ptx::releases(fence.order) && fence.scope == ptx::Scope::sys) release_all();
}

void SignalsOfKernels::release_all() {
  open_.clear();
  open_count_ = 0;
  std::erase_if(unreleased_, [&](const auto& one) { return one.first.first == launch_; });
}

void SignalsOfKernels::note_weak_write(const vgpu::Access& access) {
  vgpu::for_each_bit(access.mask, [&](unsigned lane) {
    if (open_count_ >= kOpenMax) return;
    const vgpu::ThreadId who = vgpu::thread_of(access.place, lane);
    const std::uint32_t last = (access.offset[lane] + access.bytes - 1) / 4;
    for (std::uint32_t word = access.offset[lane] / 4; word <= last; ++word, ++open_count_) {
      const Word place{access.allocation->id, word};
      open_[{who.block, who.thread}].emplace_back(place, access.pc);
      unreleased_.erase({launch_, place});
    }
  });
}

// Records the earlier writes of the threads that were not released since.
void SignalsOfKernels::note_signal(const vgpu::Access& access) {
  if (open_.empty() || open_count_ >= kOpenMax) return;
  vgpu::for_each_bit(access.mask, [&](unsigned lane) {
    const vgpu::ThreadId who = vgpu::thread_of(access.place, lane);
    const auto writes = open_.find({who.block, who.thread});
    if (writes == open_.end()) return;
    for (const auto& [place, pc] : writes->second) {
      unreleased_[{launch_, place}] = place_of(access, lane, pc);
    }
    open_.erase(writes);
  });
}

void SignalsOfKernels::note_end(const vgpu::Program& program) {
  if (open_count_ >= kOpenMax) return;
  for (const auto& [thread, writes] : open_) {
    for (const auto& [place, pc] : writes) {
      const vgpu::CodePlace written{&program, pc, grid_.position_of(thread.first),
                                    block_.position_of(thread.second)};
      behind_releases_.try_emplace({launch_, place}, written);
    }
  }
}

vgpu::CodePlace SignalsOfKernels::place_of(const vgpu::Access& access, unsigned lane,
                                           std::uint32_t pc) const {
  const vgpu::ThreadId who = vgpu::thread_of(access.place, lane);
  return {access.program, pc, grid_.position_of(who.block), block_.position_of(who.thread)};
}

const vgpu::CodePlace* SignalsOfKernels::place_in(const Places& places, std::uint32_t launch,
                                                  const vgpu::Allocation& allocation,
                                                  std::uint32_t offset, std::uint32_t bytes) {
  const auto found = places.lower_bound({launch, Word{allocation.id, offset / 4}});
  const Word last{allocation.id, (offset + std::max(bytes, 1u) - 1) / 4};
  const bool is_there =
      found != places.end() && found->first.first == launch && found->first.second <= last;
  return is_there ? &found->second : nullptr;
}

bool SignalsOfKernels::has(const Key& key, std::uint32_t offset, std::uint32_t bytes) const {
  const auto found = places_.find(key);
  if (found == places_.end()) return false;
  if (found->second.size() >= kPlacesMax) return true;
  const auto place = found->second.lower_bound(offset / 4);
  return place != found->second.end() && *place <= (offset + std::max(bytes, 1u) - 1) / 4;
}

}  // namespace warpcheck::cudart
