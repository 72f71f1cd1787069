// Shadow memory of the race checker: the records of accesses to one allocation, in cells, for the
// current period.
//
// A period ends where everything so far is ordered before everything to come: with the launch, and,
// for memory that only one block can reach, with each barrier of that block.  Nothing is cleared
// between periods or trials: the epoch of an earlier period is ordered before any later one, so an
// old cell reads as an empty cell.
//
// A cell is 4 bytes wide until a narrower access occurs; from then on, for the rest of the launch,
// cells are one byte wide.
//
// In memory that all blocks can reach, rows are kept as records in place of cells, as long as all
// rows are weak or all are atomics of one class (row_lines.hpp), and cells have kept their width
// since the first row.  Rows of such memory wait in front of a shadow as long as all accesses of
// the period are weak reads, or atomics of one class (deferred_rows.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/check/race/race_class.hpp"
#include "vgpu/check/race/rows/deferred_rows.hpp"
#include "vgpu/check/race/rows/race_rows.hpp"
#include "vgpu/check/race/rows/row_lines.hpp"
#include "vgpu/machine/memory/host_pages.hpp"
#include "vgpu/machine/pattern.hpp"

namespace warpcheck::vgpu {

class Shadow {
 public:
  using Period = ShadowPeriod;
  // Begins a period without accesses.
  //   bytes: of the allocation.
  void begin(const Period& period, std::uint32_t bytes);
  [[nodiscard]] const Period& period() const { return period_; }

  // Makes cells one byte wide for the rest of the launch.
  void split_to_bytes();
  [[nodiscard]] bool is_bytes() const { return granularity_ == kByte; }
  // Cell number = byte offset >> offset_shift().
  [[nodiscard]] unsigned offset_shift() const { return is_bytes() ? 0 : 2; }

  // Returns the cells of one access class; allocates them on first use.
  //   pair: whether `other` is needed too.
  const History& history(unsigned access_class, bool pair);

  // Bit c: this period has records of accesses of class c. displaced(): it has such records in
  // history(c).other too.
  [[nodiscard]] std::uint32_t used() const { return used_; }
  [[nodiscard]] std::uint32_t displaced() const { return displaced_; }
  void mark(std::uint32_t used_classes, std::uint32_t displaced_classes) {
    if ((used_classes & ~used_) == 0 && (displaced_classes & ~displaced_) == 0) return;
    used_ |= used_classes;
    displaced_ |= displaced_classes;
    planned_ = 0;
  }

  // How to handle an access of a class here; valid as long as used() and displaced() do not change.
  struct Plan {
    History history;  // where to record it
    std::vector<CellCheck> checks;
  };
  //   ordered_threads: of the warp model
  //   hands_on: also looks for strong accesses that hand values on; constant within a period
  const Plan& plan(unsigned access_class, std::uint64_t ordered_threads, bool hands_on) {
    if ((planned_ >> access_class & 1) == 0) make_plan(access_class, ordered_threads, hands_on);
    return plans_[access_class];
  }

  // Returns whether rows of the class may be recorded as rows: weak rows, or rows of atomics that
  // do not race with each other.
  [[nodiscard]] bool takes_rows(unsigned access_class) const {
    constexpr std::uint32_t kWeak = 1u << kWeakRead | 1u << kWeakWrite;
    if (!period_.global || has_been_split_) return false;
    const std::uint32_t bit = 1u << access_class;
    if ((bit & kWeak) != 0) [[likely]]
      return (used_ & ~kWeak) == 0;
    return (used_ & ~bit) == 0 && AccessClass::of_index(access_class).atomic &&
           ((kClassRelations.race[access_class] | kClassRelations.race_across[access_class]) &
            bit) == 0 &&
           (update_class_ == 0 || update_class_ == access_class);
  }
  // Checks and records a strided or uniform row; requires takes_rows().  False: the row may race,
  // or has no shape for records; then the caller checks it in cells.
  //   row.history, row.check: not used
  bool take_row(const RaceRow& row, Pattern pattern, unsigned access_class);
  // Does the same for lanes at the distance of lines; requires suits(distance()).
  //   row.cell: of lane 0, as if it existed
  bool take_row_apart(const RaceRow& row, unsigned access_class) {
    return add_records(row, Pattern::strided, access_class);
  }
  // Returns the distance, in cells, of lanes whose rows are records (row_lines.hpp).
  [[nodiscard]] std::uint32_t distance() const { return lines_[granularity_].distance(); }
  // Returns whether rows of lanes at this distance are records.  The first row of a period may
  // change the distance, if since the last change as many rows had another one as it costs to
  // convert the lines.
  bool suits(std::uint32_t distance);
  // Checks and records a full row of words that is exactly one line; most rows are.  Requires cells
  // of words.  False: the caller must use take_row().
  //   epoch: of the thread in lane 0
  bool take_line(std::int64_t line, Epoch epoch, std::uint32_t pc, unsigned access_class,
                 std::uint64_t ordered_threads);
  // Converts the records at the bytes of `row` to cells, because that row is checked in cells.
  void to_cells(const RaceRow& row, Pattern pattern);
  // Converts all records to cells.
  void all_to_cells();

