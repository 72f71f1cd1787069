// The log of rows of one phase of a block's shared memory, as long as that memory needs no shadow.
//
// In most phases no two rows race: each word is accessed by one thread only, or only read.  One
// mark per word (access_record.hpp) shows that.  Such a phase needs no records afterwards, because
// everything after its barrier is ordered after it.  The first row that the log cannot accept
// closes it.  Its rows then go to the shadow (race_shadow.hpp), which handles the rest of the
// phase.
//
// The log takes weak reads and writes, in any order of lanes.  A lane that accesses a part of a
// word marks the word: threads that write parts of one word close the log.  It also takes atomics
// of one size in words that nothing else accesses; for the general checker, only relaxed ones
// (atomic_log.hpp).  For the general checker it also takes volatile and relaxed loads and stores,
// in words that nothing else accesses.  As long as each of these words is accessed by one thread,
// or only read, they neither race nor hand anything on before the barrier.
//
// Asynchronous copies are in no log, because a barrier orders them only if they have been waited
// for.  Until then, the words that they write are marked, and rows that touch these are refused.
//
// Where narrower synchronisation, such as `__syncwarp()`, may order rows that meet, the log follows
// what each word has been through (ordered_words.hpp) in place of marks.  Then it takes any row
// that comes after the rows that it meets.
//
// If there are too many rows, those whose words their lanes have written again are forgotten.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vgpu/check/race/rows/atomic_log.hpp"
#include "vgpu/check/race/rows/ordered_words.hpp"
#include "vgpu/check/race/rows/race_rows.hpp"
#include "vgpu/machine/access.hpp"
#include "vgpu/machine/access/access_record.hpp"
#include "vgpu/machine/memory/rows.hpp"

namespace warpcheck::vgpu {

// Returns the pattern of lanes as accesses define it.
//   bytes: of one lane
Pattern pattern_of(const std::uint32_t* offsets, std::uint32_t mask, std::uint32_t bytes);

class RowLog {
 public:
  using Row = RecordedRow;  // its cell is as in RaceRow, in words; its segment is the caller's
  using Offsets = std::array<std::uint32_t, kWarpLanes>;

  RowLog() = default;
  RowLog(RowLog&&) = default;
  RowLog& operator=(RowLog&&) = default;
  RowLog(const RowLog&) = delete;
  RowLog& operator=(const RowLog&) = delete;

  // Begins a phase: the log is empty and open.
  //   bytes: of the shared memory
  //   ordered_threads: of the warp model; constant within a launch
  void begin(std::uint32_t bytes, std::uint64_t ordered_threads);
  // Makes the log refuse all further rows of this phase.
  void close() {
    open_ = false;
    ordered_.end();
    set_limits();
  }
  [[nodiscard]] bool is_open() const { return open_; }
  // Which rows of this phase machine code may record by itself; after begin(), all.
  void let_record(bool rows, bool updates) {
    records_rows_ = rows;
    records_updates_ = updates;
    set_limits();
  }

  // Adds a row.  False: the row is not of a kind that the log takes, it might race with an existing
  // row, or the log is full.  The caller must then close the log.
  bool take(const Access& access, std::uint32_t segment = 0) {
    if (access.kind == AccessKind::atomic || access.order != ptx::Order::weak ||
        access.asynchronous) {
      return false;
    }
    return take(vgpu::row_of(access), segment);
  }
  bool take(const RowAccess& access, std::uint32_t segment = 0) {
    if (access.bytes < 4) return take_parts(access, segment);
    Row row = row_of(access);
    row.segment = segment;
    return take(row, access.offsets);
  }
  //   offsets: of scattered lanes, in bytes; row.cell is then not used
  bool take(const Row& row, const std::uint32_t* offsets = nullptr);
  // Marks the words of an asynchronous copy.  False: another access of this phase has touched some
  // of them; the caller must then close the log.
  bool mark_copy(const Access& access);
  void mark_copied(const Offsets& offsets, std::uint32_t mask, std::uint32_t bytes);
  // Returns the structure through which machine code adds rows of words.
  [[nodiscard]] AccessRecord& record() { return record_; }
  // Returns the offsets of a scattered row.
  [[nodiscard]] const Offsets& offsets_of(const Row& row) const {
    return offsets_[static_cast<std::size_t>(row.cell)];
  }
  // A row of atomics, used if barriers order all threads: atomics of one size do not race with each
  // other, whatever their order and scope.
  using UpdateRow = RecordedAtomics;
  // Adds a row of atomics, with the result of take().
  bool take_updates(const Access& access);
  // Returns the rows in the order in which they were taken; they share no word with other rows.
  [[nodiscard]] std::span<const UpdateRow> updates() const { return {updates_.data(), updated()}; }
  static Pattern pattern_of(const UpdateRow& row) {
    return vgpu::pattern_of(row.offset.data(), row.mask, row.bytes);
  }
  static Pattern pattern_of(const Row& row) { return row.pattern(); }
  // From now on, until the phase ends, takes rows that come after those that they meet; for the
  // general checker.  The rows that machine code has recorded must be complete, and there must be
  // no copies.  False: the order of the rows so far is not known; the caller must close the log.
  bool follow_order(ThreadOrder& order, WarpPlace place);
  [[nodiscard]] bool follows_order() const { return ordered_.is_on(); }
  // Calls visit(segment) for each segment that words remember.
  template <typename Visit>
  void for_each_word_segment(Visit visit) {
    ordered_.for_each_segment(visit);
  }
  // Adds a row that AtomicLog takes; for the general checker.  The rows that machine code has
  // recorded must be complete.
  bool take_strong(const Access& access, std::uint32_t segment, const ThreadOrder& order);
  // Completes the rows that machine code has recorded: sets their segments, and turns its updates
  // into rows of atomics().  For the general checker, before a segment of the block ends.
  //   like: has the allocation, the program and the block of the rows
  //   segment_of(place): the present segment of a warp
  template <typename SegmentOf>
  void settle(Access& like, const ThreadOrder& order, SegmentOf segment_of) {
    for (; settled_ < count(); ++settled_) {
      Row& row = rows_[settled_];
      like.place.warp = row.warp;
      if (row.segment == 0) row.segment = segment_of(like.place);
    }
    for (const UpdateRow& update : updates()) {
      like.place.warp = update.warp;
      add_update(update, like, segment_of(like.place), order);
    }
    forget_updates();
  }
  [[nodiscard]] bool is_settled() const { return settled_ == count() && updated() == 0; }
  [[nodiscard]] AtomicLog& atomics() { return atomics_; }
  [[nodiscard]] const AtomicLog& atomics() const { return atomics_; }
  // Returns the rows in the order in which they were taken.
  [[nodiscard]] std::span<const Row> rows() const { return {rows_.data(), count()}; }
  [[nodiscard]] std::span<Row> rows() { return {rows_.data(), count()}; }

