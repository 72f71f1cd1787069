// A launch that several machines run: the state that the parts share.
#include <mutex>

#include "vgpu/machine/block_share.hpp"
#include "vgpu/machine/undefined/unwritten_memory.hpp"

namespace warpcheck::vgpu {

void UnwrittenMemory::begin_parts() {
  common_.first_written.clear();
  common_.shapes_before = shapes_;
}

void UnwrittenMemory::end_parts(PartsEnd end) {
  if (end == PartsEnd::kept) return;
  if (end == PartsEnd::undone) shapes_ = common_.shapes_before;
  for (MemoryShadow* const shadow : common_.first_written) shadow->begin(shadow->bytes());
}

void UnwrittenMemory::join(UnwrittenMemory& whole, SharedGrid& grid) {
  whole_ = &whole;
  grid_ = &grid;
  const std::lock_guard lock(whole_->common_.mutex);  // other parts may already run
  shapes_ = whole_->shapes_;
}

MemoryShadow* UnwrittenMemory::states_of(const Allocation& allocation) {
  if (allocation.id >= shadows_.size()) return nullptr;
  MemoryShadow& shadow = shadows_[allocation.id];
  return shadow.has_states() ? &shadow : nullptr;
}

MemoryShadow& UnwrittenMemory::shadow_of_part(const Allocation& allocation) {
  const bool is_own =
      allocation.space == ptx::Space::shared || allocation.space == ptx::Space::local;
  const auto is_there = [&](const std::vector<MemoryShadow>& shadows) {
    return allocation.id < shadows.size() && shadows[allocation.id].bytes() == allocation.bytes;
  };
  if (!is_own && is_there(whole_->shadows_)) return whole_->shadows_[allocation.id];
  if (!is_own) grid_->give_up();
  return is_there(shadows_) ? shadows_[allocation.id] : begin_shadow(allocation);
}

void UnwrittenMemory::make_states(const Allocation& allocation, MemoryShadow& shadow) {
  if (shadow.has_states()) return;
  if (whole_ == nullptr || allocation.space != ptx::Space::global) return shadow.make_states();
  const std::lock_guard lock(whole_->common_.mutex);
  if (shadow.extent() == MemoryShadow::Extent::none) {
    whole_->common_.first_written.push_back(&shadow);
  }
  shadow.make_states();
}

void UnwrittenMemory::define_in_part(const HostAccess& access, MemoryShadow& shadow) {
  if (shadow.extent() == MemoryShadow::Extent::all) return;
  make_states(*access.allocation, shadow);
  shadow.set(access.offset, access.bytes, MemoryShadow::kDefined);
}

void UnwrittenMemory::copy_in_part(const DeviceCopy& copy) {
  MemoryShadow &source = shadow_of(*copy.source), &target = shadow_of(*copy.target);
  const std::uint32_t end = copy.source_offset + copy.bytes;
  if (source.find_undefined(copy.source_offset, end) != end) return grid_->give_up();
  make_states(*copy.target, target);
  for (std::uint32_t i = 0; i < copy.bytes; ++i) {
    target.set(copy.target_offset + i, 1, source.raw_state_at(copy.source_offset + i));
  }
}

// Shapes are numbered in the order in which they occur.  The numbers themselves do not matter, as
// long as there are enough.
std::uint8_t UnwrittenMemory::state_for(const Access& access) {
  if (whole_ == nullptr || shapes_.knows(access)) return shapes_.state_for(access);
  const std::lock_guard lock(whole_->common_.mutex);
  const std::uint8_t state = whole_->shapes_.state_for(access);
  shapes_ = whole_->shapes_;
  if (shapes_.is_full()) grid_->give_up();
  return state;
}

}  // namespace warpcheck::vgpu
