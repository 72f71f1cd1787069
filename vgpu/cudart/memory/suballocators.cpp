#include "vgpu/cudart/memory/suballocators.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace warpcheck::cudart {
namespace {

using Use = vgpu::Regions::Use;

bool contains(const vgpu::Allocation& object, Suballocators::Range range) {
  return object.contains(range.address, range.bytes);
}

Suballocators::Range range_of(const vgpu::Allocation& object) {
  return {object.address, object.bytes};
}

bool is_in(const vgpu::Allocation& one, const vgpu::Allocation& object) {
  const vgpu::Allocation* at = one.pool;
  while (at != nullptr && at != &object) at = at->pool;
  return at != nullptr;
}

vgpu::Regions& regions_of(vgpu::Allocation& allocation) {
  if (allocation.regions == nullptr) {
    allocation.regions = std::make_shared<vgpu::Regions>(allocation);
  }
  return *allocation.regions;
}

}  // namespace

// ---- bytes ----

bool Suballocators::for_each_allocation(vgpu::DeviceMemory& memory, Range range,
                                        const Visit& visit) {
  const std::uint64_t end = range.address + range.bytes;
  for (std::uint64_t at = range.address; at < end;) {
    vgpu::Allocation* const found = memory.find(at);
    if (found == nullptr) return false;
    const std::uint64_t stop = std::min(end, found->address + found->bytes);
    visit(*found, at - found->address, stop - found->address);
    at = stop;
  }
  return range.bytes != 0;
}

// Returns a view of the bytes; nullptr: some are in no allocation.
Suballocators::Object Suballocators::make(vgpu::DeviceMemory& memory, Range range,
                                          std::string name) {
  Object object;
  const bool is_memory =
      range.address + range.bytes >= range.address &&
      for_each_allocation(memory, range,
                          [&](vgpu::Allocation& allocation, std::uint64_t begin, std::uint64_t) {
                            if (object != nullptr) return;
                            object = std::make_shared<vgpu::Allocation>();
                            object->id = allocation.id;
                            object->space = allocation.space;
                            object->device = allocation.device;
                            object->data = allocation.data + begin;
                          });
  if (!is_memory) return nullptr;
  object->address = range.address;
  object->bytes = range.bytes;
  object->name = std::move(name);
  object->is_region = true;
  return object;
}

void Suballocators::set(vgpu::DeviceMemory& memory, Range range, Use use, const Object& object) {
  for_each_allocation(memory, range,
                      [&](vgpu::Allocation& allocation, std::uint64_t begin, std::uint64_t end) {
                        regions_of(allocation).set(begin, end, use, object);
                      });
}

// ---- heaps ----

// Returns the latest heap at the address that contains the range; nullptr: there is none.
Suballocators::Heap* Suballocators::find_heap(std::uint64_t handle, Range inside) {
  const auto found = std::find_if(heaps_.rbegin(), heaps_.rend(), [&](const Heap& heap) {
    return heap.object->address == handle && contains(*heap.object, inside);
  });
  return found == heaps_.rend() ? nullptr : &*found;
}

bool Suballocators::add_heap(vgpu::DeviceMemory& memory, Range range, bool hands_out,
                             std::string name) {
  const Object heap = make(memory, range, std::move(name));
  if (heap == nullptr) return false;
  // A region may be a heap itself.
  const vgpu::Allocation* const around = memory.object_at(range.address);
  if (around != nullptr && around->is_region && contains(*around, range)) heap->pool = around;
  heap->is_pool = true;
  heaps_.push_back({heap, hands_out});
  all_heaps_.push_back(heap);
  if (hands_out) set(memory, range, Use::unused, heap);
  return true;
}

bool Suballocators::end_heap(vgpu::DeviceMemory& memory, std::uint64_t handle, const Ended& ended) {
  Heap* const found = find_heap(handle, {handle, 0});
  if (found == nullptr) return false;
  const Heap heap = *found;
  heaps_.erase(heaps_.begin() + (found - heaps_.data()));
  end_inside(memory, *heap.object, ended);
  heap.object->live = false;
  ended(*heap.object);
  if (heap.hands_out) set(memory, range_of(*heap.object), Use::gone, heap.object);
  return true;
}

bool Suballocators::reset_heap(vgpu::DeviceMemory& memory, std::uint64_t handle,
                               const Ended& ended) {
  if (handle == kProcessWide) {
    for (auto region = regions_.begin(); region != regions_.end();) {
      const auto next = std::next(region);
      if (region->second.object->pool == nullptr) {
        end_region(memory, {true, region->first}, ended);
      }
      region = next;
    }
    return true;
  }
  const Heap* const heap = find_heap(handle, {handle, 0});
  if (heap == nullptr) return false;
  const Object object = heap->object;
  end_inside(memory, *object, ended);
  return true;
}

// Ends all regions and heaps inside an object.
void Suballocators::end_inside(vgpu::DeviceMemory& memory, const vgpu::Allocation& object,
                               const Ended& ended) {
  std::erase_if(heaps_, [&](const Heap& heap) { return is_in(*heap.object, object); });
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, region] : regions_) {
    if (is_in(*region.object, object)) numbers.push_back(number);
  }
  for (const std::uint64_t number : numbers) {
    if (regions_.contains(number)) end_region(memory, {true, number}, ended);
  }
}

// ---- regions ----

Suballocators::Regions::iterator Suballocators::find_region(Reference reference) {
  if (reference.is_number) return regions_.find(reference.value);
  const auto behind = by_address_.upper_bound(reference.value);
  if (behind == by_address_.begin()) return regions_.end();
  const auto latest = std::prev(behind);
  return latest->first == reference.value ? regions_.find(latest->second) : regions_.end();
}

