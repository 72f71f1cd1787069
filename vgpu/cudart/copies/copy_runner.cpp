#include "vgpu/cudart/copies/copy_runner.hpp"

#include <cstring>
#include <optional>

#include "vgpu/cudart/api/calls/call_log.hpp"
#include "vgpu/cudart/copies/transfers.hpp"
#include "vgpu/cudart/device/findings.hpp"
#include "vgpu/cudart/device/virtual_clock.hpp"
#include "vgpu/cudart/exec/arrivals.hpp"

namespace warpcheck::cudart {
namespace {

void fill_row(std::byte* bytes, const FillWork& work) {
  if (work.element_bytes == 1) {
    std::memset(bytes, static_cast<int>(work.value), work.box.width);
    return;
  }
  for (std::size_t at = 0; at < work.box.width; at += work.element_bytes) {
    std::memcpy(bytes + at, &work.value, work.element_bytes);
  }
}

// A larger copy takes too much memory to be undone.
constexpr std::size_t kAheadBytesMax = std::size_t{64} << 20;

ParallelMove::Side side_of(const CopySide& side, std::size_t slice, std::size_t row) {
  const std::size_t offset = side.range.offset + slice * side.slice + row * side.pitch;
  return {.allocation = side.range.allocation,
          .offset = static_cast<std::uint32_t>(offset),
          .on_device = side.on_device,
          .data = side.row(slice, row)};
}

// Reads of constant memory leave no footprint.
bool can_be_followed(const CopySide& side) {
  const vgpu::Allocation* const allocation = side.range.allocation;
  return allocation == nullptr ||
         (allocation->parts.empty() && allocation->space == ptx::Space::global);
}

std::vector<ParallelMove> moves_between(const CopySide& to, const CopySide& from, const Box& box) {
  std::vector<ParallelMove> moves;
  for_each_row(box, [&](std::size_t slice, std::size_t row) {
    moves.push_back({side_of(to, slice, row), side_of(from, slice, row),
                     static_cast<std::uint32_t>(box.width)});
  });
  return moves;
}

CopySide side_without_gaps(std::byte* bytes, const Box& box) {
  return {bytes, box.width, box.width * box.height, {}, false};
}

}  // namespace

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

void record_fill(CallLog& log, const FillWork& work) {
  for_each_row(work.box, [&](std::size_t slice, std::size_t row) {
    log.fill(row_of(work.target, slice, row), static_cast<int>(work.value), work.box.width);
  });
}

void CopyRunner::run(const CopyWork& work, const Operation& operation) {
  if (work.ends != nullptr) return run(work, operation, work.ends->target, work.ends->source);
  const auto part = [&](const Place& to_part, const Place& from_part, const Box& box,
                        std::size_t byte) {
    CopyWork one = part_of(work, to_part, from_part, box);
    if (work.staged) {
      const auto first = work.bytes.begin() + static_cast<std::ptrdiff_t>(byte);
      one.bytes.assign(first, first + static_cast<std::ptrdiff_t>(box.width));
    }
    run(one, operation);
    return cudaSuccess;
  };
  if (in_mappings(sides_, work.target, work.source, work.box, part)) return;
  const bool is_late = work.late != nullptr;
  if (is_late && has_lost_side(work)) return report_not_copied(work, operation);
  std::optional<CopySide> from;
  if (work.staged) {
    from = side_without_gaps(const_cast<std::byte*>(work.bytes.data()), work.box);
  } else {
    from = sides_.at(work.call, work.source, work.source_in, work.box, false, is_late);
  }
  const std::optional<CopySide> to =
      from ? sides_.at(work.call, work.target, work.target_in, work.box, true, is_late)
           : std::nullopt;
  if (from && to) {
    const bool is_read = is_late && sides_.is_of_program(work.source_in, work.source.pointer);
    if (is_read && !work.staged && late_.has_changed(work, *from)) {
      report_changed_source(work, operation);
    }
    run(work, operation, *to, *from);
  } else if (is_late) {
    report_not_copied(work, operation);
  }
}

bool CopyRunner::has_lost_side(const CopyWork& work) const {
  const auto is_lost = [&](const Place& place, Where where, bool write) {
    const bool is_gone =
        sides_.is_of_program(where, place.pointer) && late_.frame_is_gone(work, place);
    if (is_gone) {
      findings_.add(host_memory_missing(work.call, write, work.box.bytes(),
                                        {.bytes = work.box.width}, HostDefect::frame_is_gone));
    }
    return is_gone;
  };
  return (!work.staged && is_lost(work.source, work.source_in, false)) ||
         is_lost(work.target, work.target_in, true);
}

void CopyRunner::report_changed_source(const CopyWork& work, const Operation& operation) const {
  vgpu::Finding finding = host_source_changed(work.call, work.box.bytes());
  name_place(finding, 0, Mishaps::place_of_call(operation.asked_at), work.call);
  findings_.add(std::move(finding));
}

// The source is not there any more.  What the copy would have written counts as written, because
// nothing follows from it that the finding does not say.
void CopyRunner::report_not_copied(const CopyWork& work, const Operation& operation) {
  if (work.target_in != Where::device) return;
  if (const auto to = sides_.find(work.target, work.target_in, work.box, true)) {
    transfers_.host_write(work.call, to->rows(work.box), operation, {});
  }
}

void CopyRunner::run(const CopyWork& work, const Operation& operation, const CopySide& to,
                     const CopySide& from) {
  if (from.on_device && to.on_device) {
    transfers_.device_copy(work.call, to.rows(work.box), from.rows(work.box), operation);
  } else if (from.on_device) {
    transfers_.host_read(work.call, from.rows(work.box), operation,
                         {work.target.pointer, work.target.pitch, work.target.slice});
  } else if (to.on_device) {
    const Brought brought{.from = Brought::From::host,
                          .host = work.source.pointer,
                          .pitch = work.source.pitch,
                          .slice = work.source.slice};
    transfers_.host_write(work.call, to.rows(work.box), operation, brought,
                          {from.data, from.pitch, from.slice});
    arrivals_.copies_to_device(
        {work.call, work.box, operation.number, from.data, from.pitch, from.slice},
        operation.asked_at);
  }
  const auto record_host_memory = [&](const CopySide& side, bool write) {
    if (side.on_device || side.range.allocation == nullptr) return;
    transfers_.use_of_host_memory(work.call, side.rows(work.box), write, operation);
  };
  record_host_memory(from, false);
  record_host_memory(to, true);
  move(work, operation, to, from);
  if (work.target_in == Where::host && to.range.allocation == nullptr) {
    const std::byte* const end = to.row(work.box.depth - 1, work.box.height - 1) + work.box.width;
    late_.written(to.data, static_cast<std::size_t>(end - to.data));
  }
  if (from.on_device && work.target_in == Where::host) {
    arrivals_.copied({work.call, work.box, operation.number, to.data, to.pitch, to.slice});
  }
  clock_.spend_copy(work.box.bytes());
  if (CallLog* const log = recording_.log()) record_copy(*log, work, true);
}

// A copy that has run ahead only brings its bytes to the host.
void CopyRunner::move(const CopyWork& work, const Operation& operation, const CopySide& to,
                      const CopySide& from) {
  CopySide source = from;
  if (operation.ahead != nullptr) {
    if (to.on_device) return;
    auto* const bytes = const_cast<std::byte*>(operation.ahead->to_host.data());
    source = side_without_gaps(bytes, work.box);
  }
  for_each_row(work.box, [&](std::size_t slice, std::size_t row) {
    std::memmove(to.row(slice, row), source.row(slice, row), work.box.width);
  });
}

std::optional<std::vector<ParallelMove>> CopyRunner::moves_of(const CopyWork& work,
                                                              std::vector<std::byte>& kept) const {
  if (work.box.bytes() == 0 || work.box.bytes() > kAheadBytesMax) return std::nullopt;
  std::optional<CopySide> from =
      work.staged ? side_without_gaps(const_cast<std::byte*>(work.bytes.data()), work.box)
                  : sides_.find(work.source, work.source_in, work.box, false);
  std::optional<CopySide> to = sides_.find(work.target, work.target_in, work.box, true);
  if (!from || !to || !can_be_followed(*from) || !can_be_followed(*to)) return std::nullopt;
  const bool is_within_one =
      to->on_device && from->on_device && to->range.allocation == from->range.allocation;
  // exec compares what has arrived at the host: the bytes at the copy's turn
  const bool is_seen_by_host = work.target_in == Where::host && to->on_device;
  const bool is_of_host = !to->on_device && !from->on_device;
  if (is_within_one || is_seen_by_host || is_of_host) return std::nullopt;
  if (!to->on_device) {
    kept.resize(work.box.bytes());
    to = side_without_gaps(kept.data(), work.box);
  }
  return moves_between(*to, *from, work.box);
}

std::optional<std::vector<std::byte>> CopyRunner::brought_by(const CopyWork& work) const {
  if (work.source_in != Where::host || work.staged) return std::nullopt;
  const std::optional<CopySide> from = sides_.find(work.source, Where::host, work.box, false);
  if (!from || !sides_.find(work.target, work.target_in, work.box, true)) return std::nullopt;
  std::vector<std::byte> bytes(work.box.bytes());
  const CopySide to = side_without_gaps(bytes.data(), work.box);
  for_each_row(work.box, [&](std::size_t slice, std::size_t row) {
    std::memcpy(to.row(slice, row), from->row(slice, row), work.box.width);
  });
  return bytes;
}

std::optional<std::vector<ParallelMove>> CopyRunner::moves_of(const FillWork& work,
                                                              std::vector<std::byte>& kept) const {
  if (work.box.bytes() == 0 || work.box.bytes() > kAheadBytesMax) return std::nullopt;
  const std::optional<CopySide> to = sides_.find(work.target, Where::device, work.box, true);
  if (!to || !can_be_followed(*to)) return std::nullopt;
  kept.resize(work.box.width);
  fill_row(kept.data(), work);
  return moves_between(*to, {kept.data(), 0, 0, {}, false}, work.box);
}

void CopyRunner::run(const EarlyReadWork& work, const Operation& operation) {
  const auto part = [&](const Place&, const Place& from, const Box& box, std::size_t) {
    EarlyReadWork one = work;
    one.source = from;
    one.box = box;
    run(one, operation);
    return cudaSuccess;
  };
  if (in_mappings(sides_, work.source, work.source, work.box, part)) return;
  const auto from = sides_.find(work.source, work.source_in, work.box, false);
  if (!from || from->range.allocation == nullptr) return;
  transfers_.host_touch({.call = work.call, .rows = from->rows(work.box)}, operation, {});
}

void CopyRunner::run(const FillWork& work, const Operation& operation) {
  const auto part = [&](const Place& to_part, const Place&, const Box& box, std::size_t) {
    FillWork one = work;
    one.target = to_part;
    one.box = box;
    run(one, operation);
    return cudaSuccess;
  };
  if (in_mappings(sides_, work.target, work.target, work.box, part)) return;
  const std::optional<CopySide> to =
      sides_.at(work.call, work.target, Where::device, work.box, true);
  if (!to) return;
  transfers_.host_write(
      work.call, to->rows(work.box), operation,
      {.from = Brought::From::value, .value = work.value, .element_bytes = work.element_bytes});
  for_each_row(work.box, [&](std::size_t slice, std::size_t row) {
    if (operation.ahead != nullptr) return;
    if (work.value != 0) return fill_row(to->row(slice, row), work);
    const DeviceRange& range = to->range;
    vgpu::clear_bytes(*range.allocation, range.offset + slice * to->slice + row * to->pitch,
                      work.box.width);
  });
  if (CallLog* const log = recording_.log()) record_fill(*log, work);
  clock_.spend_copy(work.box.bytes());
}

}  // namespace warpcheck::cudart
