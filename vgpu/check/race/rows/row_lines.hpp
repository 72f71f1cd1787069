// Lines of rows (record_lines.hpp) for accesses that epochs order.
//
// Nearly all accesses are weak, or atomics of one class.  The content of a cell (race_shadow.hpp)
// is valid only if no record covers the cell.  Records interact exactly as cells would: what a
// later row replaces is removed from the cells of the earlier record, and what it displaces becomes
// a record of its own.
//
// The 32 cells of a line are neighbours, or lie at a distance: the threads of a warp that access
// one member of an array of structs leave their epochs in every seventh cell, say, and so does a
// warp that accesses a column of a matrix.  With lines of that distance, such a row is a record,
// too.
//
// A line is converted to cells when it has too many records, or when another kind of access comes
// to it.  It then stays converted until its period ends.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "vgpu/check/order/clocks/epoch.hpp"
#include "vgpu/check/race/cells_in_line.hpp"
#include "vgpu/check/race/rows/race_rows.hpp"
#include "vgpu/check/race/rows/record_lines.hpp"

namespace warpcheck::vgpu {

// Updates are atomics of one access class that do not race with each other.
enum class RowRole : std::uint8_t { write, last_read, other_read, last_update, other_update };
// Returns the role of the row's record after it was displaced by an unordered successor.
constexpr RowRole other_of(RowRole last) {
  return last == RowRole::last_read ? RowRole::other_read : RowRole::other_update;
}

// The part of a row that lies in one line.
struct RowRecord {
  using Role = RowRole;
  Epoch epoch = 0;  // of the lane that would access cell 0 of the line, active or not
  std::uint32_t tag = 0;
  std::uint32_t cells = 0;  // one bit per cell, not empty

  static std::uint32_t tag_of(std::uint32_t pc, unsigned cells_log2, Role role) {
    return pc << 5 | cells_log2 << 3 | static_cast<std::uint32_t>(role);
  }
  [[nodiscard]] std::uint32_t pc() const { return tag >> 5; }
  [[nodiscard]] unsigned cells_log2() const { return tag >> 3 & 3; }  // of a lane
  [[nodiscard]] Role role() const { return static_cast<Role>(tag & 7); }
  [[nodiscard]] std::uint32_t tag_as(Role role) const {
    return (tag & ~7u) | static_cast<std::uint32_t>(role);
  }
  [[nodiscard]] Epoch epoch_at(unsigned cell) const { return epoch + (cell >> cells_log2()); }
  [[nodiscard]] Epoch epoch_in(std::uint32_t some) const {
    return epoch_at(static_cast<unsigned>(std::countr_zero(some)));
  }
};

// The low bits of the period in which the line has been converted to cells.
struct PeriodOfLine {
  std::uint32_t period = 0;
};

class RowLines : public RecordLines<RowRecord, 1, std::array<RowRecord, 6>, PeriodOfLine> {
 public:
  static constexpr std::uint32_t kPcsMax = 1u << 27;
  using Role = RowRole;
  static constexpr std::uint32_t kMore = 6;  // records of a line in addition to the first

  //   cells: of the allocation
  //   distance: of neighbours in a line
  // False: there is no memory.
  bool allocate(std::size_t cells, std::uint32_t distance) {
    const std::size_t rows = (cells + distance - 1) / distance;
    const std::size_t count = (rows + kLineCells - 1) / kLineCells * distance;
    distance_ = distance;
    count_ = static_cast<std::int64_t>(count);
    return RecordLines::allocate(count * kLineCells);
  }
  [[nodiscard]] std::uint32_t distance() const { return distance_; }
  // Returns the number of lines.
  [[nodiscard]] std::int64_t count() const { return count_; }
  // Lines as rows and columns: a row is of `distance` cells, and a line is of 32 rows of a column.
  struct Place {
    std::int64_t row = 0, column = 0;
  };
  [[nodiscard]] Place place_of(std::int64_t cell) const {
    const auto at = static_cast<std::uint32_t>(cell);
    return {at / distance_, at % distance_};
  }
  [[nodiscard]] std::int64_t line_of(const Place& place) const {
    return (place.row >> kLineCellsLog2) * distance_ + place.column;
  }
  // Returns the first cell of a line.
  [[nodiscard]] std::int64_t first_cell(std::int64_t line) const {
    if (distance_ == 1) return line << kLineCellsLog2;
    return (line / distance_ << kLineCellsLog2) * distance_ + line % distance_;
  }

