// Lines of rows (record_lines.hpp) for accesses that segments order.
//
// What one row leaves in the cells of a line (race_cells.hpp) is a part.  A line says exactly what
// its cells would say, and which of them only deferred atomics have accessed.  It moves to its
// cells when an access comes that parts cannot describe, and stays there until the memory is freed.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "vgpu/check/order/clocks/segments.hpp"
#include "vgpu/check/race/cells_in_line.hpp"
#include "vgpu/check/race/rows/record_lines.hpp"
#include "vgpu/machine/access.hpp"

namespace warpcheck::vgpu {

// The weak accesses of one row to the cells of one line.
struct LinePart {
  SegmentId segment = 0;
  std::uint32_t pc = 0;
  std::uint32_t cells = 0;      // one bit per cell, not empty
  std::int16_t lane = 0;        // that would access cell 0 of the line; it need not exist
  std::uint8_t cells_log2 = 0;  // of a lane
  bool write = false;
  [[nodiscard]] unsigned lane_at(unsigned cell) const {
    return static_cast<unsigned>(lane + static_cast<int>(cell >> cells_log2));
  }
  // Returns whether the same lane accesses each cell that both access.
  [[nodiscard]] bool has_lanes_of(const LinePart& other) const {
    return lane == other.lane && cells_log2 == other.cells_log2;
  }
};

// What a line keeps besides its parts.
struct StateOfLine {
  std::uint32_t deferred = 0;  // cells that only deferred atomics have accessed (AtomicLog)
  std::uint8_t deferred_bytes = 0;
  bool is_in_cells = false;  // the cells say everything, and this line nothing
};

// Parts are in order of execution.
class CellLines : public RecordLines<LinePart, 3, std::vector<LinePart>, StateOfLine> {
 public:
  using Part = LinePart;
  using RecordLines::for_each_line;

  // Adds a part if no access of it can race.  False: nothing was done, and the cells must decide.
  //   comes_before(earlier, part): every lane's access in an earlier part comes before that of the
  //   lane of the part that accesses the same cell
  template <typename ComesBefore>
  bool add(Line& line, const Part& part, ComesBefore comes_before) {
    const bool is_open = !line.is_in_cells && (line.deferred & part.cells) == 0;
    if (!is_open || line.count == kPartsMax) return false;
    const Records parts = records_of(line);
    for (std::size_t i = 0; i < line.count; ++i) {
      const Part& earlier = parts[i];
      const bool conflicts = (earlier.cells & part.cells) != 0 && (part.write || earlier.write);
      if (conflicts && !comes_before(earlier, part)) return false;
    }
    std::size_t left = 0;
    for (std::size_t i = 0; i < line.count; ++i) {
      Part earlier = parts[i];
      const bool is_replaced = (earlier.cells & part.cells) != 0 &&
                               (part.write || (!earlier.write && comes_before(earlier, part)));
      if (is_replaced) earlier.cells &= ~part.cells;
      if (earlier.cells != 0) parts[left++] = earlier;
    }
    with_room(line, left + 1)[left] = part;
    line.count = static_cast<std::uint32_t>(left) + 1;
    return true;
  }
  // Adds an access to one cell by an earlier launch, which the line does not have yet.  False:
  // nothing was done, and the cells must record it.
  bool add_past(Line& line, const Part& part, const Segments& segments);
  // Returns whether atomics may be deferred in the cells: no access was made there but deferred
  // atomics of the same size, and writes that come before.
  //   comes_before(segment): what the segment's lanes did comes before the atomics
  template <typename ComesBefore>
  bool may_defer(Line& line, std::uint32_t cells, std::uint32_t bytes, ComesBefore comes_before) {
    if (line.is_in_cells || (line.deferred != 0 && line.deferred_bytes != bytes)) return false;
    if ((cells & ~line.deferred) == 0) return true;
    for (std::size_t i = 0; i < line.count; ++i) {
      const Part& earlier = records_of(line)[i];
      if ((earlier.cells & cells) == 0) continue;
      if (!earlier.write || !comes_before(earlier.segment)) return false;
    }
    return true;
  }
  static void defer(Line& line, std::uint32_t cells, std::uint32_t bytes) {
    line.deferred |= cells;
    line.deferred_bytes = static_cast<std::uint8_t>(bytes);
  }
  // Empties a line whose content has moved to the cells.
  void leave(Line& line);

  // Returns the row of lanes with neighbouring words.
  //   first: the offset of lane 0, active or not
  //   bytes: of one lane: 4, 8 or 16
  static RowOfCells row_of(std::int64_t first, std::uint32_t mask, std::uint32_t bytes) {
    return {first >> 2, mask, static_cast<unsigned>(std::countr_zero(bytes)) - 2};
  }
  // Calls visit(line, cells) for the lines of lanes in any order, until it returns false.
  // Returns whether all calls have returned true.
  template <typename Visit>
  bool for_each_line(const Access& access, Visit visit) {
    if (access.pattern == Pattern::strided) {
      const unsigned lane = access.first_lane();
      const std::int64_t first = std::int64_t{access.offset[lane]} - lane * access.bytes;
      return for_each_line(row_of(first, access.mask, access.bytes), {},
                           [&](Line& line, const Part& part) { return visit(line, part.cells); });
    }
    for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
      const std::uint32_t cell = access.offset[std::countr_zero(rest)] / 4;
      const std::uint32_t cells = (1u << access.bytes / 4) - 1;
      if (!visit(line_at(cell >> kLineCellsLog2), cells << cell % kLineCells)) return false;
      if (access.pattern == Pattern::uniform) break;
    }
    return true;
  }
  // Calls visit(line, part) for the lines of a row, until it returns false.
  //   part: its segment, pc and role
  // Returns whether all calls have returned true.
  template <typename Visit>
  bool for_each_line(const RowOfCells& row, Part part, Visit visit) {
    part.cells_log2 = static_cast<std::uint8_t>(row.cells_log2);
    return for_each_line_of(row, [&](std::int64_t line, const CellsInLine& in_line) {
      part.lane = static_cast<std::int16_t>(in_line.lane);
      part.cells = in_line.cells;
      return visit(line_at(line), part);
    });
  }

 private:
  static constexpr std::size_t kPartsMax = 128;

  static bool extend(Part& part, const Part& cell);
};

}  // namespace warpcheck::vgpu
