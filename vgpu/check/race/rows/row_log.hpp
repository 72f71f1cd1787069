// The rows of one phase of a block's shared memory, as long as they need no shadow.
//
// In most phases no two rows conflict in a cell at all, or only rows of the same threads do.  A bit
// a cell, for reads and for writes, shows the former, and a look through the rows the latter.  Such
// a phase leaves nothing to remember: whatever comes after its barrier is ordered after it.  The
// first row that the log cannot vouch for closes it; the rows so far then go to the shadow
// (race_shadow.hpp), where the phase goes on.
//
// Takes weak reads and writes of whole words, strided, uniform or a few runs of lanes; and atomics
// of one size in words of their own: for the general checker relaxed ones (atomic_log.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "vgpu/check/order/bits.hpp"
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
  //   bytes: of the shared memory.
  void begin(std::uint32_t bytes);
  // From now on in this phase, no row is taken.
  void close() {
    open_ = false;
    notes_.limit = nullptr;
  }
  [[nodiscard]] bool is_open() const { return open_; }

  // Adds a row, unless it is none for the log, might race with one that is there, or the log is
  // full.
  //   ordered_threads: of the warp model
  bool take(const Access& access, std::uint64_t ordered_threads, std::uint32_t segment = 0) {
    if (access.kind == AccessKind::atomic || access.order != ptx::Order::weak || access.bytes < 4 ||
        access.pattern == Pattern::scattered || access.asynchronous) {
      return false;
    }
    const unsigned first = access.first_lane();
    const bool uniform = access.pattern == Pattern::uniform;
    const std::int64_t offset =
        std::int64_t{access.offset[first]} - (uniform ? 0 : std::int64_t{first} * access.bytes);
    return take({.cell = static_cast<std::int32_t>(offset >> 2),
                 .pc = access.pc,
                 .mask = access.mask,
                 .warp = access.place.warp,
                 .segment = segment,
                 .cells_log2 = static_cast<std::uint8_t>(__builtin_ctz(access.bytes) - 2),
                 .write = access.kind == AccessKind::write,
                 .uniform = uniform},
                ordered_threads);
  }
  // The same of nearly all rows: of a word a lane, where no conflicting row has been.  False, and
  // nothing done: take() may take it.
  [[gnu::always_inline]] bool take_new(const RowAccess& access) {
    const bool write = access.kind == AccessKind::write;
    const bool uniform = access.pattern == Pattern::uniform;
    if (notes_.next >= notes_.limit || access.bytes != 4 || access.pattern == Pattern::scattered ||
        (uniform && write)) {
      return false;
    }
    const auto cell = static_cast<std::int32_t>(start_of(access.first) >> 2);
    const auto at = static_cast<std::uint64_t>(cell + kSlackCells);
    const std::uint64_t bits = uniform ? 1 : access.mask;
    const auto shift = static_cast<unsigned>(at % kWordBits);
    const std::uint64_t low = bits << shift, high = bits >> 1 >> (kWordBits - 1 - shift);
    std::uint64_t* const written = notes_.written + at / kWordBits;
    std::uint64_t* const read = notes_.read + at / kWordBits;
    std::uint64_t met = (written[0] & low) | (written[1] & high);
    if (write) met |= (read[0] & low) | (read[1] & high);
    if (met != 0) return false;
    std::uint64_t* const mine = write ? written : read;
    mine[0] |= low;
    mine[1] |= high;
    *notes_.next++ = {.cell = cell,
                      .pc = access.pc,
                      .mask = access.mask,
                      .warp = access.place.warp,
                      .write = write,
                      .uniform = uniform};
    return true;
  }
  // The same, for machine code.
  [[nodiscard]] NotedRows& notes() { return notes_; }
  bool take(const RowAccess& access, std::uint64_t ordered_threads) {
    if (access.bytes < 4) return false;
    return take({.cell = static_cast<std::int32_t>(start_of(access.first) >> 2),
                 .pc = access.pc,
                 .mask = access.mask,
                 .warp = access.place.warp,
                 .cells_log2 = static_cast<std::uint8_t>(access.bytes >> 3),
                 .write = access.kind == AccessKind::write,
                 .uniform = access.pattern == Pattern::uniform},
                ordered_threads);
  }
  bool take(const Row& row, std::uint64_t ordered_threads);
  // The same of scattered lanes in up to kRunsMax runs, each of which is a row: all or none.
  //   row: with all its lanes, and no cell yet; begins: the lanes at which runs begin
  static constexpr std::uint32_t kRunsMax = 8;
  bool take_runs(const Row& row, const std::uint32_t* offsets, std::uint32_t begins,
                 std::uint64_t ordered_threads);
  // A row of atomics, where barriers order all that threads do: those of one size do not race with
  // each other, whatever they are.
  using Offsets = std::array<std::uint32_t, kWarpLanes>;
  struct UpdateRow {
    Offsets offset{};
    std::uint32_t pc = 0;
    std::uint32_t mask = 0;  // not empty
    std::uint32_t warp = 0;
    std::uint8_t access_class = 0;
    std::uint8_t bytes = 0;  // of a lane
    Pattern pattern = Pattern::scattered;
  };
  // Adds one, as take() does.
  bool take_updates(const Access& access, unsigned access_class);
  // In the order in which they were taken; they have met no other row.
  [[nodiscard]] std::span<const UpdateRow> updates() const { return {updates_.data(), updated_}; }
  // The same of an access that AtomicLog takes, and of the general checker.
  bool take_atomics(const Access& access, std::uint32_t segment, const ThreadOrder& order);
  [[nodiscard]] AtomicLog& atomics() { return atomics_; }
  // In the order in which they were taken.
  [[nodiscard]] std::span<const Row> rows() const { return {rows_.data(), count()}; }
  [[nodiscard]] std::span<Row> rows() { return {rows_.data(), count()}; }

 private:
  static constexpr std::size_t kRowsMax = 2048;
  static constexpr std::size_t kAtomicsMax = 2048;
  // Rows looked at in one phase, before the shadow is the cheaper way.
  static constexpr std::size_t kLooksMax = 2048;
  static constexpr unsigned kWordBits = NotedRows::kWordBits;
  static constexpr std::int64_t kSlackCells = NotedRows::kSlackCells;

  using Cells = std::vector<std::uint64_t>;  // a bit a cell, from -kSlackCells on

  template <bool kUniform>
  bool take_runs_of_words(Row row, const std::uint32_t* offsets, std::uint32_t begins,
                          std::uint64_t ordered_threads);
  bool grow();
  [[nodiscard]] std::size_t count() const {
    return static_cast<std::size_t>(notes_.next - rows_.data());
  }
  void set_limit() {
    const bool takes_new = open_ && atomic_bytes_ == 0;
    notes_.limit = takes_new ? rows_.data() + rows_.size() : nullptr;
  }
  bool may_update(std::uint8_t bytes);
  [[nodiscard]] bool has_met(const Access& access) const;
  [[nodiscard]] std::pair<std::size_t, std::uint64_t> bits_at(std::uint32_t offset) const;
  void count(const Offsets& offset, std::uint32_t mask);
  [[nodiscard]] bool is_ordered(const Row& row, std::uint64_t ordered_threads);

  bool open_ = false;
  std::size_t looks_ = 0;
  std::vector<Row> rows_;  // the first count() of them
  Cells read_, written_;
  NotedRows notes_;  // in these
  Cells counted_;    // by atomics
  AtomicLog atomics_;
  std::vector<UpdateRow> updates_;  // the first updated_ of them
  std::size_t updated_ = 0;
  std::size_t updates_counted_ = 0;  // of them are in counted_
  std::uint8_t atomic_bytes_ = 0;    // of all of them; 0: none were taken
};

}  // namespace warpcheck::vgpu
