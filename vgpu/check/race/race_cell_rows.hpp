// The hot loops of the general race checker: the cells of one warp instruction, side by side.
//
// Mostly every cell of a row was last accessed in a segment that comes before all lanes, or by the
// lane itself; then the row says nothing new, and takes the place of what was there.  Compiled once
// per instruction set (race_cell_rows_simd.cpp); cell_row_functions() chooses.
#pragma once

#include <cstdint>
#include <string_view>

namespace warpcheck::vgpu {

// The lower half of a Record (race_cells.hpp): so many bits of its segment, and then its lane.
inline constexpr unsigned kRecordSegmentBits = 27;

// Cells of consecutive lanes, each as two words: Record::bits of the last weak write, and of a weak
// read (race_cells.hpp).
struct CellRow {
  std::uint64_t* words = nullptr;
  std::uint32_t cells = 0;
  std::uint32_t cells_log2 = 0;  // of one lane: 1 << cells_log2
};

// What comes before the row: segments by their numbers, and the accesses of each lane itself.
struct KnownBefore {
  std::uint64_t first = 0;         // segments below this one
  std::uint64_t segments[4] = {};  // 0: none
  std::uint64_t own = 0;           // the low half of a Record of the first lane
};

struct CellRowFunctions {
  // The first word that is of none of those, or stands for a list; 2 * cells: there is none.
  std::uint32_t (*find_other)(const CellRow& row, const KnownBefore& known);
  // The row's accesses take the place of all others.  record: that of the first lane
  void (*record_writes)(const CellRow& row, std::uint64_t record);
  void (*record_reads)(const CellRow& row, std::uint64_t record);
};

namespace baseline {
extern const CellRowFunctions kCellRowFunctions;
}
namespace avx2 {
extern const CellRowFunctions kCellRowFunctions;
}
namespace avx512 {
extern const CellRowFunctions kCellRowFunctions;
}

// level: one of vgpu::simd_level()'s
const CellRowFunctions& cell_row_functions(std::string_view level);

}  // namespace warpcheck::vgpu
