#include "vgpu/check/race/rows/row_lines.hpp"

namespace warpcheck::vgpu {
namespace {

// Returns whether the records are of lanes of one warp in one phase with cells of different sizes:
// then some common cells may be of the same thread and others not.  In all other cases, what holds
// in one common cell holds in all.
bool is_mixed(const RowLines::Record& a, const RowLines::Record& b, Epoch differing) {
  return a.cells_log2() != b.cells_log2() && differing < kOrderedInWarp;
}

}  // namespace

// A write replaces earlier writes completely.
RowLines::Added RowLines::add_write(Line& line, const Record& record,
                                    std::uint64_t ordered_threads) {
  const Records records = records_of(line);
  const std::uint32_t count = line.count;
  std::uint32_t left = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Record& earlier = records[i];
    const std::uint32_t met = earlier.cells & record.cells;
    ++left;
    if (met == 0) continue;
    const Epoch before = earlier.epoch_in(met), me = record.epoch_in(met);
    if (unordered(before, me, ordered_threads) || is_mixed(earlier, record, before ^ me)) {
      return Added::no;
    }
    if (met == earlier.cells && earlier.role() == Role::write) --left;
  }
  if (left > kMore) return Added::full;
  left = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    Record earlier = records[i];
    if (earlier.role() == Role::write) earlier.cells &= ~record.cells;
    if (earlier.cells != 0) records[left++] = earlier;
  }
  with_room(line, left + 1)[left] = record;
  line.count = left + 1;
  return Added::yes;
}

// Adds a read or an update, as record() of race_rows.hpp does in each cell.
template <RowLines::Role last>
RowLines::Added RowLines::add_shared(Line& line, const Record& record,
                                     std::uint64_t ordered_threads) {
  constexpr Role displaced_role = other_of(last);
  Records records = records_of(line);
  const std::uint32_t count = line.count;
  std::array<Record, kMore + 1> moved;
  std::uint32_t moves = 0, displaced = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Record& earlier = records[i];
    std::uint32_t met = earlier.cells & record.cells;
    if (met == 0 || earlier.role() == displaced_role) continue;
    const Epoch before = earlier.epoch_in(met), me = record.epoch_in(met);
    if (is_mixed(earlier, record, before ^ me)) return Added::no;
    if (!unordered(before, me, ordered_threads)) continue;
    if (earlier.role() != last) return Added::no;
    for (std::uint32_t j = 0; j < count; ++j) {
      const Record& other = records[j];
      const std::uint32_t both = other.cells & met;
      if (both == 0 || other.role() != displaced_role) continue;
      const Epoch kept = other.epoch_in(both);
      const bool says_more =
          across_blocks(kept, me) || (of_same_warp(before, me) && of_other_warp_in_phase(kept, me));
      if (says_more) met &= ~both;
    }
    if (met == 0) continue;
    displaced |= met;
    moved[moves++] = {earlier.epoch, earlier.tag_as(displaced_role), met};
  }
  Cells stays;
  stays.fill(~0u);
  stays[static_cast<std::size_t>(last)] = ~record.cells;
  stays[static_cast<std::size_t>(displaced_role)] = ~displaced;
  std::uint32_t left = 1 + moves;
  for (std::uint32_t i = 0; i < count; ++i) {
    left += (records[i].cells & stays[static_cast<std::size_t>(records[i].role())]) != 0 ? 1 : 0;
  }
  if (left > kMore + 1) return Added::full;
  records = with_room(line, left);
  line.count = left;
  left = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    Record earlier = records[i];
    earlier.cells &= stays[static_cast<std::size_t>(earlier.role())];
    if (earlier.cells != 0) records[left++] = earlier;
  }
  records[left++] = record;
  for (std::uint32_t i = 0; i < moves; ++i) records[left++] = moved[i];
  return moves == 0 ? Added::yes : Added::displacing;
}

template RowLines::Added RowLines::add_shared<RowLines::Role::last_read>(Line&, const Record&,
                                                                         std::uint64_t);
template RowLines::Added RowLines::add_shared<RowLines::Role::last_update>(Line&, const Record&,
                                                                           std::uint64_t);

}  // namespace warpcheck::vgpu
