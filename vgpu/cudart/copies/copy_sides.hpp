// Resolves the two sides of a copy: the memory that each pointer refers to, and whether the whole
// box is inside it.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "vgpu/cudart/copies/transfers.hpp"
#include "vgpu/cudart/memory/allocations.hpp"
#include "vgpu/cudart/memory/host_blocks.hpp"
#include "vgpu/cudart/streams/work.hpp"

namespace warpcheck::cudart {

// One side of a copy.
struct CopySide {
  std::byte* data = nullptr;  // host bytes of the first row
  std::size_t pitch = 0, slice = 0;
  DeviceRange range;  // of device memory, and of page-locked memory allocated by the runtime
  bool on_device = false;

  [[nodiscard]] std::byte* row(std::size_t in_slice, std::size_t number) const {
    return data + in_slice * slice + number * pitch;
  }
  [[nodiscard]] Rows rows(const Box& box) const {
    return {range.allocation, range.offset, pitch, slice, box};
  }
};

struct CopyEnds {
  CopySide target, source;
};

struct Direction {
  Where target = Where::host, source = Where::host;
};

class CopySides {
 public:
  // Neither is owned.
  CopySides(Allocations& allocations, const HostBlocks& host_blocks)
      : allocations_(allocations), host_blocks_(host_blocks) {}

  // Returns the direction of a copy; page-locked memory counts as host memory, managed memory as
  // device memory. kind: the number of a cudaMemcpyKind.  Nothing: it is not a cudaMemcpyKind.
  [[nodiscard]] std::optional<Direction> direction_of(const void* target, const void* source,
                                                      int kind) const;
  // Resolves a side for an operation of the API function `call`.  Nothing (cudaErrorInvalidValue):
  // the box is not inside memory of that kind.  Also adds a finding if it overruns device memory.
  std::optional<CopySide> at(std::string_view call, const Place& place, Where where, const Box& box,
                             bool write);

  // Does the same without a finding; nothing: at() would find an error.
  [[nodiscard]] std::optional<CopySide> find(const Place& place, Where where, const Box& box) const;

  // Returns how many bytes from `pointer` on belong to one mapping of virtual memory, if another
  // mapping follows; otherwise `bytes`.
  [[nodiscard]] std::size_t bytes_of_one_mapping(const void* pointer, std::size_t bytes) const;
  [[nodiscard]] bool is_managed(const void* pointer) const;
  [[nodiscard]] bool is_page_locked(const void* pointer) const {
    return host_blocks_.find(pointer) != nullptr;
  }
  // Returns whether it is host memory that the device cannot access.
  [[nodiscard]] bool is_pageable(Where where, const void* pointer) const {
    return where == Where::host && !is_managed(pointer) && !is_page_locked(pointer);
  }

 private:
  [[nodiscard]] std::optional<CopySide> in_host_memory(const Place& place,
                                                       std::size_t extent) const;

  Allocations& allocations_;
  const HostBlocks& host_blocks_;
};

template <typename Visit>
void for_each_row(const Box& box, Visit&& visit) {
  for (std::size_t slice = 0; slice < box.depth; ++slice) {
    for (std::size_t row = 0; row < box.height; ++row) visit(slice, row);
  }
}

// Returns the first byte of a row, at the program's address.
inline std::byte* row_of(const Place& place, std::size_t slice, std::size_t row) {
  return static_cast<std::byte*>(place.pointer) + slice * place.slice + row * place.pitch;
}

}  // namespace warpcheck::cudart
