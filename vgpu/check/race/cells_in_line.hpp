// The cells of a row that lie in one line of 32 neighbouring cells.
//
// Row after row of 32 lanes accesses neighbouring cells, so the race checkers keep what one row
// leaves in a line as one record (rows/row_lines.hpp, general/cells/cell_lines.hpp).
#pragma once

#include <cstdint>

#include "vgpu/check/order/clocks/bits.hpp"

namespace warpcheck::vgpu {

inline constexpr unsigned kLineCellsLog2 = 5, kLineCells = 1u << kLineCellsLog2;

struct CellsInLine {
  std::int64_t lane = 0;    // that would access cell 0 of the line; it need not exist
  std::uint32_t cells = 0;  // one bit per cell
};

// Lanes with neighbouring cells.
struct RowOfCells {
  std::int64_t cell = 0;  // the first one of lane 0, active or not
  std::uint32_t mask = 0;
  unsigned cells_log2 = 0;  // of one lane
};

// Returns the cells of lanes with 2^cells_log2 cells each, from the first lane of a line on.
[[gnu::noinline]] inline std::uint32_t cells_of_wide_lanes(std::uint32_t lanes,
                                                           unsigned cells_log2) {
  std::uint64_t cells = lanes & ((1u << (kLineCells >> cells_log2)) - 1);
  for (unsigned i = 0; i < cells_log2; ++i) cells = twice(cells);
  return static_cast<std::uint32_t>(cells);
}

[[gnu::always_inline]] inline CellsInLine cells_in_line(const RowOfCells& row, std::int64_t line) {
  const std::int64_t lane = ((line << kLineCellsLog2) - row.cell) >> row.cells_log2;
  std::uint32_t cells = lane >= 0 ? row.mask >> lane : row.mask << -lane;
  if (row.cells_log2 == 1) {
    cells = static_cast<std::uint32_t>(twice(cells & 0xffff));
  } else if (row.cells_log2 == 2) {
    cells = static_cast<std::uint32_t>(twice(twice(cells & 0xff)));
  } else if (row.cells_log2 > 2) [[unlikely]] {
    cells = cells_of_wide_lanes(cells, row.cells_log2);
  }
  return {lane, cells};
}

// Calls visit(line, CellsInLine) for each line in which active lanes have cells, until it returns
// false.  Returns whether all calls have returned true.
template <typename Visit>
[[gnu::always_inline]] inline bool for_each_line_of(const RowOfCells& row, Visit visit) {
  const std::int64_t last = row.cell + (std::int64_t{32} << row.cells_log2) - 1;
  for (std::int64_t line = row.cell >> kLineCellsLog2; line <= last >> kLineCellsLog2; ++line) {
    const CellsInLine part = cells_in_line(row, line);
    if (part.cells != 0 && !visit(line, part)) return false;
  }
  return true;
}

}  // namespace warpcheck::vgpu
