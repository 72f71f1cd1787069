#include "vgpu/cudart/copies/copy_sides.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>

#include "vgpu/check/bounds.hpp"
#include "vgpu/cudart/copies/host_side_findings.hpp"
#include "vgpu/cudart/device/findings.hpp"
#include "vgpu/cudart/memory/host_pages.hpp"

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

HostDefect defect_of(HostGap gap, bool is_late) {
  if (is_late) return HostDefect::gone;
  if (gap == HostGap::read_only) return HostDefect::read_only;
  return gap == HostGap::barred ? HostDefect::barred : HostDefect::unmapped;
}

// Returns whether no page lies between two rows or slices.
bool is_dense(const CopySide& side, const Box& box) {
  const std::size_t slice = (box.height - 1) * side.pitch + box.width;
  return (box.height == 1 || side.pitch < box.width + kHostPageBytes) &&
         (box.depth == 1 || side.slice < slice + kHostPageBytes);
}

}  // namespace

struct CopySides::BadRow {
  HostRow row;
  HostGap gap = HostGap::none;
};

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
                                      const Box& box, bool write, bool is_late) {
  const std::optional<std::size_t> extent = extent_of(box, place);
  if (place.pointer == nullptr || !extent) return std::nullopt;
  if (where == Where::device || is_managed(place.pointer)) {
    const std::optional<DeviceRange> range =
        allocations_.range_at(call, place.pointer, *extent, write);
    if (!range) return std::nullopt;
    return CopySide{range->data(), place.pitch, place.slice, *range, true};
  }
  const std::optional<CopySide> side = in_host_memory(place, *extent);
  if (!side) {
    report_overrun(call, place, *extent, write);
    return std::nullopt;
  }
  if (const std::optional<BadRow> bad = find_bad_row(*side, box, write)) {
    findings_.add(
        host_memory_missing(call, write, box.bytes(), bad->row, defect_of(bad->gap, is_late)));
    return std::nullopt;
  }
  return side;
}

std::optional<CopySide> CopySides::find(const Place& place, Where where, const Box& box,
                                        bool write) const {
  const std::optional<std::size_t> extent = extent_of(box, place);
  if (place.pointer == nullptr || !extent) return std::nullopt;
  if (where == Where::host && !is_managed(place.pointer)) {
    const std::optional<CopySide> side = in_host_memory(place, *extent);
    return side && !find_bad_row(*side, box, write) ? side : std::nullopt;
  }
  vgpu::Allocation* const found = allocations_.find(place.pointer);
  const auto address = reinterpret_cast<std::uint64_t>(place.pointer);
  const bool is_fine = found != nullptr && !found->on_heap() &&
                       !(found->of_virtual && found->open_to == 0) &&
                       Allocations::may_use(*found, address, *extent);
  if (!is_fine) return std::nullopt;
  const DeviceRange range{found, address - found->address};
  return CopySide{range.data(), place.pitch, place.slice, range, true};
}

bool CopySides::is_of_program(Where where, const void* pointer) const {
  if (where != Where::host || is_managed(pointer)) return false;
  const HostBlock* const block = host_blocks_.find(pointer);
  return block == nullptr ? !allocations_.owns(pointer) : block->registered;
}

// Returns the first row of a side that is not wholly accessible.  Memory that the runtime has
// allocated always is.
std::optional<CopySides::BadRow> CopySides::find_bad_row(const CopySide& side, const Box& box,
                                                         bool write) const {
  if (!checks_host_memory_ || side.range.allocation != nullptr) return std::nullopt;
  if (is_dense(side, box)) {
    const std::size_t extent =
        (box.depth - 1) * side.slice + (box.height - 1) * side.pitch + box.width;
    if (accessible_on_host(side.data, extent, write).behind == HostGap::none) return std::nullopt;
  }
  for (std::size_t slice = 0; slice < box.depth; ++slice) {
    for (std::size_t row = 0; row < box.height; ++row) {
      const HostAccessible found = accessible_on_host(side.row(slice, row), box.width, write);
      if (found.behind != HostGap::none) return BadRow{{box.width, found.bytes}, found.behind};
    }
  }
  return std::nullopt;
}

// Memory that the runtime allocated for the host: it was freed, or the copy runs past its end.
void CopySides::report_overrun(std::string_view call, const Place& place, std::size_t extent,
                               bool write) {
  if (const HostBlock* const block = host_blocks_.find(place.pointer)) {
    if (block->registered) return;
    const auto address = reinterpret_cast<std::uint64_t>(place.pointer);
    findings_.add(vgpu::host_copy_out_of_bounds(call, write, address, extent, block->allocation));
    return;
  }
  const vgpu::Allocation* const near = allocations_.nearest(place.pointer);
  if (near == nullptr || !(near->page_locked || near->managed)) return;
  static_cast<void>(allocations_.range_at(call, place.pointer, extent, write));
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
