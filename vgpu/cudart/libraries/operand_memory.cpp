#include "vgpu/cudart/libraries/operand_memory.hpp"

#include <algorithm>
#include <cstring>

#include "vgpu/cudart/device/findings.hpp"
#include "vgpu/cudart/memory/allocations.hpp"

namespace warpcheck::cudart {
namespace {

// The limit for the size of operands that are not entirely in memory.
constexpr std::uint64_t kSpareBytesMax = std::uint64_t{1} << 30;

// Returns the number of elements up to the end of the row that ends last.
std::int64_t reach_of(const LibraryRegion& region) {
  return region.shape.reach(region.width, region.height);
}
// Returns that of the last row, unless rows overlap.
std::int64_t last_reach_of(const LibraryRegion& region) {
  const std::int64_t reach = reach_of(region);
  return region.pitch / std::int64_t{region.element_bytes} < reach
             ? reach
             : region.shape.of_row(region.width, region.height - 1).end;
}

// Returns nothing on overflow.
std::optional<std::uint64_t> extent_of(const LibraryRegion& region) {
  std::int64_t slices = 0, rows = 0, reach = 0, bytes = 0;
  if (__builtin_mul_overflow(region.depth - 1, region.slice, &slices) ||
      __builtin_mul_overflow(region.height - 1, region.pitch, &rows) ||
      __builtin_mul_overflow(last_reach_of(region), std::int64_t{region.element_bytes}, &reach) ||
      __builtin_add_overflow(slices, rows, &bytes) ||
      __builtin_add_overflow(bytes, reach, &bytes) || bytes < 0) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace

OperandMemory::OperandMemory(LibraryCall::Operand operand, Allocations& allocations,
                             Findings& findings)
    : operand_(std::move(operand)) {
  const LibraryRegion& all = operand_.region;
  if (all.height <= 0 || all.depth <= 0 || reach_of(all) <= 0) {
    operand_.region.height = operand_.region.depth = 0;
    return;
  }
  extent_ = extent_of(all);
  if (all.on_host) {
    find_on_host(allocations, findings);
  } else {
    find_on_device(allocations, findings);
  }
}

void OperandMemory::find_on_host(const Allocations& allocations, Findings& findings) {
  const LibraryRegion& all = operand_.region;
  const vgpu::Allocation* const near = allocations.nearest(all.pointer);
  if (near != nullptr && !near->managed && !near->page_locked) {
    findings.add(vgpu::host_operand_on_device(*operand_.reported_as, all.writes));
    make_spare();
    return;
  }
  view_ = {static_cast<std::byte*>(all.pointer), all.pitch, all.slice};
}

void OperandMemory::find_on_device(Allocations& allocations, Findings& findings) {
  const LibraryRegion& all = operand_.region;
  allocation_ = allocations.find(all.pointer);
  if (allocation_ != nullptr) {
    offset_ = address() - allocation_->address;
    pieces_ = {{allocation_, -static_cast<std::int64_t>(offset_)}};
    require_alignment(findings);
    if (extent_ && Allocations::may_use(*allocation_, address(), *extent_)) {
      view_ = {allocation_->data + offset_, all.pitch, all.slice};
      return;
    }
    is_across_mappings_ = allocation_->regions == nullptr && find_mappings_beside(allocations);
    if (is_across_mappings_) return make_spare();
  }
  const vgpu::Allocation* near = allocations.nearest(all.pointer);
  if (allocation_ != nullptr) near = &Allocations::object_for(*allocation_, address());
  const bool writes = all.writes && !all.reads;
  const std::uint64_t bytes = extent_.value_or(UINT64_MAX);
  if (near == nullptr) {
    vgpu::Finding finding =
        vgpu::operand_on_host(*operand_.reported_as, writes, all.pointer == nullptr);
    if (all.pointer == nullptr) finding.cause = findings.mishaps().of_pointer_to_nothing();
    findings.add(std::move(finding));
  } else if (!near->live && address() - near->address < near->bytes) {
    vgpu::Finding finding = vgpu::operand_of_freed(*operand_.reported_as, writes, address(), bytes,
                                                   *near, findings.mishaps().place_of_free(*near));
    finding.cause = findings.mishaps().of_use_after_free(*near);
    findings.add(std::move(finding));
  } else {
    findings.add(
        vgpu::operand_out_of_bounds(*operand_.reported_as, writes, address(), bytes, near));
  }
  make_spare();
}

// Adds the mappings of virtual memory that follow without a gap; returns whether the operand is
// inside all of them.  Their bytes are in different places of the host, so the function gets a
// copy.
bool OperandMemory::find_mappings_beside(const Allocations& allocations) {
  if (!extent_) return false;
  const std::uint64_t end = address() + *extent_;
  while (pieces_.back().allocation->of_virtual) {
    const vgpu::Allocation& last = *pieces_.back().allocation;
    const std::uint64_t next = last.address + last.bytes;
    if (next >= end) return true;
    vgpu::Allocation* const found = allocations.find(reinterpret_cast<const void*>(next));
    if (found == nullptr || !found->of_virtual) return false;
    pieces_.push_back({found, static_cast<std::int64_t>(next - address())});
  }
  return false;
}

void OperandMemory::require_alignment(Findings& findings) const {
  const std::uint32_t element = operand_.region.element_bytes;
  if ((element & (element - 1)) != 0 || address() % element == 0) return;
  findings.add(vgpu::operand_misaligned(*operand_.reported_as, operand_.region.writes, *allocation_,
                                        offset_, element));
}

// Fills a buffer with zeros, and with the bytes of the operand that are in memory.
void OperandMemory::make_spare() {
  const LibraryRegion& all = operand_.region;
  std::uint64_t bytes = 0;
  // If rows are clipped, this is the width of the box.
  const std::int64_t pitch =
      (all.shape.is_cut() ? all.shape.limit : reach_of(all)) * std::int64_t{all.element_bytes};
  if (!extent_ || __builtin_mul_overflow(static_cast<std::uint64_t>(pitch), all.height, &bytes) ||
      __builtin_mul_overflow(bytes, all.depth, &bytes) ||
      (bytes > kSpareBytesMax && !is_across_mappings_)) {
    is_impossible_ = true;
    return;
  }
  spare_.resize(bytes);
  view_ = {spare_.data(), pitch, pitch * all.height};
  for_each_row_on_device(
      [](const Row& row) { std::memcpy(row.data, row.allocation->data + row.offset, row.bytes); });
}

void OperandMemory::bring_back() const {
  if (spare_.empty()) return;
  for_each_row_on_device(
      [](const Row& row) { std::memcpy(row.allocation->data + row.offset, row.data, row.bytes); });
}

std::vector<Rows> OperandMemory::rows() const {
  std::vector<Rows> pieces;
  if (is_across_mappings_) {
    for_each_row_on_device([&](const Row& row) {
      Rows* const last = pieces.empty() ? nullptr : &pieces.back();
      if (last != nullptr && last->allocation == row.allocation &&
          last->offset + last->box.width == row.offset) {
        last->box.width += row.bytes;
      } else {
        pieces.push_back({row.allocation, row.offset, 0, 0, {row.bytes}});
      }
    });
    return pieces;
  }
  if (allocation_ == nullptr || !spare_.empty() || view_.data == nullptr) return pieces;
  const LibraryRegion& all = operand_.region;
  const std::int64_t element = all.element_bytes;
  Rows rows{allocation_, offset_, static_cast<std::size_t>(all.pitch),
            static_cast<std::size_t>(all.slice),
            Box{static_cast<std::size_t>(all.width * element), static_cast<std::size_t>(all.height),
                static_cast<std::size_t>(all.depth)}};
  rows.shape = all.shape.in_bytes(element);
  return {rows};
}

}  // namespace warpcheck::cudart