Suballocators::Added Suballocators::add_region(vgpu::DeviceMemory& memory, std::uint64_t handle,
                                               Range range) {
  const Heap* const heap = handle == kProcessWide ? nullptr : find_heap(handle, range);
  if (handle != kProcessWide && heap == nullptr) return {};
  const Object object = make(memory, range, {});
  if (object == nullptr) return {};
  const bool hands_out = heap != nullptr && heap->hands_out;
  if (heap != nullptr) object->pool = heap->object.get();
  regions_[++last_number_] = {object, hands_out};
  by_address_.emplace(range.address, last_number_);
  set(memory, range, hands_out ? Use::region : Use::plain, object);
  return {object.get(), last_number_, hands_out};
}

bool Suballocators::resize_region(vgpu::DeviceMemory& memory, Range range, Range& added) {
  added = {};
  const auto found = find_region({false, range.address});
  if (found == regions_.end()) return false;
  const Region& region = found->second;
  vgpu::Allocation& object = *region.object;
  const std::uint64_t old = object.bytes;
  if (range.bytes > old) {
    added = {object.address + old, range.bytes - old};
    if (make(memory, added, {}) == nullptr) return false;
    object.bytes = range.bytes;
    set(memory, added, region.hands_out ? Use::region : Use::plain, region.object);
    if (!region.hands_out) added = {};
  } else if (range.bytes < old) {
    const Range left{object.address + range.bytes, old - range.bytes};
    object.bytes = range.bytes;
    const auto heap = std::ranges::find_if(
        heaps_, [&](const Heap& one) { return one.object.get() == object.pool; });
    const bool is_of_pool = region.hands_out && heap != heaps_.end();
    set(memory, left, is_of_pool ? Use::unused : Use::plain, is_of_pool ? heap->object : nullptr);
  }
  return true;
}

// Takes it out of the tables; its object lives on for a while.
Suballocators::Regions::iterator Suballocators::drop(Regions::iterator region, const Ended& ended) {
  const Object object = region->second.object;
  object->live = false;
  ended(*object);
  const auto [first, last] = by_address_.equal_range(object->address);
  by_address_.erase(
      std::find_if(first, last, [&](const auto& one) { return one.second == region->first; }));
  gone_.push_back(object);
  if (gone_.size() > kGoneMin) gone_.pop_front();
  return regions_.erase(region);
}

bool Suballocators::end_region(vgpu::DeviceMemory& memory, Reference reference,
                               const Ended& ended) {
  const auto found = find_region(reference);
  if (found == regions_.end()) return false;
  const Region region = found->second;
  drop(found, ended);
  end_inside(memory, *region.object, ended);
  const Object left = region.hands_out ? region.object : nullptr;
  for_each_allocation(memory, range_of(*region.object),
                      [&](vgpu::Allocation& allocation, std::uint64_t, std::uint64_t) {
                        if (allocation.regions == nullptr) return;
                        allocation.regions->replace(
                            *region.object, region.hands_out ? Use::gone : Use::plain, left);
                      });
  return true;
}

const vgpu::Allocation* Suballocators::find(vgpu::DeviceMemory& memory, Reference reference) const {
  const auto region = const_cast<Suballocators*>(this)->find_region(reference);
  if (region != regions_.end()) return region->second.object.get();
  if (reference.is_number) return nullptr;
  const vgpu::Allocation* const found = memory.find(reference.value);
  return found != nullptr && found->address == reference.value ? found : nullptr;
}

const vgpu::Allocation* Suballocators::find_gone(vgpu::DeviceMemory& memory,
                                                 std::uint64_t address) {
  const vgpu::Allocation* const found = memory.find(address);
  if (found == nullptr || found->regions == nullptr) return nullptr;
  const vgpu::Regions::Window window = found->regions->at(address - found->address);
  const bool is_gone = window.use == Use::gone && window.object->address == address;
  return is_gone ? window.object : nullptr;
}

bool Suballocators::name(vgpu::DeviceMemory& memory, Reference reference, std::string name) {
  const auto region = find_region(reference);
  if (region != regions_.end()) {
    region->second.object->name = std::move(name);
    return true;
  }
  if (reference.is_number) return false;
  if (const Heap* const heap = find_heap(reference.value, {reference.value, 0})) {
    heap->object->name = std::move(name);
    return true;
  }
  const vgpu::Allocation* const found = find(memory, reference);
  if (found == nullptr || found->regions != nullptr) return false;
  set(memory, range_of(*found), Use::plain, make(memory, range_of(*found), std::move(name)));
  return true;
}

std::vector<const vgpu::Allocation*> Suballocators::handed_out() const {
  std::vector<const vgpu::Allocation*> all;
  for (const auto& [address, number] : by_address_) {
    const Region& region = regions_.at(number);
    if (region.hands_out) all.push_back(region.object.get());
  }
  return all;
}

void Suballocators::forget(const vgpu::Allocation& allocation, const Ended& ended) {
  if (allocation.regions == nullptr) return;
  const auto is_there = [&](const Object& object) {
    return object->address < allocation.address + allocation.bytes &&
           allocation.address < object->address + object->bytes;
  };
  std::erase_if(heaps_, [&](const Heap& heap) { return is_there(heap.object); });
  for (auto region = regions_.begin(); region != regions_.end();) {
    region = is_there(region->second.object) ? drop(region, ended) : std::next(region);
  }
}

}  // namespace warpcheck::cudart
