// The two sides of a copy: which memory each is, by its pointer, and whether the whole box lies in
// it.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "vgpu/cudart/memory/allocations.hpp"
#include "vgpu/cudart/memory/host_blocks.hpp"
#include "vgpu/cudart/streams/transfers.hpp"
#include "vgpu/cudart/streams/work.hpp"

namespace warpcheck::cudart {

// One side of a copy.
struct CopySide {
  std::byte* data = nullptr;  // host bytes of the first row
  std::size_t pitch = 0, slice = 0;
  DeviceRange range;  // of a device side, and of page-locked memory that the runtime has given out
  bool on_device = false;

  [[nodiscard]] std::byte* row(std::size_t in_slice, std::size_t number) const {
    return data + in_slice * slice + number * pitch;
  }
  [[nodiscard]] Rows rows(const Box& box) const {
    return {range.allocation, range.offset, pitch, slice, box};
  }
};

struct Direction {
  Where target = Where::host, source = Where::host;
};

class CopySides {
 public:
  // Neither is owned.
  CopySides(Allocations& allocations, const HostBlocks& host_blocks)
      : allocations_(allocations), host_blocks_(host_blocks) {}

  // Page-locked memory is the host's, managed memory the device's.  kind: the number of a
  // cudaMemcpyKind.  Nothing: it is none.
  [[nodiscard]] std::optional<Direction> direction_of(const void* target, const void* source,
                                                      int kind) const;
  // For an operation of the API function `call`.  Nothing (cudaErrorInvalidValue): the box is not
  // inside memory of that kind; a finding too where it overruns device memory.
  std::optional<CopySide> at(std::string_view call, const Place& place, Where where, const Box& box,
                             bool write);

  // How many of the bytes from there on are one mapping of virtual memory, where another one
  // follows it; else all of them.
  [[nodiscard]] std::size_t bytes_of_one_mapping(const void* pointer, std::size_t bytes) const;
  [[nodiscard]] bool is_managed(const void* pointer) const;
  [[nodiscard]] bool is_page_locked(const void* pointer) const {
    return host_blocks_.find(pointer) != nullptr;
  }
  // Memory of the host that the device cannot reach by itself.
  [[nodiscard]] bool is_pageable(Where where, const void* pointer) const {
    return where == Where::host && !is_managed(pointer) && !is_page_locked(pointer);
  }

 private:
  Allocations& allocations_;
  const HostBlocks& host_blocks_;
};

template <typename Visit>
void for_each_row(const Box& box, Visit&& visit) {
  for (std::size_t slice = 0; slice < box.depth; ++slice) {
    for (std::size_t row = 0; row < box.height; ++row) visit(slice, row);
  }
}

// The first byte of a row, as the program names it.
inline std::byte* row_of(const Place& place, std::size_t slice, std::size_t row) {
  return static_cast<std::byte*>(place.pointer) + slice * place.slice + row * place.pitch;
}

}  // namespace warpcheck::cudart