 private:
  static constexpr std::size_t kRowsMax = 8192;
  static constexpr std::size_t kScatteredMax = 2048;
  static constexpr std::size_t kAtomicsMax = 2048;
  static constexpr std::size_t kRecordedAtomics = 64;  // before the general checker settles them
  static constexpr std::int64_t kSlackCells = AccessRecord::kSlackCells;

  static Row row_of(const RowAccess& access) {
    return {.cell = static_cast<std::int32_t>(start_of(access.first) >> 2),
            .pc = access.pc,
            .mask = access.mask,
            .warp = access.place.warp,
            .cells_log2 = static_cast<std::uint8_t>(access.bytes >> 3),
            .write = access.kind == AccessKind::write,
            .uniform = access.pattern == Pattern::uniform,
            .scattered = access.pattern == Pattern::scattered};
  }
  bool take_parts(const RowAccess& access, std::uint32_t segment);
  const std::uint32_t* offsets_of(const Row& row, Offsets& storage) const;
  [[nodiscard]] OrderedWords::Row in_order(const Row& row) const;
  bool mark(const Row& row, const std::uint32_t* offsets);
  void mark_recorded_updates();
  void forget_overwritten();
  bool grow();
  bool grow_offsets();
  [[nodiscard]] std::size_t count() const {
    return static_cast<std::size_t>(record_.next - rows_.data());
  }
  [[nodiscard]] std::size_t updated() const {
    return static_cast<std::size_t>(record_.next_update - updates_.data());
  }
  void set_limits() {
    const bool takes_new = open_ && records_rows_ && marked_ == updated();
    record_.limit = takes_new ? rows_.data() + rows_.size() : nullptr;
    record_.update_limit = open_ && records_updates_ ? updates_.data() + updates_.size() : nullptr;
    record_.first = rows_.data();
    record_.offsets = offsets_.data();
    record_.scattered_limit = static_cast<std::uint32_t>(offsets_.size());
  }
  void add_update(const UpdateRow& update, Access& like, std::uint32_t segment,
                  const ThreadOrder& order);
  void forget_updates();
  bool mark_lanes(const Row& row, const std::uint32_t* offsets);
  bool mark_reads(const Row& row, const std::uint32_t* offsets);
  bool mark_uniform(const Row& row);
  bool may_update(std::uint8_t bytes);
  bool mark_atomics(const Access& access);
  bool mark_strong(const Access& access);
  [[nodiscard]] bool has_met(const Access& access) const;
  void mark_updates(const Offsets& offset, std::uint32_t mask);

  bool open_ = false;
  std::uint32_t bytes_ = 0;  // of the shared memory
  bool in_lockstep_ = false;
  bool records_rows_ = true, records_updates_ = true;
  bool has_updates_ = false;              // atomics_ has atomics
  std::vector<std::uint16_t> storage_;    // memory of the marks
  std::vector<std::uint16_t> of_strong_;  // marks of words that are marked as kStrong
  AccessRecord record_;                   // refers to storage_ and rows_
  std::vector<Row> rows_;                 // the first count() are used
  std::size_t settled_ = 0;               // the number of rows that have their segments
  std::vector<Offsets> offsets_;          // of scattered rows
  AtomicLog atomics_;
  OrderedWords ordered_;            // on: marks say nothing
  WarpPlace place_;                 // of the block, if the log follows the order
  std::vector<UpdateRow> updates_;  // the first updated() are used
  std::size_t marked_ = 0;          // the number of updates whose words are marked
};

}  // namespace warpcheck::vgpu
