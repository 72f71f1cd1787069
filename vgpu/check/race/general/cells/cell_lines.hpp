// Records of rows in place of the cells of global memory.
//
// Most accesses to global memory are weak accesses or atomics by whole rows of 32 neighbouring
// lanes.  In 32 cells (race_cells.hpp) such a row leaves 512 bytes.  So 32 neighbouring cells form
// a line, and a line keeps what one row leaves in its cells as one part of 16 bytes.  A line says
// exactly what its cells would say.  It moves to its cells when an access comes that parts cannot
// describe, and stays there until the memory is freed.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "vgpu/check/order/segments.hpp"
#include "vgpu/check/race/cells_in_line.hpp"
#include "vgpu/check/race/line_pool.hpp"
#include "vgpu/machine/access.hpp"
#include "vgpu/machine/memory/host_pages.hpp"

namespace warpcheck::vgpu {

class CellLines {
 public:
  // The weak accesses of one row to the cells of one line.
  struct Part {
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
    [[nodiscard]] bool has_lanes_of(const Part& other) const {
      return lane == other.lane && cells_log2 == other.cells_log2;
    }
  };
  using Parts = std::vector<Part>;
  struct Line {
    static constexpr std::size_t kFirst = 3;
    std::array<Part, kFirst> first;  // in order of execution; further parts are in `more`
    std::uint32_t deferred = 0;      // cells that only deferred atomics have accessed (AtomicLog)
    std::uint32_t more = LinePool<Parts>::kNone;  // the number of further parts
    std::uint16_t count = 0;                      // of all parts
    std::uint8_t deferred_bytes = 0;
    bool is_in_cells = false;  // the cells say everything, and this line nothing
  };

  //   bytes: of the allocation
  void allocate(std::uint32_t bytes);
  [[nodiscard]] bool is_empty() const { return pages_.is_empty(); }
  [[nodiscard]] Line& at(std::size_t line) { return reinterpret_cast<Line*>(pages_.data())[line]; }
  // Calls visit(part) for each part.
  template <typename Visit>
  void for_each_part(Visit visit) {
    pages_.for_each_written([&](std::size_t offset, std::size_t bytes) {
      for (std::size_t number = offset / sizeof(Line); number < (offset + bytes) / sizeof(Line);
           ++number) {
        Line& line = at(number);
        for (std::size_t i = 0; i < line.count; ++i) visit(part_of(line, i));
      }
    });
  }
  [[nodiscard]] Part& part_of(Line& line, std::size_t i) {
    return i < Line::kFirst ? line.first[i] : more_.at(line.more)[i - Line::kFirst];
  }

  // Adds a part if no access of it can race.  False: nothing was done, and the cells must decide.
  //   comes_before(earlier, part): every lane's access in an earlier part comes before that of the
  //   lane of the part that accesses the same cell
  template <typename ComesBefore>
  bool add(Line& line, const Part& part, ComesBefore comes_before) {
    const bool is_open = !line.is_in_cells && (line.deferred & part.cells) == 0;
    if (!is_open || line.count == kPartsMax) return false;
    for (std::size_t i = 0; i < line.count; ++i) {
      const Part& earlier = part_of(line, i);
      const bool conflicts = (earlier.cells & part.cells) != 0 && (part.write || earlier.write);
      if (conflicts && !comes_before(earlier, part)) return false;
    }
    std::size_t left = 0;
    for (std::size_t i = 0; i < line.count; ++i) {
      Part earlier = part_of(line, i);
      const bool is_replaced = (earlier.cells & part.cells) != 0 &&
                               (part.write || (!earlier.write && comes_before(earlier, part)));
      if (is_replaced) earlier.cells &= ~part.cells;
      if (earlier.cells != 0) put(line, left++, earlier);
    }
    put(line, left++, part);
    line.count = static_cast<std::uint16_t>(left);
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
      const Part& earlier = part_of(line, i);
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
      if (!visit(at(cell >> kLineCellsLog2), cells << cell % kLineCells)) return false;
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
      return visit(at(static_cast<std::size_t>(line)), part);
    });
  }

 private:
  static constexpr std::size_t kPartsMax = 128;

  static bool extend(Part& part, const Part& cell);
  void put(Line& line, std::size_t i, const Part& part) {
    if (i < Line::kFirst) {
      line.first[i] = part;
    } else {
      put_more(line, i - Line::kFirst, part);
    }
  }
  void put_more(Line& line, std::size_t i, const Part& part);

  HostPages pages_;
  LinePool<Parts> more_;
};

}  // namespace warpcheck::vgpu
