#include "vgpu/cudart/copies/transfers.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "vgpu/check/streams.hpp"
#include "vgpu/cudart/device/findings.hpp"
#include "vgpu/cudart/device/observers.hpp"
#include "vgpu/cudart/host_watch/signals_of_kernels.hpp"

namespace warpcheck::cudart {
namespace {

struct Row {
  std::size_t offset = 0, bytes = 0;
};

Row row_at(const Rows& rows, std::size_t slice, std::size_t row) {
  const std::size_t begin = rows.offset + slice * rows.slice + row * rows.pitch;
  const RowShape::Span span =
      rows.shape.of_row(static_cast<std::int64_t>(rows.box.width), static_cast<std::int64_t>(row));
  return {begin + static_cast<std::size_t>(span.begin), static_cast<std::size_t>(span.size())};
}

template <typename Visit>
void for_each_row(const Rows& rows, Visit&& visit) {
  for (std::size_t slice = 0; slice < rows.box.depth; ++slice) {
    for (std::size_t row = 0; row < rows.box.height; ++row) {
      visit(row_at(rows, slice, row));
    }
  }
}

// The numbers from `first` up to, but not including, `behind`.
struct Interval {
  std::int64_t first = 0, behind = 0;
};

// For objects that are `stride` apart and at most `reach` long, returns those that may overlap
// `bytes`, which are counted from the start of the first object.
Interval that_meet(Interval bytes, std::int64_t stride, std::int64_t reach, std::size_t count) {
  const auto all = static_cast<std::int64_t>(count);
  if (stride == 0 || all == 1) return {0, all};
  const std::int64_t before = bytes.first - reach;
  return {before < 0 ? 0 : std::min(before / stride + 1, all),
          bytes.behind <= 0 ? 0 : std::min((bytes.behind - 1) / stride + 1, all)};
}

// Returns the first byte of `row` that is also in a box; nothing: there is none.
std::optional<std::size_t> common_byte(const Row& row, const Rows& box) {
  const auto last = static_cast<std::int64_t>(box.box.height) - 1;
  const std::int64_t row_reach =
      box.shape.reach(static_cast<std::int64_t>(box.box.width), last + 1);
  const std::int64_t slice_reach = last * static_cast<std::int64_t>(box.pitch) + row_reach;
  const auto begin = static_cast<std::int64_t>(row.offset - box.offset);
  const Interval wanted{begin, begin + static_cast<std::int64_t>(row.bytes)};
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
      const std::size_t start = std::max(row.offset, other.offset);
      if (start < row.offset + row.bytes && start < other.offset + other.bytes) return start;
    }
  }
  return std::nullopt;
}

// Returns the offset of a byte that two boxes share; nothing: there is none.
std::optional<std::size_t> common_byte(const Rows& a, const Rows& b) {
  std::optional<std::size_t> found;
  if (a.allocation != b.allocation) return found;
  for_each_row(a, [&](const Row& row) {
    if (!found) found = common_byte(row, b);
  });
  return found;
}

// Calls visit(access) for one row of a box, part by part.
template <typename Visit>
void for_each_access(const Touch& touch, const Row& row, std::span<const std::uint32_t> unordered,
                     Visit&& visit) {
  const auto access_to = [&](const vgpu::Allocation& part, std::uint32_t offset,
                             std::uint32_t bytes) {
    vgpu::HostAccess access;
    access.allocation = &part;
    access.offset = offset;
    access.bytes = bytes;
    access.row_bytes = row.bytes;
    access.write = touch.write;
    access.frees = touch.frees;
    access.allocates = touch.allocates;
    access.unordered_launches = unordered;
    access.place = touch.place;
    access.call = touch.call;
    visit(access);
  };
  touch.rows.allocation->for_each_part(row.offset, row.bytes, access_to);
}

// Splits a copy into pieces so that neither side of a piece crosses the border of a part.
std::vector<vgpu::DeviceCopy> pieces_of(const vgpu::DeviceCopy& sides, const Row& target,
                                        const Row& source) {
  std::vector<vgpu::DeviceCopy> pieces;
  sides.target->for_each_part(
      target.offset, target.bytes,
      [&](const vgpu::Allocation& to, std::uint32_t to_offset, std::uint32_t to_bytes) {
        const std::size_t from = source.offset + (to.offset_in_object(to_offset) - target.offset);
        std::uint32_t done = 0;
        sides.source->for_each_part(
            from, to_bytes,
            [&](const vgpu::Allocation& part, std::uint32_t offset, std::uint32_t bytes) {
              vgpu::DeviceCopy piece = sides;
              piece.target = &to;
              piece.target_offset = to_offset + done;
              piece.source = &part;
              piece.source_offset = offset;
              piece.bytes = bytes;
              pieces.push_back(piece);
              done += bytes;
            });
      });
  // Overlapping pieces are copied from the end to the beginning, as memmove() does.
  if (sides.target == sides.source && target.offset > source.offset) std::ranges::reverse(pieces);
  return pieces;
}

