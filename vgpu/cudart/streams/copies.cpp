#include "vgpu/cudart/streams/copies.hpp"

#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "vgpu/cudart/api/call_log.hpp"
#include "vgpu/cudart/device/virtual_gpu.hpp"

namespace warpcheck::cudart {
namespace {

// One side of a copy.
struct Side {
  std::byte* data = nullptr;  // host bytes of the first row
  std::size_t pitch = 0, slice = 0;
  DeviceRange range;  // of a device side
  bool on_device = false;

  [[nodiscard]] Rows rows(const Box& box) const {
    return {range.allocation, range.offset, pitch, slice, box};
  }
};

struct Direction {
  Where target, source;
};

// Page-locked memory is the host's, managed memory the device's.
std::optional<Direction> direction_of(Device& device, const void* target, const void* source,
                                      int kind) {
  const auto where = [&](const void* pointer) {
    return device.allocations().owns(pointer) && device.host_blocks().find(pointer) == nullptr
               ? Where::device
               : Where::host;
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

// Bytes from the first of the first row to the last of the last; nothing on overflow.
std::optional<std::size_t> extent_of(const Box& box, const Place& place) {
  std::size_t slices = 0, rows = 0, bytes = 0;
  if (__builtin_mul_overflow(box.depth - 1, place.slice, &slices)) return std::nullopt;
  if (__builtin_mul_overflow(box.height - 1, place.pitch, &rows)) return std::nullopt;
  if (__builtin_add_overflow(slices, rows, &bytes)) return std::nullopt;
  if (__builtin_add_overflow(bytes, box.width, &bytes)) return std::nullopt;
  return bytes;
}

// Kernels that have not run may allocate and free what lies there.
void wait_for_heap(Device& device, const void* pointer) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  if (address >= vgpu::kHeapBase && address < vgpu::kHeapEnd) device.wait_for_all();
}

bool is_managed(Device& device, const void* pointer) {
  const vgpu::Allocation* const found = device.allocations().find(pointer);
  return found != nullptr && found->managed;
}

// Nothing: cudaErrorInvalidValue.
std::optional<Side> side_at(Device& device, std::string_view call, const Place& place, Where where,
                            const Box& box, bool write) {
  const std::optional<std::size_t> extent = extent_of(box, place);
  if (place.pointer == nullptr || !extent) return std::nullopt;
  if (where == Where::device || is_managed(device, place.pointer)) {
    const std::optional<DeviceRange> range =
        device.allocations().range_at(call, place.pointer, *extent, write);
    if (!range) return std::nullopt;
    return Side{range->data(), place.pitch, place.slice, *range, true};
  }
  if (const HostBlock* const block = device.host_blocks().find(place.pointer)) {
    if (*extent > block->bytes - block->offset_of(place.pointer)) return std::nullopt;
  } else if (device.allocations().owns(place.pointer)) {
    return std::nullopt;
  }
  return Side{static_cast<std::byte*>(place.pointer), place.pitch, place.slice, {}, false};
}

template <typename Visit>
void for_each_row(const Box& box, Visit&& visit) {
  for (std::size_t slice = 0; slice < box.depth; ++slice) {
    for (std::size_t row = 0; row < box.height; ++row) visit(slice, row);
  }
}

std::byte* row_of(const Place& place, std::size_t slice, std::size_t row) {
  return static_cast<std::byte*>(place.pointer) + slice * place.slice + row * place.pitch;
}

// Row by row; `arrived` tells whether the bytes of a download are there.
void record_copy(CallLog& log, const CopyWork& work, bool arrived) {
  if (work.source.pointer == nullptr) return;
  for_each_row(work.box, [&](std::size_t slice, std::size_t row) {
    auto* const to = row_of(work.target, slice, row);
    const auto* const from = row_of(work.source, slice, row);
    const std::size_t width = work.box.width;
    if (work.source_in == Where::device && work.target_in == Where::device) {
      log.move(to, from, width);
    } else if (work.target_in == Where::device) {
      log.upload(to, {from, width});
    } else if (work.source_in == Where::device) {
      DownloadCall& call = log.download(from, width);
      if (arrived) call.bytes.assign(to, to + width);
    }
  });
}

// The slices and rows of a place must not run into each other.
bool fits_in(const Box& box, const Place& place) {
  if (box.height > 1 && place.pitch < box.width) return false;
  return box.depth <= 1 || place.slice >= (box.height - 1) * place.pitch + box.width;
}

bool is_pageable(Device& device, Where where, const void* pointer) {
  return where == Where::host && !is_managed(device, pointer) &&
         device.host_blocks().find(pointer) == nullptr;
}

void stage(CopyWork& work) {
  const Box& box = work.box;
  work.bytes.resize(box.bytes());
  for_each_row(box, [&](std::size_t slice, std::size_t row) {
    std::memcpy(work.bytes.data() + (slice * box.height + row) * box.width,
                row_of(work.source, slice, row), box.width);
  });
  work.staged = true;
}

}  // namespace

cudaError_t prepare(Device& device, CopyWork& work) {
  wait_for_heap(device, work.target.pointer);
  wait_for_heap(device, work.source.pointer);
  const std::optional<Direction> direction =
      direction_of(device, work.target.pointer, work.source.pointer, work.kind);
  if (!direction) return cudaErrorInvalidMemcpyDirection;
  work.target_in = direction->target;
  work.source_in = direction->source;
  if (work.box.bytes() == 0) return cudaSuccess;
  if (!fits_in(work.box, work.target) || !fits_in(work.box, work.source)) {
    return cudaErrorInvalidPitchValue;
  }
  const bool is_good =
      side_at(device, work.call, work.source, work.source_in, work.box, false).has_value();
  if (!side_at(device, work.call, work.target, work.target_in, work.box, true) || !is_good) {
    if (CallLog* const log = device.recording().log()) record_copy(*log, work, false);
    return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

cudaError_t copy(Device& device, std::string_view call, const Place& target, const Place& source,
                 const Box& box, int kind, Stream& stream, Waiting waiting) {
  CopyWork work;
  work.call = call;
  work.target = target;
  work.source = source;
  work.box = box;
  work.kind = kind;
  const cudaError_t error = prepare(device, work);
  if (error != cudaSuccess || box.bytes() == 0) return error;
  const bool within_host = work.target_in == Where::host && work.source_in == Where::host;
  const bool within_device = work.target_in == Where::device && work.source_in == Where::device;
  if (waiting == Waiting::until_done) {
    return device.submit(stream, std::move(work), !within_device);
  }
  const bool waits = within_host || is_pageable(device, work.target_in, target.pointer);
  if (!waits && stream.capture == nullptr && is_pageable(device, work.source_in, source.pointer)) {
    stage(work);
  }
  return device.submit(stream, std::move(work), waits && stream.capture == nullptr);
}

void run_copy(Device& device, const CopyWork& work, const Operation& operation) {
  Place source = work.source;
  std::optional<Side> from;
  if (work.staged) {
    auto* const bytes = const_cast<std::byte*>(work.bytes.data());
    from = Side{bytes, work.box.width, work.box.width * work.box.height, {}, false};
  } else {
    from = side_at(device, work.call, source, work.source_in, work.box, false);
  }
  const std::optional<Side> to =
      side_at(device, work.call, work.target, work.target_in, work.box, true);
  if (!from || !to) return;
  if (from->on_device && to->on_device) {
    device.device_copy(work.call, to->rows(work.box), from->rows(work.box), operation);
  } else if (from->on_device) {
    device.host_read(work.call, from->rows(work.box), operation);
  } else if (to->on_device) {
    const Brought brought{.from = Brought::From::host,
                          .host = work.source.pointer,
                          .pitch = work.source.pitch,
                          .slice = work.source.slice};
    device.host_write(work.call, to->rows(work.box), operation, brought,
                      {from->data, from->pitch, from->slice});
  }
  for_each_row(work.box, [&](std::size_t slice, std::size_t row) {
    std::memmove(to->data + slice * to->slice + row * to->pitch,
                 from->data + slice * from->slice + row * from->pitch, work.box.width);
  });
  if (from->on_device && work.target_in == Where::host) {
    device.tell_copy_to_host(work, to->data, to->pitch, to->slice, operation);
  }
  device.clock().spend_copy(work.box.bytes());
  if (CallLog* const log = device.recording().log()) record_copy(*log, work, true);
}

cudaError_t prepare(Device& device, FillWork& work) {
  if (work.box.bytes() == 0) return cudaSuccess;
  wait_for_heap(device, work.target.pointer);
  const bool is_good = fits_in(work.box, work.target) &&
                       side_at(device, work.call, work.target, Where::device, work.box, true);
  return is_good ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t fill(Device& device, std::string_view call, const Place& target, std::uint32_t value,
                 const Box& box, Stream& stream, Waiting waiting, unsigned element_bytes) {
  FillWork work;
  work.call = call;
  work.target = target;
  work.box = box;
  work.value = value;
  work.element_bytes = element_bytes;
  if (box.bytes() == 0) return cudaSuccess;
  const cudaError_t error = prepare(device, work);
  if (error != cudaSuccess) {
    if (CallLog* const log = device.recording().log(); log != nullptr && fits_in(box, target)) {
      for_each_row(box, [&](std::size_t slice, std::size_t row) {
        log->fill(row_of(target, slice, row), static_cast<int>(value), box.width);
      });
    }
    return error;
  }
  const bool is_of_host =
      is_managed(device, target.pointer) || device.host_blocks().find(target.pointer) != nullptr;
  return device.submit(stream, std::move(work), waiting == Waiting::until_done && is_of_host);
}

void run_fill(Device& device, const FillWork& work, const Operation& operation) {
  const std::optional<Side> to =
      side_at(device, work.call, work.target, Where::device, work.box, true);
  if (!to) return;
  device.host_write(
      work.call, to->rows(work.box), operation,
      {.from = Brought::From::value, .value = work.value, .element_bytes = work.element_bytes});
  for_each_row(work.box, [&](std::size_t slice, std::size_t row) {
    std::byte* const bytes = to->data + slice * to->slice + row * to->pitch;
    if (work.element_bytes == 1) {
      std::memset(bytes, static_cast<int>(work.value), work.box.width);
    } else {
      for (std::size_t at = 0; at < work.box.width; at += work.element_bytes) {
        std::memcpy(bytes + at, &work.value, work.element_bytes);
      }
    }
    if (CallLog* const log = device.recording().log()) {
      log->fill(row_of(work.target, slice, row), static_cast<int>(work.value), work.box.width);
    }
  });
  device.clock().spend_copy(work.box.bytes());
}

}  // namespace warpcheck::cudart
