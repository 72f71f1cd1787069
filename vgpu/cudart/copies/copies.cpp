#include "vgpu/cudart/copies/copies.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "vgpu/cudart/api/calls/api_call.hpp"
#include "vgpu/cudart/api/calls/call_log.hpp"
#include "vgpu/cudart/copies/copy_runner.hpp"
#include "vgpu/cudart/copies/copy_sides.hpp"
#include "vgpu/cudart/device/device.hpp"

namespace warpcheck::cudart {
namespace {

// Waits for kernels that have not run, because they may allocate and free this memory.
void wait_for_heap(Device& device, const void* pointer) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  if (address >= vgpu::kHeapBase && address < vgpu::kHeapEnd) device.execution().wait_for_all();
}

// Returns whether the slices and rows of a place do not overlap.
bool fits_in(const Box& box, const Place& place) {
  if (box.height > 1 && place.pitch < box.width) return false;
  return box.depth <= 1 || place.slice >= (box.height - 1) * place.pitch + box.width;
}

// Why a side is not where the operation wants it ("the source is a null pointer"); empty: it is
// there, and too short, which is a finding.
//   role: "target", "source"
std::string misplaced(Device& device, std::string_view role, const Place& place, Where wanted) {
  if (place.pointer == nullptr) return fmt::format("the {} is a null pointer", role);
  const bool on_device = device.copy_sides().is_of_device(place.pointer);
  if (on_device == (wanted == Where::device)) return {};
  return fmt::format("the {} is memory of the {}, and memory of the {} is wanted", role,
                     on_device ? "device" : "host", on_device ? "host" : "device");
}

cudaError_t no_copy_kind(Device& device, int kind) {
  return device.errors().because(cudaErrorInvalidMemcpyDirection,
                                 fmt::format("{} is no cudaMemcpyKind", kind));
}

cudaError_t too_short_pitch(Device& device, const Box& box, const Place& place) {
  return device.errors().because(
      cudaErrorInvalidPitchValue,
      fmt::format("{} rows of {} bytes, with pitch {} and {} bytes a slice", box.height, box.width,
                  place.pitch, place.slice));
}

// Also resolves both sides, unless the box is empty.
cudaError_t prepare(Device& device, CopyWork& work, CopyEnds& ends) {
  wait_for_heap(device, work.target.pointer);
  wait_for_heap(device, work.source.pointer);
  const std::optional<Direction> direction =
      device.copy_sides().direction_of(work.target.pointer, work.source.pointer, work.kind);
  if (!direction) return no_copy_kind(device, work.kind);
  work.target_in = direction->target;
  work.source_in = direction->source;
  if (work.box.bytes() == 0) return cudaSuccess;
  for (const Place& side : {work.target, work.source}) {
    if (!fits_in(work.box, side)) return too_short_pitch(device, work.box, side);
  }
  CopySides& sides = device.copy_sides();
  const auto source = sides.at(work.call, work.source, work.source_in, work.box, false);
  const auto target = sides.at(work.call, work.target, work.target_in, work.box, true);
  if (!source || !target) {
    if (CallLog* const log = device.recording().log()) record_copy(*log, work, false);
    std::string why = misplaced(device, "target", work.target, work.target_in);
    if (why.empty()) why = misplaced(device, "source", work.source, work.source_in);
    return device.errors().because(cudaErrorInvalidValue, std::move(why));
  }
  ends = {*target, *source};
  return cudaSuccess;
}

}  // namespace

void stage(CopyWork& work) {
  const Box& box = work.box;
  work.bytes.resize(box.bytes());
  for_each_row(box, [&](std::size_t slice, std::size_t row) {
    std::memcpy(work.bytes.data() + (slice * box.height + row) * box.width,
                row_of(work.source, slice, row), box.width);
  });
  work.staged = true;
}