vgpu::HostOperation operation_of(const Touch& touch) {
  return {.call = touch.call,
          .write = touch.write,
          .frees = touch.frees,
          .allocates = touch.allocates,
          .operand = touch.operand.operand.get(),
          .place = touch.place};
}

// Sorts numbers of which there are ascending sequences, one for each chain.
void merge_sequences(std::vector<std::uint32_t>& numbers) {
  if (numbers.size() < 2) return;
  std::vector<std::ptrdiff_t> begins{0};
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    if (numbers[i] < numbers[i - 1]) begins.push_back(static_cast<std::ptrdiff_t>(i));
  }
  const auto at = [&](std::size_t sequence) {
    return sequence < begins.size() ? numbers.begin() + begins[sequence] : numbers.end();
  };
  while (begins.size() > 1) {
    std::vector<std::ptrdiff_t> merged;
    for (std::size_t i = 0; i < begins.size(); i += 2) {
      std::inplace_merge(at(i), at(i + 1), at(i + 2));
      merged.push_back(begins[i]);
    }
    begins = std::move(merged);
  }
}

Rows all_of(const vgpu::Allocation& allocation) {
  return {&allocation, 0, 0, 0, {allocation.bytes}};
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
  // For single rows, the common range; for other boxes, the whole row.
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
  if (operation.is_alone) return launches;
  launches_.visit_unordered(operation.clock,
                            [&](std::uint32_t launch) { launches.push_back(launch); });
  merge_sequences(launches);
  return launches;
}

bool Transfers::find_touched(const VisitTouched& visit) const {
  bool is_found = false;
  touched_.visit_all([&](const Stamp& stamp, const Touch& touch) {
    if (is_found || !touch.rows.allocation->live) return;
    for_each_row(touch.rows, [&](const Row& row) {
      for_each_access(touch, row, {}, [&](const vgpu::HostAccess& access) {
        is_found =
            is_found || visit(stamp, *access.allocation, access.offset, access.bytes, access.write);
      });
    });
  });
  return is_found;
}

void Transfers::touch(Touch&& now, const Bytes& bytes, const Operation& operation) {
  if (operation.is_alone) return;  // nothing can race with it
  if (now.place == nullptr && now.operand.operand == nullptr) now.asked_at = operation.asked_at;
  if (now.number == 0 && counts_touches_) now.number = next_number();
  for (const auto& [number, stamp] : left_) {
    if (operation.clock.covers(stamp)) now.reported_by.push_back(number);
  }
  std::vector<vgpu::Finding> with_allocation;
  touched_.visit_unordered(operation.clock, [&](const Touch& earlier) {
    if (!(now.write || earlier.write)) return;
    // How threads of the program order their own accesses is not known.
    if (now.place != nullptr && earlier.place != nullptr) return;
    const std::optional<std::size_t> at = common_byte(earlier.rows, now.rows);
    if (!at) return;
    vgpu::Finding race =
        vgpu::race_of_operations(operation_of(earlier), operation_of(now), *now.rows.allocation,
                                 *at, brings_the_same(earlier, now, bytes));
    if (earlier.asked_at != nullptr) {
      name_place(race, 0, Mishaps::place_of_call(earlier.asked_at));
    }
    if (now.asked_at != nullptr) name_place(race, 1, Mishaps::place_of_call(now.asked_at));
    if (earlier.allocates && now.frees) {
      with_allocation.push_back(std::move(race));
    } else {
      findings_.add(std::move(race));
    }
  });
  // What used the memory in order and races with the free says enough.
  if (!with_allocation.empty() && number_of_races() == now.races_before) {
    for (vgpu::Finding& race : with_allocation) findings_.add(std::move(race));
  }
  touched_.add_latest(operation.stamp, std::move(now));
}

