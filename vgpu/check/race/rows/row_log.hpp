// The rows of one phase of a block's shared memory, as long as they need no shadow.
//
// In most phases no two rows race: what threads touch nobody else does, or many read alone.  A mark
// a word (noted_rows.hpp) shows that.  Such a phase leaves nothing to remember: whatever comes
// after its barrier is ordered after it.  The first row that the log cannot vouch for closes it;
// the rows so far then go to the shadow (race_shadow.hpp), where the phase goes on.
//
// Takes weak reads and writes of whole words, in any order; and atomics of one size in words of
// their own: for the general checker relaxed ones (atomic_log.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vgpu/check/race/rows/atomic_log.hpp"
#include "vgpu/check/race/rows/race_rows.hpp"
#include "vgpu/machine/access.hpp"
#include "vgpu/machine/memory/rows.hpp"
#include "vgpu/machine/native/noted_rows.hpp"

namespace warpcheck::vgpu {

class RowLog {
 public:
  using Row = NotedRow;  // its cell as in RaceRow, in words; its segment is the caller's

  RowLog() = default;
  RowLog(RowLog&&) = default;
  RowLog& operator=(RowLog&&) = default;
  RowLog(const RowLog&) = delete;
  RowLog& operator=(const RowLog&) = delete;

  // Begins a phase: the log is empty and open.
  //   bytes: of the shared memory
  //   ordered_threads: of the warp model; the same throughout a launch
  void begin(std::uint32_t bytes, std::uint64_t ordered_threads);
  // From now on in this phase, no row is taken.
  void close() {
    open_ = false;
    set_limits();
  }
  [[nodiscard]] bool is_open() const { return open_; }

  // Adds a row, unless it is none for the log, might race with one that is there, or the log is
  // full: then the log is to be closed.
  bool take(const Access& access, std::uint32_t segment = 0) {
    if (access.kind == AccessKind::atomic || access.order != ptx::Order::weak || access.bytes < 4 ||
        access.asynchronous) {
      return false;
    }
    const unsigned first = access.first_lane();
    const std::uint32_t step = access.pattern == Pattern::strided ? access.bytes : 0;
    const std::int64_t offset = std::int64_t{access.offset[first]} - std::int64_t{first} * step;
    Row row = row_of(access, offset);
    row.segment = segment;
    return take(row, access.offset.data());
  }
  bool take(const RowAccess& access) {
    return access.bytes >= 4 && take(row_of(access, start_of(access.first)), access.offsets);
  }
  //   offsets: of scattered lanes, in bytes; where the row's cell is, does not matter then
  bool take(const Row& row, const std::uint32_t* offsets = nullptr);
  // What machine code takes words with.
  [[nodiscard]] NotedRows& notes() { return notes_; }
  using Offsets = std::array<std::uint32_t, kWarpLanes>;
  // Of a scattered row.
  [[nodiscard]] const Offsets& offsets_of(const Row& row) const {
    return offsets_[static_cast<std::size_t>(row.cell)];
  }
  // A row of atomics, where barriers order all that threads do: those of one size do not race with
  // each other, whatever they are.
  using UpdateRow = NotedUpdate;
  // Adds one, as take() does.
  bool take_updates(const Access& access);
  // In the order in which they were taken; they have met no other row.
  [[nodiscard]] std::span<const UpdateRow> updates() const { return {updates_.data(), updated()}; }
  static Pattern pattern_of(const UpdateRow& row);
  static Pattern pattern_of(const Row& row) {
    return row.scattered ? Pattern::scattered : row.uniform ? Pattern::uniform : Pattern::strided;
  }
  // The same of an access that AtomicLog takes, and of the general checker.
  bool take_atomics(const Access& access, std::uint32_t segment, const ThreadOrder& order);
  [[nodiscard]] AtomicLog& atomics() { return atomics_; }
  // In the order in which they were taken.
  [[nodiscard]] std::span<const Row> rows() const { return {rows_.data(), count()}; }
  [[nodiscard]] std::span<Row> rows() { return {rows_.data(), count()}; }

 private:
  static constexpr std::size_t kRowsMax = 8192;
  static constexpr std::size_t kScatteredMax = 2048;
  static constexpr std::size_t kAtomicsMax = 2048;
  static constexpr std::int64_t kSlackCells = NotedRows::kSlackCells;

  // Of an Access or a RowAccess.
  //   offset: of lane 0, where lanes are in order
  template <typename AnyAccess>
  static Row row_of(const AnyAccess& access, std::int64_t offset) {
    return {.cell = static_cast<std::int32_t>(offset >> 2),
            .pc = access.pc,
            .mask = access.mask,
            .warp = access.place.warp,
            .cells_log2 = static_cast<std::uint8_t>(access.bytes >> 3),
            .write = access.kind == AccessKind::write,
            .uniform = access.pattern == Pattern::uniform,
            .scattered = access.pattern == Pattern::scattered};
  }
  bool grow();
  bool grow_offsets();
  [[nodiscard]] std::size_t count() const {
    return static_cast<std::size_t>(notes_.next - rows_.data());
  }
  [[nodiscard]] std::size_t updated() const {
    return static_cast<std::size_t>(notes_.next_update - updates_.data());
  }
  void set_limits() {
    const bool takes_new = open_ && marked_ == updated();
    notes_.limit = takes_new ? rows_.data() + rows_.size() : nullptr;
    notes_.update_limit = open_ ? updates_.data() + updates_.size() : nullptr;
    notes_.first = rows_.data();
    notes_.offsets = offsets_.data();
    notes_.scattered_limit = static_cast<std::uint32_t>(offsets_.size());
  }
  bool mark_lanes(const Row& row, const std::uint32_t* offsets);
  bool mark_uniform(const Row& row);
  bool may_update(std::uint8_t bytes);
  [[nodiscard]] bool has_met(const Access& access) const;
  void mark_updates(const Offsets& offset, std::uint32_t mask);

  bool open_ = false;
  bool in_lockstep_ = false;
  std::vector<std::uint16_t> storage_;  // of the marks
  NotedRows notes_;                     // in these
  std::vector<Row> rows_;               // the first count() of them
  std::vector<Offsets> offsets_;        // of scattered ones
  AtomicLog atomics_;
  std::vector<UpdateRow> updates_;  // the first updated() of them
  std::size_t marked_ = 0;          // of them have left their marks
};

}  // namespace warpcheck::vgpu