  // Calls visit(class, first byte, bytes, epoch, pc) for all records in the cells, of any period.
  template <typename Visit>
  void for_each_record(Visit visit) const {
    for (const Granularity granularity : {kWord, kByte}) {
      if (classes_[granularity] == nullptr) continue;
      const std::uint32_t width = granularity == kByte ? 1 : 4;
      for (unsigned access_class = 0; access_class < kAccessClasses; ++access_class) {
        const Pair& pair = (*classes_[granularity])[access_class];
        for (const Cells* cells : {&pair.last, &pair.other}) {
          for_each_seen(*cells, width, [&](std::uint64_t cell) {
            visit(access_class, static_cast<std::uint32_t>(cell * width), width,
                  cells->at.epoch[cell], cells->at.pc[cell]);
          });
        }
      }
    }
  }
  // Replaces every epoch in a cell by renew(epoch); 0 empties the cell.
  template <typename Renew>
  void renew_epochs(Renew renew) {
    for (const Granularity granularity : {kWord, kByte}) {
      if (classes_[granularity] == nullptr) continue;
      const std::uint32_t width = granularity == kByte ? 1 : 4;
      for (Pair& pair : *classes_[granularity]) {
        for (Cells* cells : {&pair.last, &pair.other}) {
          for_each_seen(*cells, width, [&](std::uint64_t cell) {
            Epoch& epoch = cells->at.epoch[cell];
            const Epoch renewed = renew(epoch);
            if (renewed != epoch) epoch = renewed;
          });
        }
      }
    }
  }
  // Empties every cell.
  void clear();
  // Returns for how many bytes there are cells.
  [[nodiscard]] std::uint32_t capacity() const { return capacity_; }
  // Releases the host memory.
  void release();
  [[nodiscard]] std::size_t host_bytes() const { return host_bytes_; }

 private:
  enum Granularity : std::uint8_t { kWord, kByte };
  struct Cells {
    HostPages pages;  // all epochs, then all pcs
    CellEpochs at;
  };
  struct Pair {
    Cells last, other;
    History history;
  };
  using Classes = std::array<Pair, kAccessClasses>;

  // Calls visit(cell) for the cells of the allocation whose epoch is not 0.
  template <typename Visit>
  void for_each_seen(const Cells& cells, std::uint32_t width, Visit visit) const {
    if (cells.pages.is_empty()) return;
    const std::uint64_t count = (std::uint64_t{capacity_} + width - 1) / width;
    const auto slack = static_cast<std::uint64_t>(
        cells.at.epoch - reinterpret_cast<const Epoch*>(cells.pages.data()));
    cells.pages.for_each_written([&](std::size_t offset, std::size_t bytes) {
      const std::uint64_t begin = offset / sizeof(Epoch), end = (offset + bytes) / sizeof(Epoch);
      for (std::uint64_t at = std::max(begin, slack); at < std::min(end, slack + count); ++at) {
        if (cells.at.epoch[at - slack] != 0) visit(at - slack);
      }
    });
  }
  void allocate(Cells& cells, Granularity granularity);
  static std::size_t slack_cells(Granularity granularity);
  [[nodiscard]] std::size_t cells_of(Granularity granularity) const;
  const History& history_at(Granularity granularity, unsigned access_class, bool pair);
  void make_plan(unsigned access_class, std::uint64_t ordered_threads, bool hands_on);

  bool make_lines(std::uint32_t distance);
  bool add_records(const RaceRow& row, Pattern pattern, unsigned access_class);
  void put_old(std::int64_t at, std::uint32_t launch);
  void put(Granularity granularity, std::int64_t line, const RowLines::Record& record);
  void line_to_cells(Granularity granularity, std::int64_t line);
  void lanes_to_cells(const RaceRow& row);
  void lanes_apart_to_cells(const RaceRow& row, Pattern pattern);
  [[nodiscard]] RowLines& lines() { return lines_[granularity_]; }
  [[nodiscard]] std::uint32_t short_period() const {
    return static_cast<std::uint32_t>(period_.number);
  }

  std::array<RowLines, 2> lines_;    // by granularity
  std::int64_t lines_in_cells_ = 0;  // of this granularity, in this period
  std::int64_t misfits_ = 0;         // rows of other distances, less those of the lines' distance
  unsigned update_class_ = 0;        // of the update rows; 0: there are none
  std::uint32_t used_ = 0, displaced_ = 0;
  std::uint32_t planned_ = 0;  // bit c: plans_[c] is valid
  std::vector<Plan> plans_;
  std::array<std::unique_ptr<Classes>, 2> classes_;  // by granularity
  Granularity granularity_ = kWord;
  bool has_been_split_ = false;  // in this launch, after its first access
  Period period_;
  std::uint32_t capacity_ = 0;  // in bytes of the allocation
  std::size_t host_bytes_ = 0;
};

}  // namespace warpcheck::vgpu
