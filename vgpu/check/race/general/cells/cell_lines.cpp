#include "vgpu/check/race/general/cells/cell_lines.hpp"

#include <bit>
#include <new>

#include "vgpu/check/order/bits.hpp"

namespace warpcheck::vgpu {

void CellLines::allocate(std::uint32_t bytes) {
  const std::size_t lines = (std::size_t{bytes} >> (2 + kLineCellsLog2)) + 1;
  pages_ = HostPages(lines * sizeof(Line), std::byte{0});
  if (pages_.is_empty()) throw std::bad_alloc();
}

void CellLines::put_more(Line& line, std::size_t i, const Part& part) {
  if (line.more == LinePool<Parts>::kNone) line.more = more_.take();
  Parts& parts = more_.at(line.more);
  if (i >= parts.size()) parts.resize(i + 1);
  parts[i] = part;
}

bool CellLines::add_past(Line& line, const Part& part, const Segments& segments) {
  if (line.is_in_cells || (line.deferred & part.cells) != 0) return false;
  const std::uint32_t launch = segments.at(part.segment).launch;
  std::size_t place = line.count;  // before the parts of later launches
  for (std::size_t i = line.count; i-- > 0;) {
    Part& other = part_of(line, i);
    if (segments.at(other.segment).launch > launch) place = i;
    if ((other.cells & part.cells) != 0 && other.write && part.write) return false;
    const bool is_same =
        other.segment == part.segment && other.pc == part.pc && other.write == part.write;
    if (is_same && extend(other, part)) return true;
  }
  if (line.count == kPartsMax) return false;
  for (std::size_t i = line.count; i > place; --i) {
    const Part moved = part_of(line, i - 1);
    put(line, i, moved);
  }
  put(line, place, part);
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
  if (line.more != LinePool<Parts>::kNone) {
    more_.at(line.more).clear();
    more_.give_back(line.more);
  }
  line = {};
  line.is_in_cells = true;
}

}  // namespace warpcheck::vgpu
