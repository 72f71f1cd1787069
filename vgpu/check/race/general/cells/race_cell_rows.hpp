// The hot loops of the general race checker over the neighbouring cells of one warp instruction.
//
// Mostly, every cell of a row was last accessed in a segment that comes before all lanes, or by the
// lane itself.  Then the row cannot race, and its record replaces the old one.  The loops are
// compiled once per instruction set (race_cell_rows_simd.cpp); cell_row_functions() chooses.
#pragma once

#include <cstdint>
#include <string_view>

namespace warpcheck::vgpu {

// The number of bits of the segment in the lower half of a Record (race_cells.hpp); the lane
// follows.
inline constexpr unsigned kRecordSegmentBits = 27;

// Cells of consecutive lanes, two words each: Record::bits of the last weak write, and of a weak
// read (race_cells.hpp).
struct CellRow {
  std::uint64_t* words = nullptr;
  std::uint32_t cells = 0;
  std::uint32_t cells_log2 = 0;  // each lane has 1 << cells_log2 cells
};

// The accesses that come before the row: those of certain segments, and each lane's own.
struct KnownBefore {
  std::uint64_t first = 0;         // all segments below this one
  std::uint64_t segments[4] = {};  // further segments; 0: none
  std::uint64_t own = 0;           // the low half of the first lane's Record
};

struct CellRowFunctions {
  // Returns the first word that belongs to none of those, or that refers to a list; 2 * cells:
  // there is none.
  std::uint32_t (*find_other)(const CellRow& row, const KnownBefore& known);
  // The row's accesses replace all others. record: that of the first lane
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

// level: a value of vgpu::simd_level().
const CellRowFunctions& cell_row_functions(std::string_view level);

}  // namespace warpcheck::vgpu
