#include "vgpu/cudart/memory/allocations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <vector>

#include "vgpu/check/bounds.hpp"
#include "vgpu/check/lifetime.hpp"
#include "vgpu/cudart/api/calls/call_log.hpp"
#include "vgpu/cudart/device/findings.hpp"
#include "vgpu/cudart/device/observers.hpp"
#include "vgpu/program/refusal.hpp"

namespace warpcheck::cudart {
namespace {

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

// Unique numbers, so that state kept for a reset device is never used for another one.
std::uint64_t next_generation() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

const vgpu::Allocation& Allocations::object_for(const vgpu::Allocation& allocation,
                                                std::uint64_t address) {
  if (allocation.regions == nullptr) return allocation;
  const std::uint64_t offset = address - allocation.address;
  const vgpu::Regions::Window window = allocation.regions->at(offset);
  const vgpu::Allocation* object = window.object;
  if (window.use == vgpu::Regions::Use::unused) {
    const vgpu::Allocation* const closest = allocation.regions->closest(offset);
    if (closest != nullptr) object = closest;
  }
  return object == nullptr ? allocation : *object;
}

bool Allocations::may_use(const vgpu::Allocation& allocation, std::uint64_t address,
                          std::uint64_t bytes) {
  return allocation.contains(address, bytes) &&
         (allocation.regions == nullptr ||
          allocation.regions->has(address - allocation.address, bytes));
}

Allocations::Allocations(vgpu::DeviceMemory& memory, const Observers& observers, Findings& findings,
                         const CallRecording& recording, SharedAllocations& of_all, unsigned device)
    : memory_(memory),
      observers_(observers),
      findings_(findings),
      recording_(recording),
      of_all_(of_all),
      device_(device),
      generation_(next_generation()) {}

void Allocations::notify_allocated(const vgpu::Allocation& allocation) const {
  allocation.for_each_part([&](const vgpu::Allocation& part) {
    observers_.notify_of_memory([&](vgpu::Observer& observer) { observer.on_allocate(part); });
  });
}

void Allocations::notify_freed(const vgpu::Allocation& allocation) const {
  allocation.for_each_part([&](const vgpu::Allocation& part) {
    observers_.notify_of_memory([&](vgpu::Observer& observer) { observer.on_free(part); });
  });
}

vgpu::Allocation* Allocations::allocate(std::uint64_t bytes, ptx::Space space,
                                        std::string_view name) {
  vgpu::Allocation* const allocation = memory_.allocate(bytes, space, name, device_);
  if (allocation == nullptr) return nullptr;
  if (CallLog* const log = recording_.log()) log->allocate(allocation->address, bytes, name);
  if (name.empty()) findings_.mishaps().allocated(*allocation);
  notify_allocated(*allocation);
  return allocation;
}

vgpu::Allocation* Allocations::allocate_mapped(std::uint64_t bytes, std::string_view name) {
  vgpu::Allocation* const allocation = memory_.allocate_mapped(bytes, name, device_);
  if (allocation == nullptr) return nullptr;
  findings_.mishaps().allocated(*allocation);
  notify_allocated(*allocation);
  fill_from_host(*allocation);
  return allocation;
}

vgpu::Allocation* Allocations::allocate_unmapped(std::uint64_t bytes) {
  // The memory may be mapped at several addresses, but parts have only one.
  if (bytes > vgpu::kPartBytes && bytes <= memory_.capacity_bytes()) {
    throw vgpu::Refusal(
        fmt::format("memory to be mapped of {} bytes: it has {} bytes at most at once", bytes,
                    vgpu::kPartBytes));
  }
  vgpu::Allocation* const memory = memory_.allocate_unmapped(bytes, device_);
  if (memory == nullptr) return nullptr;
  observers_.notify_of_memory([&](vgpu::Observer& observer) { observer.on_allocate(*memory); });
  return memory;
}

void Allocations::free_unmapped(vgpu::Allocation& memory) {
  observers_.notify_of_memory([&](vgpu::Observer& observer) { observer.on_free(memory); });
  memory_.free_unmapped(memory);
}

void Allocations::free(vgpu::Allocation& allocation) {
  if (of_all_.of_graphs.has(allocation)) {
    of_all_.of_graphs.give_back(allocation);
    notify_allocated(allocation);
    return;
  }
  notify_freed(allocation);
  findings_.mishaps().freed(allocation);
  of_all_.permissions.forget(allocation);
  of_all_.suballocators.forget(
      allocation, [&](const vgpu::Allocation& region) { of_all_.permissions.forget(region); });
  memory_.free(&allocation);
}

void Allocations::free_later(const vgpu::Allocation& allocation) {
  of_all_.to_be_freed.insert(&allocation);
  findings_.mishaps().free_requested(allocation);
}

void Allocations::hand_out(const vgpu::Allocation& allocation, std::uint64_t offset,
                           std::uint64_t bytes) const {
  allocation.for_each_part(
      offset, bytes, [&](const vgpu::Allocation& part, std::uint32_t at, std::uint32_t count) {
        observers_.notify_of_memory(
            [&](vgpu::Observer& observer) { observer.on_hand_out(part, at, count); });
      });
}

void Allocations::written_by_host(const vgpu::Allocation& allocation, std::uint64_t offset,
                                  std::uint64_t bytes) const {
  allocation.for_each_part(
      offset, bytes, [&](const vgpu::Allocation& part, std::uint32_t at, std::uint32_t count) {
        const vgpu::HostAccess access{&part, at, count, true};
        observers_.notify_of_memory(
            [&](vgpu::Observer& observer) { observer.on_host_access(access); });
      });
}

void Allocations::fill_from_host(const vgpu::Allocation& allocation) const {
  written_by_host(allocation, 0, allocation.bytes);
}

vgpu::Allocation* Allocations::find(const void* pointer) const {
  const std::uint64_t address = address_of(pointer);
  vgpu::Allocation* const found = memory_.find(address);
  if (found != nullptr) return found;
  // Calls may name memory of a graph at any time: its next launch takes the memory again.
  const vgpu::Allocation* const nearest = memory_.nearest(address);
  const bool is_of_graph = nearest != nullptr && of_all_.of_graphs.has(*nearest) &&
                           address - nearest->address < nearest->bytes;
  return is_of_graph ? const_cast<vgpu::Allocation*>(nearest) : nullptr;
}

const vgpu::Allocation* Allocations::nearest(const void* pointer) const {
  const std::uint64_t address = address_of(pointer);
  const vgpu::Allocation* const closest = memory_.closest(address);
  if (closest == nullptr) return nullptr;
  const bool is_near = address < closest->address
                           ? closest->address - address <= vgpu::kRedZone
                           : address - closest->address <= closest->bytes + kOverrunBytesMax;
  return is_near ? closest : nullptr;
}

std::optional<DeviceRange> Allocations::range_at(std::string_view call, const void* pointer,
                                                 std::uint64_t bytes, bool write) {
  const std::uint64_t address = address_of(pointer);
  vgpu::Allocation* const found = memory_.find(address);
  const bool on_heap = found != nullptr && found->on_heap();
  if (found != nullptr && found->of_virtual && found->open_to == 0) {
    findings_.add(vgpu::host_copy_without_access(call, write, address, bytes, *found));
    return std::nullopt;
  }
  if (found != nullptr && !on_heap && may_use(*found, address, bytes)) {
    return DeviceRange{found, address - found->address};
  }
  const vgpu::Allocation* near = nearest(pointer);
  if (near == nullptr) return std::nullopt;
  if (found != nullptr && !on_heap) near = &object_for(*found, address);
  const bool freed = !near->live && address - near->address < near->bytes;
  findings_.add(freed     ? vgpu::host_copy_of_freed(call, write, address, bytes, *near,
                                                     findings_.mishaps().place_of_free(*near))
                : on_heap ? vgpu::host_copy_of_heap(call, write, address, bytes, *found)
                          : vgpu::host_copy_out_of_bounds(call, write, address, bytes, near));
  return std::nullopt;
}

void Allocations::report_what_is_left(const IsMeant& is_meant) const {
  std::vector<const vgpu::Allocation*> left;
  if (memory_.has_live()) left = memory_.live();
  std::erase_if(left, [&](const vgpu::Allocation* one) {
    if (is_meant && !is_meant(*one)) return true;
    // Registered memory is the host's, and objects of a trial's pair may free memory after it.
    const bool is_of_program =
        one->is_mapped() && findings_.mishaps().memory_calls().has_allocated(*one);
    const bool may_stay = one->page_locked && !is_of_program;
    return !one->name.empty() || may_stay || of_all_.of_graphs.is_unused(*one);
  });
  std::ranges::copy_if(
      of_all_.suballocators.handed_out(), std::back_inserter(left),
      [&](const vgpu::Allocation* region) { return !is_meant || is_meant(*region); });
  observers_.notify_of_trial_end([&](vgpu::Observer& observer) { observer.on_trial_end(left); });
}

void Allocations::notify_all_freed() const {
  for (const vgpu::Allocation* const allocation : memory_.live()) notify_freed(*allocation);
}

void Allocations::free_all() {
  for (const vgpu::Allocation* const allocation : memory_.live()) {
    const bool is_variable_of_all = allocation->managed && !allocation->name.empty();
    // Memory without an address is freed by the component that knows its mappings.
    const bool is_unmapped = allocation->address == 0;
    if (allocation->device != device_ || is_variable_of_all || is_unmapped) continue;
    free(*memory_.find(allocation->address));
  }
  begin_generation();
}

void Allocations::begin_generation() { generation_ = next_generation(); }

}  // namespace warpcheck::cudart