void Transfers::notify_of_host_access(const Touch& touch,
                                      const std::vector<std::uint32_t>& unordered, bool ahead,
                                      const HostRows& host, const Bytes& bytes) const {
  const Rows& rows = touch.rows;
  for (std::size_t index = 0; index < rows.box.depth * rows.box.height; ++index) {
    const std::size_t slice = index / rows.box.height, number = index % rows.box.height;
    const Row row = row_at(rows, slice, number);
    const bool is_whole = row.bytes == rows.box.width;
    for_each_access(touch, row, unordered, [&](vgpu::HostAccess& access) {
      access.ahead = ahead;
      const std::size_t done = access.allocation->offset_in_object(access.offset) - row.offset;
      const auto place_in = [&](const void* first, std::size_t pitch, std::size_t slice_bytes) {
        const auto at = reinterpret_cast<std::uintptr_t>(first);
        if (first == nullptr || !is_whole) return std::uintptr_t{0};
        return at + slice * slice_bytes + number * pitch + done;
      };
      access.host = reinterpret_cast<const void*>(place_in(host.first, host.pitch, host.slice));
      access.brought =
          reinterpret_cast<const std::byte*>(place_in(bytes.data, bytes.pitch, bytes.slice));
      observers_.notify_of_memory(
          [&](vgpu::Observer& observer) { observer.on_host_access(access); });
    });
  }
}

void Transfers::host_read(std::string_view call, const Rows& rows, const Operation& operation,
                          const HostRows& to) {
  Touch now{call, rows, false};
  notify_of_host_access(now, unordered_launches(operation), operation.ahead != nullptr, to);
  touch(std::move(now), {}, operation);
}

void Transfers::host_write(std::string_view call, const Rows& rows, const Operation& operation,
                           const Brought& brought, const Bytes& bytes) {
  const bool ahead = operation.ahead != nullptr && !operation.ahead->states_are_left;
  if (rows.box.depth * rows.box.height == 1) {
    findings_.mishaps().wrote(*rows.allocation, call, row_at(rows, 0, 0).offset, rows.box.width);
  }
  Touch now{.call = call, .rows = rows, .write = true, .brought = brought};
  notify_of_host_access(now, unordered_launches(operation), ahead,
                        {brought.host, brought.pitch, brought.slice}, bytes);
  touch(std::move(now), bytes, operation);
}

// A copy to where the bytes already are changes nothing in any order.
void Transfers::check_overlap(std::string_view call, const Rows& target, const Rows& source,
                              const Operation& operation) {
  const bool is_one_place = target == source || (is_one_row(target) && is_one_row(source) &&
                                                 target.offset == source.offset);
  const std::optional<std::size_t> at = common_byte(target, source);
  if (is_one_place || !at) return;
  vgpu::Finding overlap = vgpu::overlap_of_copy(call, *target.allocation, *at);
  if (operation.asked_at != nullptr) {
    for (const std::size_t side : {0u, 1u}) {
      name_place(overlap, side, Mishaps::place_of_call(operation.asked_at));
    }
  }
  findings_.add(std::move(overlap));
}

// Bytes that are copied within the device are not used, so undefined bytes stay undefined.
void Transfers::device_copy(std::string_view call, const Rows& target, const Rows& source,
                            const Operation& operation) {
  const std::vector<std::uint32_t> unordered = unordered_launches(operation);
  for (std::size_t slice = 0; slice < target.box.depth; ++slice) {
    for (std::size_t row = 0; row < target.box.height; ++row) {
      const vgpu::DeviceCopy sides{.target = target.allocation,
                                   .source = source.allocation,
                                   .unordered_launches = unordered,
                                   .call = call,
                                   .ahead = operation.ahead != nullptr};
      for (const vgpu::DeviceCopy& piece :
           pieces_of(sides, row_at(target, slice, row), row_at(source, slice, row))) {
        observers_.notify_of_memory(
            [&](vgpu::Observer& observer) { observer.on_device_copy(piece); });
      }
    }
  }
  check_overlap(call, target, source, operation);
  touch({call, source, false}, {}, operation);
  touch({call, target, true}, {}, operation);
}

void Transfers::touch_operand(const vgpu::OperandRef& operand, const Rows& rows, bool write,
                              const Operation& operation) {
  touch({.call = operand.operand->function, .rows = rows, .write = write, .operand = operand}, {},
        operation);
}

std::uint64_t Transfers::number_of_races() const {
  std::uint64_t races = 0;
  for (const vgpu::Finding& finding : findings_.checkers().findings()) {
    if (finding.kind == vgpu::FindingKind::data_race) races += finding.count;
  }
  return races;
}

// Freeing conflicts with every access, like a write of all bytes.
void Transfers::free(std::string_view call, const vgpu::Allocation& allocation,
                     const Operation& operation) {
  Touch now{.call = call, .rows = all_of(allocation), .write = true, .frees = true};
  now.races_before = number_of_races();
  const std::vector<std::uint32_t> unordered = unordered_launches(operation);
  if (!unordered.empty()) notify_of_host_access(now, unordered, false);
  touch(std::move(now), {}, operation);
}

