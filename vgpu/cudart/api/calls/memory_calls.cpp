#include "vgpu/cudart/api/calls/memory_calls.hpp"

#include <utility>

#include "vgpu/cudart/api/calls/call_place.hpp"

namespace warpcheck::cudart {

void MemoryCalls::allocated(const vgpu::Allocation& allocation, Callers callers) {
  calls_[&allocation] = {.allocated = keep(std::move(callers))};
}

void MemoryCalls::freed(const vgpu::Allocation& allocation, Callers callers) {
  Calls& calls = calls_[&allocation];
  if (calls.freed == nullptr) calls.freed = keep(std::move(callers));
}

void MemoryCalls::clear() {
  calls_.clear();
  places_.clear();
  callers_.clear();
}

bool MemoryCalls::has_allocated(const vgpu::Allocation& allocation) const {
  return calls_of(allocation).allocated != nullptr;
}

vgpu::HostPlace MemoryCalls::place_of_allocation(const vgpu::Allocation& allocation) const {
  return place_at(calls_of(allocation).allocated);
}

vgpu::HostPlace MemoryCalls::place_of_free(const vgpu::Allocation& allocation) const {
  return place_at(calls_of(allocation).freed);
}

MemoryCalls::Calls MemoryCalls::calls_of(const vgpu::Allocation& allocation) const {
  const auto found = calls_.find(&allocation.object());
  return found == calls_.end() ? Calls{} : found->second;
}

vgpu::HostPlace MemoryCalls::place_at(const Callers* callers) const {
  if (callers == nullptr) return {};
  const auto [known, is_new] = places_.try_emplace(callers);
  if (is_new) {
    CallPlace place = place_of(*callers);
    known->second = {
        .file = std::move(place.file), .line = place.line, .code = std::move(place.code)};
  }
  return known->second;
}

}  // namespace warpcheck::cudart