  // Checks a row's part against the records of `line`, and adds it.
  enum class Added : std::uint8_t {
    yes,
    displacing,  // added, and there is a new record with the role other_of()
    full,        // not added: there are too many records
    no,          // not added: it is unordered with a record, or only in some cells
  };
  Added add(Line& line, const Record& record, std::uint64_t ordered_threads) {
    if (line.count != 0) {
      if (line.count == 1 && replaces(record, line.first[0], ordered_threads)) {
        line.first[0] = record;
        return Added::yes;
      }
      if (line.count == 2 && replaces_last(line, record)) return Added::yes;
      switch (record.role()) {
        case Role::write: return add_write(line, record, ordered_threads);
        case Role::last_read: return add_shared<Role::last_read>(line, record, ordered_threads);
        default: return add_shared<Role::last_update>(line, record, ordered_threads);
      }
    }
    line.first[0] = record;
    line.count = 1;
    return Added::yes;
  }
  // Removes the records for which takes(record) is true.
  template <typename Takes>
  void take_away(Line& line, Takes takes) {
    const Records records = records_of(line);
    std::uint32_t left = 0;
    for (std::uint32_t i = 0; i < line.count; ++i) {
      const Record record = records[i];
      if (!takes(record)) records[left++] = record;
    }
    line.count = left;
  }

 private:
  // Returns whether the part replaces an earlier record completely, as rows of consecutive launches
  // mostly do.
  static bool replaces(const Record& record, const Record& earlier, std::uint64_t ordered_threads) {
    constexpr std::uint32_t kKind = 31;  // size and role
    return ((record.tag ^ earlier.tag) & kKind) == 0 && (earlier.cells & ~record.cells) == 0 &&
           !unordered(earlier.epoch_in(earlier.cells), record.epoch_in(earlier.cells),
                      ordered_threads);
  }

  // Replaces the last record if an existing record of another block tells more than it, as for rows
  // of blocks that all access the same line.
  bool replaces_last(Line& line, const Record& record) const {
    if (record.role() == Role::write) return false;
    const Records records = records_of(line);
    const Record &other = records[0], &last = records[1];
    const bool are_alike = last.cells == record.cells && other.cells == record.cells &&
                           ((last.tag ^ record.tag) & 31) == 0 &&
                           ((other.tag ^ record.tag_as(other_of(record.role()))) & 31) == 0;
    if (!are_alike || !across_blocks(other.epoch_in(record.cells), record.epoch_in(record.cells))) {
      return false;
    }
    records[1] = record;
    return true;
  }

  using Cells = std::array<std::uint32_t, 5>;  // by role

  std::uint32_t distance_ = 1;
  std::int64_t count_ = 0;

  Added add_write(Line& line, const Record& record, std::uint64_t ordered_threads);
  template <Role last>
  Added add_shared(Line& line, const Record& record, std::uint64_t ordered_threads);
};

// Returns the part of one lane with 2^cells_log2 cells.
//   cell: the first one, counted from the line's beginning
inline RowLines::Record lane_record(Epoch epoch, std::uint32_t tag, unsigned cell,
                                    unsigned cells_log2) {
  const std::uint32_t cells = ((1u << (1u << cells_log2)) - 1) << cell;
  return {epoch - (cell >> cells_log2), tag, cells};
}

}  // namespace warpcheck::vgpu
