#include "vgpu/cudart/streams/transfers.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "vgpu/check/streams.hpp"
#include "vgpu/cudart/device/findings.hpp"
#include "vgpu/cudart/device/observers.hpp"

namespace warpcheck::cudart {
namespace {

template <typename Visit>
void for_each_row(const Rows& rows, Visit&& visit) {
  for (std::size_t slice = 0; slice < rows.box.depth; ++slice) {
    for (std::size_t row = 0; row < rows.box.height; ++row) {
      visit(static_cast<std::uint32_t>(rows.offset + slice * rows.slice + row * rows.pitch));
    }
  }
}

// A byte that two boxes share, by its offset; kNone: there is none.
std::uint32_t common_byte(const Rows& a, const Rows& b) {
  std::uint32_t found = ptx::kNone;
  if (a.allocation != b.allocation) return found;
  for_each_row(a, [&](std::uint32_t first) {
    if (found != ptx::kNone) return;
    for_each_row(b, [&](std::uint32_t second) {
      const std::uint32_t start = std::max(first, second);
      const bool meets = start < first + a.box.width && start < second + b.box.width;
      if (meets && found == ptx::kNone) found = start;
    });
  });
  return found;
}

// One row of a box.
vgpu::HostAccess host_access(const Rows& rows, std::uint32_t offset, bool write,
                             std::span<const std::uint32_t> unordered) {
  vgpu::HostAccess access;
  access.allocation = rows.allocation;
  access.offset = offset;
  access.bytes = static_cast<std::uint32_t>(rows.box.width);
  access.write = write;
  access.unordered_launches = unordered;
  return access;
}

bool is_one_row(const Rows& rows) { return rows.box.height * rows.box.depth == 1; }

}  // namespace

bool brings_the_same(const Touch& earlier, const Touch& later, const Bytes& bytes) {
  using From = Brought::From;
  const Brought &a = earlier.brought, &b = later.brought;
  if (a.from != b.from || a.from == From::elsewhere) return false;
  if (a.from == From::value) return a == b;
  const auto host_of_byte_0 = [](const Touch& touch) {
    return reinterpret_cast<std::uintptr_t>(touch.brought.host) - touch.rows.offset;
  };
  const bool is_same_place = is_one_row(earlier.rows) && is_one_row(later.rows)
                                 ? host_of_byte_0(earlier) == host_of_byte_0(later)
                                 : a == b && earlier.rows == later.rows;
  if (!is_same_place) return false;
  const Rows& rows = later.rows;
  // Of single rows, what both have; of others, all.
  const std::size_t begin = is_one_row(rows) ? std::max(earlier.rows.offset, rows.offset) : 0;
  const std::size_t end = earlier.rows.offset + earlier.rows.box.width;
  for (std::size_t slice = 0; slice < rows.box.depth; ++slice) {
    for (std::size_t row = 0; row < rows.box.height; ++row) {
      const std::size_t first = rows.offset + slice * rows.slice + row * rows.pitch;
      const std::size_t from = std::max(first, begin);
      const std::size_t to =
          is_one_row(rows) ? std::min(first + rows.box.width, end) : first + rows.box.width;
      const std::byte* const brought =
          bytes.data + slice * bytes.slice + row * bytes.pitch + (from - first);
      if (std::memcmp(rows.allocation->data + from, brought, to - from) != 0) return false;
    }
  }
  return true;
}

std::vector<std::uint32_t> Transfers::unordered_launches(const Operation& operation) const {
  std::vector<std::uint32_t> launches;
  launches_.visit_unordered(operation.clock,
                            [&](std::uint32_t launch) { launches.push_back(launch); });
  std::ranges::sort(launches);
  return launches;
}

void Transfers::touch(const Touch& now, const Bytes& bytes, const Operation& operation) {
  touched_.visit_unordered(operation.clock, [&](const Touch& earlier) {
    if (!(now.write || earlier.write)) return;
    const std::uint32_t at = common_byte(earlier.rows, now.rows);
    if (at == ptx::kNone) return;
    findings_.add(vgpu::race_of_operations({earlier.call, earlier.write}, {now.call, now.write},
                                           *now.rows.allocation, at,
                                           brings_the_same(earlier, now, bytes)));
  });
  touched_.add_latest(operation.stamp, now);
}

void Transfers::tell_host_access(const Rows& rows, bool write,
                                 const std::vector<std::uint32_t>& unordered) const {
  for_each_row(rows, [&](std::uint32_t offset) {
    const vgpu::HostAccess access = host_access(rows, offset, write, unordered);
    observers_.tell([&](vgpu::Observer& observer) { observer.on_host_access(access); });
  });
}

void Transfers::host_read(std::string_view call, const Rows& rows, const Operation& operation) {
  tell_host_access(rows, false, unordered_launches(operation));
  touch({call, rows, false}, {}, operation);
}

void Transfers::host_write(std::string_view call, const Rows& rows, const Operation& operation,
                           const Brought& brought, const Bytes& bytes) {
  tell_host_access(rows, true, unordered_launches(operation));
  touch({call, rows, true, brought}, bytes, operation);
}

// Bytes that move within the device are copied, not used: what is undefined stays undefined.
void Transfers::device_copy(std::string_view call, const Rows& target, const Rows& source,
                            const Operation& operation) {
  const std::vector<std::uint32_t> unordered = unordered_launches(operation);
  for (std::size_t slice = 0; slice < target.box.depth; ++slice) {
    for (std::size_t row = 0; row < target.box.height; ++row) {
      vgpu::DeviceCopy copy;
      copy.target = target.allocation;
      copy.source = source.allocation;
      copy.target_offset =
          static_cast<std::uint32_t>(target.offset + slice * target.slice + row * target.pitch);
      copy.source_offset =
          static_cast<std::uint32_t>(source.offset + slice * source.slice + row * source.pitch);
      copy.bytes = static_cast<std::uint32_t>(target.box.width);
      copy.unordered_launches = unordered;
      observers_.tell([&](vgpu::Observer& observer) { observer.on_device_copy(copy); });
    }
  }
  touch({call, source, false}, {}, operation);
  touch({call, target, true}, {}, operation);
}

// Freeing conflicts with every access, as a write of all the bytes would.
void Transfers::free(std::string_view call, const vgpu::Allocation& allocation,
                     const Operation& operation) {
  const Rows all{&allocation, 0, 0, 0, {allocation.bytes}};
  const std::vector<std::uint32_t> unordered = unordered_launches(operation);
  if (!unordered.empty()) tell_host_access(all, true, unordered);
  touch({call, all, true}, {}, operation);
}

void Transfers::launched(std::uint32_t launch, const Operation& operation) {
  const std::uint32_t itself[] = {launch};
  touched_.visit_unordered(operation.clock, [&](const Touch& touch) {
    if (!touch.rows.allocation->live) return;
    for_each_row(touch.rows, [&](std::uint32_t offset) {
      const vgpu::HostAccess access = host_access(touch.rows, offset, touch.write, itself);
      observers_.tell([&](vgpu::Observer& observer) { observer.on_late_host_access(access); });
    });
  });
  launches_.add(operation.stamp, launch);
}

void Transfers::forget(const OperationSet& known) {
  launches_.forget(known);
  touched_.forget(known);
}

void Transfers::clear() {
  launches_.clear();
  touched_.clear();
}

}  // namespace warpcheck::cudart