// Its operation is one, also across mappings (CopyRunner::run()).
cudaError_t prepare(Device& device, CopyWork& work) {
  CopyEnds ends;
  const auto part = [&](const Place& to, const Place& from, const Box& box, std::size_t) {
    CopyWork one = part_of(work, to, from, box);
    return prepare(device, one, ends);
  };
  if (const auto error =
          in_mappings(device.copy_sides(), work.target, work.source, work.box, part)) {
    const std::optional<Direction> direction =
        device.copy_sides().direction_of(work.target.pointer, work.source.pointer, work.kind);
    if (!direction) return no_copy_kind(device, work.kind);
    work.target_in = direction->target;
    work.source_in = direction->source;
    return *error;
  }
  return prepare(device, work, ends);
}

cudaError_t copy(Device& device, std::string_view call, const Place& target, const Place& source,
                 const Box& box, int kind, Stream& stream, Waiting waiting) {
  const auto part = [&](const Place& to, const Place& from, const Box& one, std::size_t) {
    return copy(device, call, to, from, one, kind, stream, waiting);
  };
  if (const auto error = in_mappings(device.copy_sides(), target, source, box, part)) return *error;
  CopyWork work;
  work.call = reported_name(call);
  work.target = target;
  work.source = source;
  work.box = box;
  work.kind = kind;
  CopyEnds ends;
  const cudaError_t error = prepare(device, work, ends);
  if (error != cudaSuccess || box.bytes() == 0) return error;
  const CopySides& sides = device.copy_sides();
  const bool within_host = work.target_in == Where::host && work.source_in == Where::host;
  const bool within_device = work.target_in == Where::device && work.source_in == Where::device;
  work.host_waits = waiting == Waiting::until_done && stream.capture == nullptr;
  if (waiting == Waiting::until_done) {
    if (within_device) return device.execution().submit(stream, std::move(work), false);
    work.ends = &ends;
    if (const auto done = device.execution().run_at_once(stream, work)) return *done;
    work.ends = nullptr;
    return device.execution().submit(stream, std::move(work), true);
  }
  const bool waits = within_host || sides.is_pageable(work.target_in, target.pointer);
  if (!waits && stream.capture == nullptr && sides.is_pageable(work.source_in, source.pointer)) {
    stage(work);
  }
  work.host_waits = waits && stream.capture == nullptr;
  return device.execution().submit(stream, std::move(work), work.host_waits);
}

cudaError_t prepare(Device& device, FillWork& work) {
  if (work.box.bytes() == 0) return cudaSuccess;
  const auto part = [&](const Place& to, const Place&, const Box& box, std::size_t) {
    FillWork one = work;
    one.target = to;
    one.box = box;
    return prepare(device, one);
  };
  if (const auto error =
          in_mappings(device.copy_sides(), work.target, work.target, work.box, part)) {
    return *error;
  }
  wait_for_heap(device, work.target.pointer);
  const bool is_good =
      fits_in(work.box, work.target) &&
      device.copy_sides().at(work.call, work.target, Where::device, work.box, true);
  if (is_good) return cudaSuccess;
  return device.errors().because(cudaErrorInvalidValue,
                                 misplaced(device, "target", work.target, Where::device));
}

cudaError_t fill(Device& device, std::string_view call, const Place& target, std::uint32_t value,
                 const Box& box, Stream& stream, Waiting waiting, unsigned element_bytes) {
  const auto part = [&](const Place& to, const Place&, const Box& one, std::size_t) {
    return fill(device, call, to, value, one, stream, waiting, element_bytes);
  };
  if (const auto error = in_mappings(device.copy_sides(), target, target, box, part)) return *error;
  FillWork work;
  work.call = reported_name(call);
  work.target = target;
  work.box = box;
  work.value = value;
  work.element_bytes = element_bytes;
  if (box.bytes() == 0) return cudaSuccess;
  const cudaError_t error = prepare(device, work);
  if (error != cudaSuccess) {
    if (CallLog* const log = device.recording().log(); log != nullptr && fits_in(box, target)) {
      record_fill(*log, work);
    }
    return error;
  }
  const CopySides& sides = device.copy_sides();
  const bool is_of_host = sides.is_managed(target.pointer) || sides.is_page_locked(target.pointer);
  return device.execution().submit(stream, work, waiting == Waiting::until_done && is_of_host);
}

}  // namespace warpcheck::cudart
