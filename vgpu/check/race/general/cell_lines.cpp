#include "vgpu/check/race/general/cell_lines.hpp"

#include <new>

namespace warpcheck::vgpu {

void CellLines::allocate(std::uint32_t bytes) {
  const std::size_t lines = (std::size_t{bytes} >> (2 + kCellsLog2)) + 1;
  pages_ = HostPages(lines * sizeof(Line), std::byte{0});
  if (pages_.is_empty()) throw std::bad_alloc();
}

void CellLines::put_more(Line& line, std::size_t i, const Part& part) {
  if (line.more == 0) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(more_.size()));
      more_.emplace_back();
    }
    line.more = free_.back() + 1;
    free_.pop_back();
  }
  std::vector<Part>& parts = more_[line.more - 1];
  if (i >= parts.size()) parts.resize(i + 1);
  parts[i] = part;
}

void CellLines::leave(Line& line) {
  if (line.more != 0) {
    more_[line.more - 1].clear();
    free_.push_back(line.more - 1);
  }
  line = {};
  line.is_in_cells = true;
}

}  // namespace warpcheck::vgpu
