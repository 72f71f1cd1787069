#include "vgpu/check/race/general/cells/cell_lines.hpp"

#include <bit>

#include "vgpu/check/order/clocks/bits.hpp"

namespace warpcheck::vgpu {

bool CellLines::add_past(Line& line, const Part& part, const Segments& segments) {
  if (line.is_in_cells || (line.deferred & part.cells) != 0) return false;
  const std::uint32_t launch = segments.at(part.segment).launch;
  const Records parts = records_of(line);
  std::size_t place = line.count;  // before the parts of later launches
  for (std::size_t i = line.count; i-- > 0;) {
    Part& other = parts[i];
    if (segments.at(other.segment).launch > launch) place = i;
    if ((other.cells & part.cells) != 0 && other.write && part.write) return false;
    const bool is_same =
        other.segment == part.segment && other.pc == part.pc && other.write == part.write;
    if (is_same && extend(other, part)) return true;
  }
  if (line.count == kPartsMax) return false;
  const Records more = with_room(line, line.count + 1);
  for (std::size_t i = line.count; i > place; --i) more[i] = more[i - 1];
  more[place] = part;
  ++line.count;
  return true;
}

// Adds a cell to a part if some number of cells per lane agrees with both.
bool CellLines::extend(Part& part, const Part& cell) {
  const auto at = static_cast<unsigned>(std::countr_zero(cell.cells));
  const unsigned lane = cell.lane_at(at);
  if (part.lane_at(at) == lane) {
    part.cells |= cell.cells;
    return true;
  }
  if (std::popcount(part.cells) > 2) return false;
  for (unsigned log2 = part.cells_log2 + 1U; log2 <= 2; ++log2) {
    Part wide = part;
    wide.cells_log2 = static_cast<std::uint8_t>(log2);
    wide.lane = static_cast<std::int16_t>(static_cast<int>(lane) - static_cast<int>(at >> log2));
    wide.cells |= cell.cells;
    bool agrees = true;
    for_each_bit(part.cells,
                 [&](unsigned other) { agrees &= wide.lane_at(other) == part.lane_at(other); });
    if (!agrees) continue;
    part = wide;
    return true;
  }
  return false;
}

void CellLines::leave(Line& line) {
  give_back_more(line);
  line = {};
  line.is_in_cells = true;
}

}  // namespace warpcheck::vgpu
