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

// Returns "cudaMemcpy at scale.cu:8 wrote bytes 0 to 299 of 1200 only; 1200 is 4 times as many:
// sizes of copies are in bytes".
std::string Mishaps::text_of(const ShortWrite& write, std::uint64_t all) {
  const vgpu::HostPlace place = place_of_call(write.return_address);
  const std::string at =
      place.file.empty()
          ? place.code
          : fmt::format("{}:{}", place.file.substr(place.file.rfind('/') + 1), place.line);
  std::string text = fmt::format("{}{}{} wrote bytes {} to {} of {} only", write.call,
                                 at.empty() ? "" : " at ", at, write.begin, write.end - 1, all);
  for (const std::uint64_t element : {2u, 4u, 8u, 16u}) {
    if (write.begin != 0 || write.end * element != all) continue;
    text += fmt::format("; {} is {} times as many: sizes of copies are in bytes", all, element);
  }
  return text;
}

void Mishaps::clear() {
  freed_at_.clear();
  short_writes_.clear();
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

void Mishaps::wrote(const vgpu::Allocation& allocation, std::string_view call, std::uint64_t begin,
                    std::uint64_t bytes) {
  const std::uint64_t end = begin + bytes;
  if (end >= allocation.bytes && !short_writes_.contains(&allocation)) return;
  ShortWrite& last = short_writes_[&allocation];
  if (end > last.end) last = {performing_, std::string(call), begin, end};
}

std::string Mishaps::of_unwritten(const vgpu::Allocation& allocation, std::uint32_t offset) const {
  const auto failed = writes_.find(&allocation);
  if (failed != writes_.end()) return failed->second;
  const vgpu::Allocation& whole = allocation.object();
  const auto write = short_writes_.find(&whole);
  if (write == short_writes_.end() || write->second.end > allocation.offset_in_object(offset)) {
    return allocation.space == ptx::Space::global ? last_launch_ : std::string();
  }
  return text_of(write->second, whole.bytes);
}

}  // namespace warpcheck::cudart
