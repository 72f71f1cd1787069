#include "vgpu/cudart/streams/copy_runner.hpp"

#include <cstring>
#include <optional>

#include "vgpu/cudart/api/call_log.hpp"
#include "vgpu/cudart/device/virtual_clock.hpp"
#include "vgpu/cudart/exec/arrivals.hpp"
#include "vgpu/cudart/streams/transfers.hpp"

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
  std::optional<CopySide> from;
  if (work.staged) {
    auto* const bytes = const_cast<std::byte*>(work.bytes.data());
    from = CopySide{bytes, work.box.width, work.box.width * work.box.height, {}, false};
  } else {
    from = sides_.at(work.call, work.source, work.source_in, work.box, false);
  }
  const std::optional<CopySide> to =
      sides_.at(work.call, work.target, work.target_in, work.box, true);
  if (!from || !to) return;
  if (from->on_device && to->on_device) {
    transfers_.device_copy(work.call, to->rows(work.box), from->rows(work.box), operation);
  } else if (from->on_device) {
    transfers_.host_read(work.call, from->rows(work.box), operation);
  } else if (to->on_device) {
    const Brought brought{.from = Brought::From::host,
                          .host = work.source.pointer,
                          .pitch = work.source.pitch,
                          .slice = work.source.slice};
    transfers_.host_write(work.call, to->rows(work.box), operation, brought,
                          {from->data, from->pitch, from->slice});
  }
  const auto tell_of_host_memory = [&](const CopySide& side, bool write) {
    if (side.on_device || side.range.allocation == nullptr) return;
    transfers_.use_of_host_memory(work.call, side.rows(work.box), write, operation);
  };
  tell_of_host_memory(*from, false);
  tell_of_host_memory(*to, true);
  for_each_row(work.box, [&](std::size_t slice, std::size_t row) {
    std::memmove(to->row(slice, row), from->row(slice, row), work.box.width);
  });
  if (from->on_device && work.target_in == Where::host) {
    arrivals_.copied(work, operation.number, to->data, to->pitch, to->slice);
  }
  clock_.spend_copy(work.box.bytes());
  if (CallLog* const log = recording_.log()) record_copy(*log, work, true);
}

void CopyRunner::run(const FillWork& work, const Operation& operation) {
  const std::optional<CopySide> to =
      sides_.at(work.call, work.target, Where::device, work.box, true);
  if (!to) return;
  transfers_.host_write(
      work.call, to->rows(work.box), operation,
      {.from = Brought::From::value, .value = work.value, .element_bytes = work.element_bytes});
  for_each_row(work.box, [&](std::size_t slice, std::size_t row) {
    if (work.value != 0) return fill_row(to->row(slice, row), work);
    const DeviceRange& range = to->range;
    vgpu::clear_bytes(*range.allocation, range.offset + slice * to->slice + row * to->pitch,
                      work.box.width);
  });
  if (CallLog* const log = recording_.log()) record_fill(*log, work);
  clock_.spend_copy(work.box.bytes());
}

}  // namespace warpcheck::cudart
