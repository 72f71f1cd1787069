#include "vgpu/cudart/streams/transfers.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "vgpu/check/streams.hpp"
#include "vgpu/cudart/device/findings.hpp"
#include "vgpu/cudart/device/observers.hpp"
#include "vgpu/cudart/host/signals_of_kernels.hpp"

namespace warpcheck::cudart {
namespace {

struct Row {
  std::uint32_t offset = 0, bytes = 0;
};

Row row_at(const Rows& rows, std::size_t slice, std::size_t row) {
  const std::size_t begin = rows.offset + slice * rows.slice + row * rows.pitch;
  const RowShape::Span span =
      rows.shape.of_row(static_cast<std::int64_t>(rows.box.width), static_cast<std::int64_t>(row));
  return {static_cast<std::uint32_t>(begin + static_cast<std::size_t>(span.begin)),
          static_cast<std::uint32_t>(span.size())};
}

template <typename Visit>
void for_each_row(const Rows& rows, Visit&& visit) {
  for (std::size_t slice = 0; slice < rows.box.depth; ++slice) {
    for (std::size_t row = 0; row < rows.box.height; ++row) {
      visit(row_at(rows, slice, row));
    }
  }
}

// Numbers from `first` to before `behind`.
struct Interval {
  std::int64_t first = 0, behind = 0;
};

// Of things that lie `stride` apart and are up to `reach` long, those that may meet `bytes`, which
// are counted from the first thing's begin.
Interval that_meet(Interval bytes, std::int64_t stride, std::int64_t reach, std::size_t count) {
  const auto all = static_cast<std::int64_t>(count);
  if (stride == 0 || all == 1) return {0, all};
  const std::int64_t before = bytes.first - reach;
  return {before < 0 ? 0 : std::min(before / stride + 1, all),
          bytes.behind <= 0 ? 0 : std::min((bytes.behind - 1) / stride + 1, all)};
}

// The first byte of `row` that is one of a box, too; kNone: there is none.
std::uint32_t common_byte(const Row& row, const Rows& box) {
  const auto last = static_cast<std::int64_t>(box.box.height) - 1;
  const std::int64_t row_reach =
      box.shape.reach(static_cast<std::int64_t>(box.box.width), last + 1);
  const std::int64_t slice_reach = last * static_cast<std::int64_t>(box.pitch) + row_reach;
  const std::int64_t begin = std::int64_t{row.offset} - box.offset;
  const Interval wanted{begin, begin + row.bytes};
  const auto slice_stride = static_cast<std::int64_t>(box.slice);
  const Interval slices = that_meet(wanted, slice_stride, slice_reach, box.box.depth);
  for (std::int64_t slice = slices.first; slice < slices.behind; ++slice) {
    const std::int64_t at = slice * slice_stride;
    const Interval rows =
        that_meet({wanted.first - at, wanted.behind - at}, static_cast<std::int64_t>(box.pitch),
                  row_reach, box.box.height);
    for (std::int64_t number = rows.first; number < rows.behind; ++number) {
      const Row other =
          row_at(box, static_cast<std::size_t>(slice), static_cast<std::size_t>(number));
      const std::uint32_t start = std::max(row.offset, other.offset);
      if (start < row.offset + row.bytes && start < other.offset + other.bytes) return start;
    }
  }
  return ptx::kNone;
}

// A byte that two boxes share, by its offset; kNone: there is none.
std::uint32_t common_byte(const Rows& a, const Rows& b) {
  std::uint32_t found = ptx::kNone;
  if (a.allocation != b.allocation) return found;
  for_each_row(a, [&](const Row& row) {
    if (found == ptx::kNone) found = common_byte(row, b);
  });
  return found;
}

// One row of a box.
vgpu::HostAccess host_access(const Rows& rows, const Row& row, bool write,
                             std::span<const std::uint32_t> unordered) {
  vgpu::HostAccess access;
  access.allocation = rows.allocation;
  access.offset = row.offset;
  access.bytes = row.bytes;
  access.write = write;
  access.unordered_launches = unordered;
  return access;
}

vgpu::HostOperation operation_of(const Touch& touch) {
  return {touch.call, touch.write, touch.operand.operand.get(), touch.place};
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
    findings_.add(vgpu::race_of_operations(operation_of(earlier), operation_of(now),
                                           *now.rows.allocation, at,
                                           brings_the_same(earlier, now, bytes)));
  });
  touched_.add_latest(operation.stamp, now);
}

void Transfers::tell_host_access(const Rows& rows, bool write,
                                 const std::vector<std::uint32_t>& unordered) const {
  for_each_row(rows, [&](const Row& row) {
    const vgpu::HostAccess access = host_access(rows, row, write, unordered);
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

void Transfers::touch_operand(const vgpu::OperandRef& operand, const Rows& rows, bool write,
                              const Operation& operation) {
  touch({.call = operand.operand->function, .rows = rows, .write = write, .operand = operand}, {},
        operation);
}

// Freeing conflicts with every access, as a write of all the bytes would.
void Transfers::free(std::string_view call, const vgpu::Allocation& allocation,
                     const Operation& operation) {
  const Rows all{&allocation, 0, 0, 0, {allocation.bytes}};
  const std::vector<std::uint32_t> unordered = unordered_launches(operation);
  if (!unordered.empty()) tell_host_access(all, true, unordered);
  touch({call, all, true}, {}, operation);
}

void Transfers::host_touch(const Touch& now, const Operation& step,
                           std::span<const std::uint32_t> ordered) {
  std::vector<std::uint32_t> unordered = unordered_launches(step);
  std::erase_if(unordered, [&](std::uint32_t launch) {
    return std::ranges::find(ordered, launch) != ordered.end();
  });
  if (!unordered.empty()) {
    vgpu::HostAccess access = host_access(now.rows, row_at(now.rows, 0, 0), now.write, unordered);
    access.place = now.place;
    observers_.tell([&](vgpu::Observer& observer) { observer.on_late_host_access(access); });
  }
  touch(now, {}, step);
}

void Transfers::launched(std::uint32_t launch, const Operation& operation,
                         const SignalsOfKernels* signals) {
  const std::uint32_t itself[] = {launch};
  std::uint64_t signalled = 0;  // the last touch of the host's that the launch has read strongly
  if (signals != nullptr) {
    touched_.visit_unordered(operation.clock, [&](const Touch& touch) {
      const bool is_signal = touch.write && touch.place != nullptr &&
                             signals->read(launch, *touch.rows.allocation, touch.rows.offset,
                                           static_cast<std::uint32_t>(touch.rows.box.width));
      if (is_signal) signalled = std::max(signalled, touch.number);
    });
  }
  touched_.visit_unordered(operation.clock, [&](const Touch& touch) {
    if (!touch.rows.allocation->live) return;
    if (touch.place != nullptr && touch.number <= signalled) return;
    for_each_row(touch.rows, [&](const Row& row) {
      vgpu::HostAccess access = host_access(touch.rows, row, touch.write, itself);
      if (const vgpu::LibraryOperand* const operand = touch.operand.operand.get()) {
        findings_.checkers().on_late_operand(
            {access.allocation, access.offset, access.bytes, access.write, operand, itself});
        return;
      }
      access.place = touch.place;
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
