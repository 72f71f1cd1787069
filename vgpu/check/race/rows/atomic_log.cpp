#include "vgpu/check/race/rows/atomic_log.hpp"

#include <algorithm>

#include "vgpu/check/order/clocks/bits.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {
namespace {

bool is_same(const Moment& one, const Moment& other) {
  return one.is_set == other.is_set && one.ticks == other.ticks && one.phase == other.phase &&
         one.knows.is_same(other.knows);
}

bool is_same(const ReleasedFences& one, const ReleasedFences& other) {
  for (std::size_t reach = 0; reach < one.latest.size(); ++reach) {
    if (!is_same(one[reach], other[reach])) return false;
  }
  return is_same(one.sc, other.sc) && one.sc_of_others.is_same(other.sc_of_others);
}

}  // namespace

bool AtomicLog::takes(const Access& access) {
  if (access.asynchronous || access.sources != nullptr || access.elements() != 1 ||
      (access.bytes != 4 && access.bytes != 8)) {
    return false;
  }
  const bool is_relaxed = access.order == ptx::Order::relaxed;
  switch (access.program->code[access.pc].kind) {
    case InstrKind::atomic:
      return access.kind == AccessKind::atomic && access.unwritten == 0 &&
             (is_relaxed || access.order == ptx::Order::weak);
    case InstrKind::load:
    case InstrKind::store: return is_relaxed || access.order == ptx::Order::volatile_;
    default: return false;
  }
}

void AtomicLog::add(const Access& access, SegmentId now, const ThreadOrder& order,
                    std::size_t plain_before) {
  allocation_ = access.allocation;
  Row row;
  row.program = access.program;
  row.segment = now;
  row.plain_before = static_cast<std::uint32_t>(plain_before);
  row.pc = access.pc;
  row.mask = access.mask;
  row.slot = access.place.slot;
  row.pattern = access.pattern;
  row.kind = access.kind;
  row.bytes = access.bytes;
  row.scope = access.scope;
  const unsigned lane = access.first_lane();
  if (access.pattern == Pattern::scattered) {
    row.first = static_cast<std::uint32_t>(offsets_.size());
    offsets_.push_back(access.offset);
  } else {
    row.first =
        access.offset[lane] - (access.pattern == Pattern::strided ? lane * access.bytes : 0);
  }
  row.fences = snapshot(access.place, now, order);
  has_releases_ |= row.fences != 0;
  has_observers_ |= access.program->code[access.pc].opcode != ptx::Opcode::red_;
  rows_.push_back(row);
}

void AtomicLog::add(Row row, const RowAccess& access, const Allocation& allocation) {
  allocation_ = &allocation;
  row.pc = access.pc;
  row.mask = access.mask;
  row.pattern = access.pattern;
  row.bytes = access.bytes;
  row.first = access.first;
  if (access.pattern == Pattern::scattered) {
    row.first = static_cast<std::uint32_t>(offsets_.size());
    std::copy_n(access.offsets, kWarpLanes, offsets_.emplace_back().begin());
  }
  has_releases_ |= row.fences != 0;
  has_observers_ |= row.program->code[row.pc].opcode != ptx::Opcode::red_;
  rows_.push_back(row);
}

void AtomicLog::extend(const Row& row) {
  const std::uint32_t stride = row.pattern == Pattern::strided ? row.bytes : 0;
  for_each_bit(row.mask, [&](unsigned lane) {
    const std::uint32_t at =
        row.pattern == Pattern::scattered ? offsets_[row.first][lane] : row.first + lane * stride;
    extent_ = {std::min(extent_.begin, at), std::max(extent_.end, at + row.bytes)};
  });
}

// A fence ends a segment, so the rows of one segment share a snapshot.  So do warps that have done
// the same: a moment does not say whose it is.
std::uint32_t AtomicLog::snapshot(const WarpPlace& place, SegmentId now, const ThreadOrder& order) {
  if (snapshot_of_ == now) return latest_;
  snapshot_of_ = now;
  latest_ = 0;
  const Threads& threads = order.threads();
  const ReleasedFences& first = threads.at(place, 0).fence;
  const bool is_common = threads.are_alike(place, ~0u);
  bool is_needed = !first.is_empty();
  if (!is_common && !is_needed) {
    threads.for_each_lane_of_warp(
        place, [&](const ThreadState& lane) { is_needed = is_needed || !lane.fence.is_empty(); });
  }
  if (!is_needed) return latest_;
  const bool is_known = is_common && !snapshots_.empty() && snapshots_.back().is_common &&
                        is_same(released_.back(), first);
  if (!is_known) {
    snapshots_.push_back({released_.size(), is_common});
    threads.for_each_lane_of_warp(
        place, [&](const ThreadState& lane) { released_.push_back(lane.fence); });
  }
  latest_ = static_cast<std::uint32_t>(snapshots_.size());
  return latest_;
}

const ReleasedFences* AtomicLog::fences_of(const Row& row, unsigned lane) const {
  if (row.fences == 0) return nullptr;
  const Snapshot& snapshot = snapshots_[row.fences - 1];
  return &released_[snapshot.first + (snapshot.is_common ? 0 : lane)];
}

void AtomicLog::describe(const Row& row, Access& access) const {
  access.allocation = allocation_;
  access.program = row.program;
  access.space = allocation_->space;
  access.kind = row.kind;
  access.order = ptx::Order::relaxed;
  access.place.slot = row.slot;
  access.pc = row.pc;
  access.mask = row.mask;
  access.pattern = row.pattern;
  access.bytes = access.element_bytes = row.bytes;
  access.scope = row.scope;
  if (row.pattern == Pattern::scattered) {
    access.offset = offsets_[row.first];
    return;
  }
  const std::uint32_t stride = row.pattern == Pattern::strided ? row.bytes : 0;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane)
    access.offset[lane] = row.first + lane * stride;
}

void AtomicLog::clear_rows() {
  rows_.clear();
  offsets_.clear();
  snapshots_.clear();
  released_.clear();
  eras_.clear();
  snapshot_of_ = 0;
  extent_ = {};
  in_extent_ = 0;
  has_releases_ = has_observers_ = false;
}

}  // namespace warpcheck::vgpu