// Allocating conflicts with every access, too.  It changes neither bytes nor what is known of them.
void Transfers::allocate(std::string_view call, const vgpu::Allocation& allocation,
                         const Operation& operation) {
  Touch now{.call = call, .rows = all_of(allocation), .write = true, .allocates = true};
  const std::vector<std::uint32_t> unordered = unordered_launches(operation);
  if (!unordered.empty() && allocation.live) {
    for_each_access(now, row_at(now.rows, 0, 0), unordered, [&](const vgpu::HostAccess& access) {
      observers_.notify_of_memory(
          [&](vgpu::Observer& observer) { observer.on_late_host_access(access); });
    });
  }
  touch(std::move(now), {}, operation);
}

void Transfers::host_touch(const Touch& now, const Operation& step,
                           std::span<const std::uint32_t> ordered) {
  std::vector<std::uint32_t> unordered = unordered_launches(step);
  std::erase_if(unordered, [&](std::uint32_t launch) {
    return std::ranges::find(ordered, launch) != ordered.end();
  });
  if (!unordered.empty()) {
    for_each_row(now.rows, [&](const Row& row) {
      for_each_access(now, row, unordered, [&](const vgpu::HostAccess& access) {
        observers_.notify_of_memory(
            [&](vgpu::Observer& observer) { observer.on_late_host_access(access); });
      });
    });
  }
  touch(Touch(now), {}, step);
}

namespace {

// Whether the host itself has written what the launch has read as a flag.
bool is_signal(const Touch& touch, std::uint32_t launch, const SignalsOfKernels& signals) {
  if (!touch.write || touch.place == nullptr) return false;
  const auto at = touch.rows.allocation->place_at(touch.rows.offset);
  return signals.read(launch, *at.part, at.offset,
                      static_cast<std::uint32_t>(touch.rows.box.width));
}

bool is_reported_by(const Touch& touch, const Operation& operation) {
  return std::ranges::find(touch.reported_by, operation.number) != touch.reported_by.end();
}

}  // namespace

// Reports the access again, as one that nothing orders with the launch.
void Transfers::report_beside(const Touch& touch, std::span<const std::uint32_t> launch) {
  for_each_row(touch.rows, [&](const Row& row) {
    for_each_access(touch, row, launch, [&](const vgpu::HostAccess& access) {
      if (const vgpu::LibraryOperand* const operand = touch.operand.operand.get()) {
        findings_.checkers().on_late_operand(
            {access.allocation, access.offset, access.bytes, access.write, operand, launch});
        return;
      }
      observers_.notify_of_memory(
          [&](vgpu::Observer& observer) { observer.on_late_host_access(access); });
    });
  });
}

void Transfers::launched(std::uint32_t launch, const Operation& operation,
                         const SignalsOfKernels* signals) {
  const std::uint32_t itself[] = {launch};
  std::uint64_t signalled = 0;  // the latest access before a signal to the launch
  if (const auto given = signals_.find(operation.number); given != signals_.end()) {
    signalled = given->second;
    signals_.erase(given);
  }
  if (signals != nullptr) {
    touched_.visit_unordered(operation.clock, [&](const Touch& touch) {
      if (is_signal(touch, launch, *signals)) signalled = std::max(signalled, touch.number);
    });
  }
  touched_.visit_unordered(operation.clock, [&](const Touch& touch) {
    if (!touch.rows.allocation->live) return;
    if (touch.number != 0 && touch.number <= signalled) return;
    if (is_reported_by(touch, operation)) return;
    findings_.mishaps().perform(touch.asked_at);
    report_beside(touch, itself);
  });
  left_.erase(operation.number);
  findings_.mishaps().perform(operation.asked_at);
  launches_.add(operation.stamp, launch);
}

void Transfers::ran_on(std::uint32_t launch, const Operation& operation,
                       const SignalsOfKernels& signals) {
  const std::uint32_t itself[] = {launch};
  const auto given = signals_.find(operation.number);
  std::uint64_t signalled = given == signals_.end() ? 0 : given->second;
  std::vector<const Touch*> later;
  touched_.visit_latest_unordered(operation.clock, [&](const Touch& touch) {
    if (touch.place == nullptr) return true;
    if (is_signal(touch, launch, signals)) signalled = std::max(signalled, touch.number);
    if (touch.number <= signalled) return false;
    const bool is_unordered = touch.rows.allocation->live && !is_reported_by(touch, operation);
    if (is_unordered) later.push_back(&touch);
    return true;
  });
  for (const Touch* const touch : later) {
    if (touch->number > signalled) report_beside(*touch, itself);
  }
}

void Transfers::forget(const OperationSet& known) {
  counts_touches_ = false;
  launches_.forget(known);
  touched_.forget(known);
}

void Transfers::clear() {
  launches_.clear();
  touched_.clear();
  signals_.clear();
  left_.clear();
  counts_touches_ = false;
}

}  // namespace warpcheck::cudart
