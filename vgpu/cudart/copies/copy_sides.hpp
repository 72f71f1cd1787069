// Resolves the two sides of a copy: the memory that each pointer refers to, and whether the whole
// box is inside it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <optional>
#include <string_view>

#include "vgpu/cudart/copies/transfers.hpp"
#include "vgpu/cudart/memory/allocations.hpp"
#include "vgpu/cudart/memory/host_blocks.hpp"
#include "vgpu/cudart/streams/work.hpp"

namespace warpcheck::cudart {

class Findings;

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
  // Nothing is owned.
  CopySides(Allocations& allocations, const HostBlocks& host_blocks, Findings& findings)
      : allocations_(allocations), host_blocks_(host_blocks), findings_(findings) {}

  // Whether sides in the program's own memory are looked up in the system's mappings (for programs;
  // trials have only memory of their pairs).
  void check_host_memory(bool checks) { checks_host_memory_ = checks; }

  // Returns the direction of a copy; page-locked memory counts as host memory, managed memory as
  // device memory. kind: the number of a cudaMemcpyKind.  Nothing: it is not a cudaMemcpyKind.
  [[nodiscard]] std::optional<Direction> direction_of(const void* target, const void* source,
                                                      int kind) const;
  // Resolves a side for an operation of the API function `call`.  Nothing (cudaErrorInvalidValue):
  // the box is not inside memory of that kind.  Also adds a finding if it overruns device memory,
  // or memory of the host.
  //   is_late: memory of the host was fine at the call
  std::optional<CopySide> at(std::string_view call, const Place& place, Where where, const Box& box,
                             bool write, bool is_late = false);

  // Does the same without a finding; nothing: at() would find an error.
  [[nodiscard]] std::optional<CopySide> find(const Place& place, Where where, const Box& box,
                                             bool write) const;

  // Returns how many bytes from `pointer` on belong to one mapping of virtual memory, if another
  // mapping follows; otherwise `bytes`.
  [[nodiscard]] std::size_t bytes_of_one_mapping(const void* pointer, std::size_t bytes) const;
  [[nodiscard]] bool is_managed(const void* pointer) const;
  // Returns whether it is memory of a device; managed memory is.
  [[nodiscard]] bool is_of_device(const void* pointer) const {
    return !is_page_locked(pointer) && allocations_.find(pointer) != nullptr;
  }
  [[nodiscard]] bool is_page_locked(const void* pointer) const {
    return host_blocks_.find(pointer) != nullptr;
  }
  // Returns whether it is memory of the host that the program has allocated without the runtime;
  // the program may have registered it.
  [[nodiscard]] bool is_of_program(Where where, const void* pointer) const;
  [[nodiscard]] bool has_registered_copies() const { return host_blocks_.has_registered_copies(); }
  // Returns whether it is host memory that the device cannot access.
  [[nodiscard]] bool is_pageable(Where where, const void* pointer) const {
    return where == Where::host && !is_managed(pointer) && !is_page_locked(pointer);
  }

 private:
  struct BadRow;
  [[nodiscard]] std::optional<CopySide> in_host_memory(const Place& place,
                                                       std::size_t extent) const;
  [[nodiscard]] std::optional<BadRow> find_bad_row(const CopySide& side, const Box& box,
                                                   bool write) const;
  void report_overrun(std::string_view call, const Place& place, std::size_t extent, bool write);

  Allocations& allocations_;
  const HostBlocks& host_blocks_;
  Findings& findings_;
  bool checks_host_memory_ = false;
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

// Splits a box on several mappings of virtual memory into one for each mapping, row by row:
// part(target, source, box, byte of the box) returns its error.  Nothing: the box is on a single
// mapping.
template <typename Part>
std::optional<cudaError_t> in_mappings(const CopySides& sides, const Place& target,
                                       const Place& source, const Box& box, const Part& part) {
  const auto extent = [&](const Place& place) {
    return (box.depth - 1) * place.slice + (box.height - 1) * place.pitch + box.width;
  };
  const auto is_one = [&](const Place& place) {
    return sides.bytes_of_one_mapping(place.pointer, extent(place)) == extent(place);
  };
  if (box.bytes() == 0 || (is_one(target) && is_one(source))) return std::nullopt;
  cudaError_t error = cudaSuccess;
  for_each_row(box, [&](std::size_t slice, std::size_t row) {
    for (std::size_t at = 0; at < box.width && error == cudaSuccess;) {
      std::byte* const to = row_of(target, slice, row) + at;
      std::byte* const from = row_of(source, slice, row) + at;
      const std::size_t bytes =
          sides.bytes_of_one_mapping(from, sides.bytes_of_one_mapping(to, box.width - at));
      error = part({to}, {from}, Box{bytes}, (slice * box.height + row) * box.width + at);
      at += bytes;
    }
  });
  return error;
}

// Returns the part of a copy that is on one mapping, without its bytes.
inline CopyWork part_of(const CopyWork& work, const Place& target, const Place& source,
                        const Box& box) {
  CopyWork part;
  part.call = work.call;
  part.target = target;
  part.source = source;
  part.target_in = work.target_in;
  part.source_in = work.source_in;
  part.box = box;
  part.kind = work.kind;
  part.staged = work.staged;
  return part;
}

}  // namespace warpcheck::cudart
