#include "vgpu/cudart/copies.hpp"

#include <cstdint>
#include <cstring>
#include <optional>

#include "vgpu/cudart/call_log.hpp"
#include "vgpu/cudart/virtual_gpu.hpp"

namespace warpcheck::cudart {
namespace {

enum class Where : std::uint8_t { host, device };

// One side of a copy.
struct Side {
  std::byte* data = nullptr;  // host bytes of the first row
  std::size_t pitch = 0;
  DeviceRange range;  // of a device side
  bool on_device = false;
};

struct Direction {
  Where target, source;
};

std::optional<Direction> direction_of(const Device& device, const void* target, const void* source,
                                      int kind) {
  const auto where = [&](const void* pointer) {
    return device.owns(pointer) ? Where::device : Where::host;
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
std::optional<std::size_t> extent_of(const Rectangle& rectangle, std::size_t pitch) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(rectangle.height - 1, pitch, &bytes)) return std::nullopt;
  if (__builtin_add_overflow(bytes, rectangle.width, &bytes)) return std::nullopt;
  return bytes;
}

// Nothing: cudaErrorInvalidValue.
std::optional<Side> side_at(Device& device, std::string_view call, void* pointer, Where where,
                            const Rectangle& rectangle, std::size_t pitch, bool write) {
  const std::optional<std::size_t> extent = extent_of(rectangle, pitch);
  if (pointer == nullptr || !extent) return std::nullopt;
  if (where == Where::device) {
    const std::optional<DeviceRange> range = device.range_at(call, pointer, *extent, write);
    if (!range) return std::nullopt;
    return Side{range->data(), pitch, *range, true};
  }
  if (device.owns(pointer)) return std::nullopt;
  std::uintptr_t start = 0;
  if (const Device::HostBlock* block = device.find_host_block(pointer, &start)) {
    const std::size_t offset = reinterpret_cast<std::uintptr_t>(pointer) - start;
    if (*extent > block->bytes - offset) return std::nullopt;
  }
  return Side{static_cast<std::byte*>(pointer), pitch, {}, false};
}

// Tells the observers row by row.
void announce(Device& device, const Side& side, const Rectangle& rectangle, bool write) {
  if (!side.on_device) return;
  const auto width = static_cast<std::uint32_t>(rectangle.width);
  for (std::size_t row = 0; row < rectangle.height; ++row) {
    const auto offset = static_cast<std::uint32_t>(side.range.offset + row * side.pitch);
    if (write) {
      device.host_write(*side.range.allocation, offset, width);
    } else {
      device.host_read(*side.range.allocation, offset, width);
    }
  }
}

// Bytes that move within the device are copied, not used: what is undefined stays undefined.
void announce_device_copy(Device& device, const Side& from, const Side& to,
                          const Rectangle& rectangle) {
  for (std::size_t row = 0; row < rectangle.height; ++row) {
    device.device_copy({to.range.allocation, from.range.allocation,
                        static_cast<std::uint32_t>(to.range.offset + row * to.pitch),
                        static_cast<std::uint32_t>(from.range.offset + row * from.pitch),
                        static_cast<std::uint32_t>(rectangle.width)});
  }
}

void spend_copy(Device& device, const Rectangle& rectangle) {
  device.spend_cycles(virtual_gpu::kCopyCycles +
                      rectangle.width * rectangle.height / virtual_gpu::kCopyBytesPerCycle);
}

// Row by row; `arrived` tells whether the bytes of a download are there.
void record_copy(CallLog& log, void* target, const void* source, const Rectangle& rectangle,
                 Direction direction, bool arrived) {
  for (std::size_t row = 0; row < rectangle.height; ++row) {
    auto* const to = static_cast<std::byte*>(target) + row * rectangle.target_pitch;
    const auto* const from = static_cast<const std::byte*>(source) + row * rectangle.source_pitch;
    if (direction.source == Where::device && direction.target == Where::device) {
      log.move(to, from, rectangle.width);
    } else if (direction.target == Where::device) {
      log.upload(to, {from, rectangle.width});
    } else if (direction.source == Where::device) {
      DownloadCall& call = log.download(from, rectangle.width);
      if (arrived) call.bytes.assign(to, to + rectangle.width);
    }
  }
}

cudaError_t copy_between(Device& device, std::string_view call, void* target, const void* source,
                         const Rectangle& rectangle, const Direction& direction) {
  const std::optional<Side> from =
      side_at(device, call, const_cast<void*>(source), direction.source, rectangle,
              rectangle.source_pitch, false);
  const std::optional<Side> to =
      side_at(device, call, target, direction.target, rectangle, rectangle.target_pitch, true);
  if (!from || !to) return cudaErrorInvalidValue;
  if (from->on_device && to->on_device) {
    announce_device_copy(device, *from, *to, rectangle);
  } else {
    announce(device, *from, rectangle, false);
    announce(device, *to, rectangle, true);
  }
  for (std::size_t row = 0; row < rectangle.height; ++row) {
    std::memmove(to->data + row * to->pitch, from->data + row * from->pitch, rectangle.width);
  }
  spend_copy(device, rectangle);
  return cudaSuccess;
}

}  // namespace

cudaError_t copy(Device& device, std::string_view call, void* target, const void* source,
                 const Rectangle& rectangle, int kind) {
  const std::optional<Direction> direction = direction_of(device, target, source, kind);
  if (!direction) return cudaErrorInvalidMemcpyDirection;
  device.flush_prints();
  if (rectangle.width == 0 || rectangle.height == 0) return cudaSuccess;
  if (rectangle.height > 1 &&
      (rectangle.target_pitch < rectangle.width || rectangle.source_pitch < rectangle.width)) {
    return cudaErrorInvalidPitchValue;
  }
  const cudaError_t error = copy_between(device, call, target, source, rectangle, *direction);
  if (CallLog* const log = device.call_log(); log != nullptr && source != nullptr) {
    record_copy(*log, target, source, rectangle, *direction, error == cudaSuccess);
  }
  return error;
}

cudaError_t fill(Device& device, std::string_view call, void* target, int value,
                 const Rectangle& rectangle) {
  if (rectangle.width == 0 || rectangle.height == 0) return cudaSuccess;
  if (rectangle.height > 1 && rectangle.target_pitch < rectangle.width) {
    return cudaErrorInvalidValue;
  }
  if (CallLog* const log = device.call_log()) {
    for (std::size_t row = 0; row < rectangle.height; ++row) {
      log->fill(static_cast<std::byte*>(target) + row * rectangle.target_pitch, value,
                rectangle.width);
    }
  }
  const std::optional<Side> to =
      side_at(device, call, target, Where::device, rectangle, rectangle.target_pitch, true);
  if (!to) return cudaErrorInvalidValue;
  announce(device, *to, rectangle, true);
  for (std::size_t row = 0; row < rectangle.height; ++row) {
    std::memset(to->data + row * to->pitch, value, rectangle.width);
  }
  spend_copy(device, rectangle);
  return cudaSuccess;
}

}  // namespace warpcheck::cudart
