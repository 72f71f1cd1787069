// A log of relaxed atomic operations whose effects are not needed yet.
//
// Atomics of one size do not race with each other, and relaxed atomics order nothing by themselves.
// Each leaves an entry in the list of a cell and a place in the chain of a synchronisation
// variable.  These effects matter only when another kind of access comes to the same memory, when a
// thread acquires what they may have released, or when a race is explained.  Until then, this log
// keeps one record for each row of lanes.
//
// The log of a phase of shared memory also has strong loads and stores that order nothing by
// themselves, volatile or relaxed ones, of words that no other thread has written.
//
// A row also keeps what its threads had released by fences at the time (ReleasedFences).  Rows
// of one segment share this, because a fence ends a segment; and so do lanes that are alike.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "vgpu/check/order/thread_order.hpp"
#include "vgpu/machine/access.hpp"

namespace warpcheck::vgpu {

class AtomicLog {
 public:
  struct Row {
    const Program* program = nullptr;
    SegmentId segment = 0;
    std::uint32_t pc = 0;
    std::uint32_t mask = 0;  // not empty
    std::uint32_t slot = 0;
    std::uint32_t first =
        0;  // strided or uniform: the offset of lane 0; else where the offsets lie
    std::uint32_t fences = 0;        // 0: its threads had released nothing
    std::uint32_t plain_before = 0;  // of a phase: how many of its plain rows come before
    Pattern pattern = Pattern::scattered;
    AccessKind kind = AccessKind::atomic;
    std::uint8_t bytes = 0;
    ptx::Scope scope = ptx::Scope::none;
  };
  // The range of bytes that the rows of a log touch.
  struct Extent {
    std::uint32_t begin = ~0u, end = 0;
    [[nodiscard]] bool is_in(std::uint32_t offset, std::uint32_t bytes) const {
      return offset <= begin && end <= offset + bytes;
    }
    [[nodiscard]] bool meets(std::uint32_t offset, std::uint32_t bytes) const {
      return offset < end && begin < offset + bytes;
    }
  };

  // Returns whether an access is such a row, or one of strong loads or stores.
  static bool takes(const Access& access);
  [[nodiscard]] bool is_empty() const { return rows_.empty(); }
  [[nodiscard]] std::size_t rows() const { return rows_.size(); }
  // Returns the allocation of the log, which must not be empty.
  [[nodiscard]] const Allocation& allocation() const { return *allocation_; }
  [[nodiscard]] const Extent& extent() {
    for (; in_extent_ < rows_.size(); ++in_extent_) extend(rows_[in_extent_]);
    return extent_;
  }
  // Returns whether some row may have released something; has_observers(): or may have observed
  // something.
  [[nodiscard]] bool has_releases() const { return has_releases_; }
  [[nodiscard]] bool has_observers() const { return has_observers_; }

  void add(const Access& access, SegmentId now, const ThreadOrder& order,
           std::size_t plain_before = 0);
  // Adds a row that has waited elsewhere.
  //   row: its program, segment, slot, fences and scope
  void add(Row row, const RowAccess& access, const Allocation& allocation);
  // Returns the number, not 0, of what the lanes of a warp have released by fences; 0: nothing.
  std::uint32_t snapshot(const WarpPlace& place, SegmentId now, const ThreadOrder& order);
  [[nodiscard]] bool has_snapshots() const { return !snapshots_.empty(); }
  // Segments have new numbers.
  void forget_snapshot() { snapshot_of_ = 0; }
  // Starts a new era: synchronisation variables have forgotten everything about the rows so far.
  void begin_era() {
    if (!rows_.empty() && (eras_.empty() || eras_.back() != rows_.size())) {
      eras_.push_back(rows_.size());
    }
  }
  [[nodiscard]] std::size_t present_era() const { return eras_.size(); }
  void clear() {
    if (!rows_.empty()) clear_rows();
  }

  // Calls visit(row, access, era) in the order of execution; the current era is the last.
  //   first_block_of(launch): the key of the launch's first block
  template <typename FirstBlock, typename Visit>
  void for_each(const ThreadOrder& order, FirstBlock first_block_of, Visit visit) const {
    Access access;
    std::size_t era = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      while (era < eras_.size() && eras_[era] <= i) ++era;
      const Segment& segment = order.segments().at(rows_[i].segment);
      describe(rows_[i], access);
      access.place.block =
          static_cast<std::uint32_t>(segment.block - first_block_of(segment.launch));
      access.place.warp = segment.warp;
      visit(rows_[i], access, era);
    }
  }
  // Returns what a lane of a row had released; null: nothing.
  [[nodiscard]] const ReleasedFences* fences_of(const Row& row, unsigned lane) const;
  template <typename Visit>
  void for_each_row(Visit visit) {
    for (Row& row : rows_) visit(row);
  }
  template <typename Visit>
  void for_each_segment(Visit visit) {
    for_each_row([&](Row& row) { visit(row.segment); });
    forget_snapshot();
  }

 private:
  using Offsets = std::array<std::uint32_t, kWarpLanes>;
  // What the lanes of a segment have released: one element of released_ for all lanes, or one for
  // each.
  struct Snapshot {
    std::size_t first = 0;
    bool is_common = false;
  };

  void clear_rows();
  void extend(const Row& row);
  void describe(const Row& row, Access& access) const;

  const Allocation* allocation_ = nullptr;
  std::vector<Row> rows_;
  std::vector<Offsets> offsets_;
  std::vector<Snapshot> snapshots_;
  std::vector<ReleasedFences> released_;
  SegmentId snapshot_of_ = 0;      // the segment of the latest snapshot; 0: none
  std::uint32_t latest_ = 0;       // the number that its rows have as `fences`
  std::vector<std::size_t> eras_;  // the ends of completed eras
  Extent extent_;                  // of the first in_extent_ rows
  std::size_t in_extent_ = 0;
  bool has_releases_ = false, has_observers_ = false;
};

}  // namespace warpcheck::vgpu
