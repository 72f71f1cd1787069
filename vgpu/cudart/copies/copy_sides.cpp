#include "vgpu/cudart/copies/copy_sides.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>

namespace warpcheck::cudart {
namespace {

// Returns the bytes from the first of the first row to the last of the last row; nothing on
// overflow.
std::optional<std::size_t> extent_of(const Box& box, const Place& place) {
  std::size_t slices = 0, rows = 0, bytes = 0;
  if (__builtin_mul_overflow(box.depth - 1, place.slice, &slices)) return std::nullopt;
  if (__builtin_mul_overflow(box.height - 1, place.pitch, &rows)) return std::nullopt;
  if (__builtin_add_overflow(slices, rows, &bytes)) return std::nullopt;
  if (__builtin_add_overflow(bytes, box.width, &bytes)) return std::nullopt;
  return bytes;
}

}  // namespace

std::optional<Direction> CopySides::direction_of(const void* target, const void* source,
                                                 int kind) const {
  const auto where = [&](const void* pointer) {
    return allocations_.owns(pointer) && !is_page_locked(pointer) ? Where::device : Where::host;
  };
  switch (kind) {
    case cudaMemcpyHostToDevice: return Direction{Where::device, Where::host};
    case cudaMemcpyDeviceToHost: return Direction{Where::host, Where::device};
    case cudaMemcpyDeviceToDevice: return Direction{Where::device, Where::device};
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault: return Direction{where(target), where(source)};
  }
  return std::nullopt;
}

bool CopySides::is_managed(const void* pointer) const {
  const vgpu::Allocation* const found = allocations_.find(pointer);
  return found != nullptr && found->managed;
}

std::size_t CopySides::bytes_of_one_mapping(const void* pointer, std::size_t bytes) const {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  if (address < vgpu::kVirtualBase || address >= vgpu::kVirtualEnd) return bytes;
  const vgpu::Allocation* const found = allocations_.find(pointer);
  if (found == nullptr || !found->of_virtual) return bytes;
  const std::uint64_t end = found->address + found->bytes;
  const std::size_t left = end - reinterpret_cast<std::uint64_t>(pointer);
  const bool is_followed = allocations_.find(reinterpret_cast<const void*>(end)) != nullptr;
  return is_followed ? std::min(bytes, left) : bytes;
}

std::optional<CopySide> CopySides::at(std::string_view call, const Place& place, Where where,
                                      const Box& box, bool write) {
  const std::optional<std::size_t> extent = extent_of(box, place);
  if (place.pointer == nullptr || !extent) return std::nullopt;
  if (where == Where::device || is_managed(place.pointer)) {
    const std::optional<DeviceRange> range =
        allocations_.range_at(call, place.pointer, *extent, write);
    if (!range) return std::nullopt;
    return CopySide{range->data(), place.pitch, place.slice, *range, true};
  }
  return in_host_memory(place, *extent);
}

std::optional<CopySide> CopySides::find(const Place& place, Where where, const Box& box) const {
  const std::optional<std::size_t> extent = extent_of(box, place);
  if (place.pointer == nullptr || !extent) return std::nullopt;
  if (where == Where::host && !is_managed(place.pointer)) return in_host_memory(place, *extent);
  vgpu::Allocation* const found = allocations_.find(place.pointer);
  const auto address = reinterpret_cast<std::uint64_t>(place.pointer);
  const bool is_fine = found != nullptr && !found->on_heap() &&
                       !(found->of_virtual && found->open_to == 0) &&
                       found->contains(address, *extent);
  if (!is_fine) return std::nullopt;
  const DeviceRange range{found, address - found->address};
  return CopySide{range.data(), place.pitch, place.slice, range, true};
}

std::optional<CopySide> CopySides::in_host_memory(const Place& place, std::size_t extent) const {
  if (const HostBlock* const block = host_blocks_.find(place.pointer)) {
    if (extent > block->bytes - block->offset_of(place.pointer)) return std::nullopt;
    if (!block->registered && block->allocation != nullptr) {
      const DeviceRange range{block->allocation, block->offset_of(place.pointer)};
      return CopySide{range.data(), place.pitch, place.slice, range, false};
    }
  } else if (allocations_.owns(place.pointer)) {
    return std::nullopt;
  }
  return CopySide{static_cast<std::byte*>(place.pointer), place.pitch, place.slice, {}, false};
}

}  // namespace warpcheck::cudart
