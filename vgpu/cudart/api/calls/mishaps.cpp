#include "vgpu/cudart/api/calls/mishaps.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "vgpu/cudart/api/calls/call_place.hpp"

namespace warpcheck::cudart {

vgpu::HostPlace Mishaps::place_of_call(const void* return_address) {
  if (return_address == nullptr) return {};
  CallPlace place = place_of(callers_from(return_address));
  return {.file = std::move(place.file), .line = place.line, .code = std::move(place.code)};
}

namespace {

// Returns whether the call returns a pointer that kernels use.
bool gives_pointer(std::string_view call) {
  return call.starts_with("cudaMalloc") || call.starts_with("cudaHostAlloc") ||
         call.starts_with("cudaHostGetDevicePointer") || call.starts_with("cudaGetSymbolAddress");
}

// Returns whether the call launches; functions of libraries count too (cublas..., cufft...).
bool is_launch(std::string_view call) {
  if (call.starts_with("cu") && !call.starts_with("cuda")) return true;
  return call.starts_with("cudaLaunch") || call.starts_with("__cudaLaunch") ||
         call.starts_with("cudaGraphLaunch");
}

}  // namespace

void Mishaps::clear() {
  freed_at_.clear();
  memory_calls_.clear();
  performing_ = nullptr;
  if (calls_ != 0 || !failures_.empty()) *this = {};
}

void Mishaps::allocated(const vgpu::Allocation& allocation) {
  if (performing_ != nullptr) memory_calls_.allocated(allocation, callers_from(performing_));
}

void Mishaps::free_requested(const vgpu::Allocation& allocation) {
  if (performing_ != nullptr) memory_calls_.freed(allocation, callers_from(performing_));
}

void Mishaps::freed(const vgpu::Allocation& allocation) {
  freed_at_.emplace_back(&allocation, calls_);
  free_requested(allocation);
}

void Mishaps::add(std::string_view call, const std::string& key, const vgpu::Allocation* target) {
  ++calls_;
  const std::string& what = failures_[key].text;
  if (target != nullptr) writes_[target] = what;
  if (is_launch(call)) last_launch_ = what;
  if (!gives_pointer(call)) return;
  ++allocations_;
  last_allocation_at_ = calls_;
  last_allocation_ = what;
  if (allocations_ == 1) first_allocation_ = what;
}

std::string Mishaps::of_pointer_to_nothing() const {
  if (allocations_ < 2) return first_allocation_;
  return fmt::format("{} (the first of {} such calls)", first_allocation_, allocations_);
}

std::string Mishaps::of_use_after_free(const vgpu::Allocation& allocation) const {
  const auto freed = std::find_if(freed_at_.rbegin(), freed_at_.rend(),
                                  [&](const auto& one) { return one.first == &allocation; });
  const bool is_later = freed != freed_at_.rend() && freed->second < last_allocation_at_;
  return is_later ? last_allocation_ : std::string();
}

std::string Mishaps::of_unwritten(const vgpu::Allocation& allocation) const {
  const auto write = writes_.find(&allocation);
  return write != writes_.end() ? write->second : last_launch_;
}

}  // namespace warpcheck::cudart
