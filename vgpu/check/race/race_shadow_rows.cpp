// Records of rows in place of cells, and their conversion to cells.
#include <bit>

#include "vgpu/check/order/clocks/bits.hpp"
#include "vgpu/check/race/race_class.hpp"
#include "vgpu/check/race/race_shadow.hpp"

namespace warpcheck::vgpu {
namespace {

// A limit of a record.
constexpr unsigned kCellsLog2Max = 3;

// The lane that stands for a uniform row.
unsigned first_lane_of(const RaceRow& row) {
  return static_cast<unsigned>(std::countr_zero(row.mask));
}
unsigned last_lane_of(const RaceRow& row) {
  return 31 - static_cast<unsigned>(std::countl_zero(row.mask));
}

RowLines::Role role_of(unsigned access_class) {
  switch (access_class) {
    case kWeakRead: return RowLines::Role::last_read;
    case kWeakWrite: return RowLines::Role::write;
    default: return RowLines::Role::last_update;
  }
}

// Calls visit(line, record) for each line that active lanes of the row access, until it returns
// false.
template <typename Visit>
[[gnu::always_inline]] inline bool for_each_record_of_row(const RaceRow& row, Pattern pattern,
                                                          RowLines::Role role, Visit visit) {
  const std::uint32_t tag = RowLines::Record::tag_of(row.pc, row.cells_log2, role);
  if (pattern == Pattern::uniform) {
    const unsigned first = first_lane_of(row), last = last_lane_of(row);
    const std::int64_t line = row.cell >> kLineCellsLog2;
    return visit(line, uniform_record(row, tag, first)) &&
           (first == last || visit(line, uniform_record(row, tag, last)));
  }
  const RowOfCells lanes{row.cell, row.mask, row.cells_log2};
  return for_each_line_of(lanes, [&](std::int64_t line, const CellsInLine& part) {
    const Epoch epoch = row.epoch + static_cast<std::uint64_t>(part.lane);
    return visit(line, RowLines::Record{epoch, tag, part.cells});
  });
}

}  // namespace

bool Shadow::make_lines() {
  const std::uint32_t last_byte = (1u << offset_shift()) - 1;  // of a cell
  if (!lines().allocate((capacity_ + last_byte) >> offset_shift())) return false;
  host_bytes_ += lines().host_bytes();
  return true;
}

// If one part is refused, the row goes to cells.  The records already recorded are then found to be
// the row's own, and the records that they replaced were ordered before it.
bool Shadow::take_row(const RaceRow& row, Pattern pattern, unsigned access_class) {
  if (row.cells_log2 > kCellsLog2Max || row.pc >= RowLines::kPcsMax) return false;
  // Lines must contain everything that cells hold of the period.
  if (lines().is_empty() && (used_ != 0 || !make_lines())) return false;
  if (pattern == Pattern::uniform && row.exclusive &&
      unordered(row.epoch + first_lane_of(row), row.epoch + last_lane_of(row),
                row.ordered_threads)) {
    return false;
  }
  const std::uint32_t bit = 1u << access_class;
  const RowLines::Role role = role_of(access_class);
  if (role == RowLines::Role::last_update) update_class_ = access_class;
  mark(bit, 0);
  RowLines& lines = this->lines();
  return for_each_record_of_row(
      row, pattern, role, [&](std::int64_t at, const RowLines::Record& record) {
        RowLines::Line& line = lines.line_at(at);
        if (line.period == short_period()) return false;
        RowLines::Added added = lines.add(line, record, row.ordered_threads);
        if (added == RowLines::Added::full) [[unlikely]] {
          put_old(at, launch_of(row.epoch));
          added = lines.add(line, record, row.ordered_threads);
        }
        if (added == RowLines::Added::displacing) mark(bit, bit);
        return added <= RowLines::Added::displacing;
      });
}

bool Shadow::take_line(std::int64_t line, Epoch epoch, std::uint32_t pc, unsigned access_class,
                       std::uint64_t ordered_threads) {
  RowLines& lines = lines_[kWord];
  if (lines.is_empty() || pc >= RowLines::kPcsMax) return false;
  RowLines::Line& records = lines.line_at(line);
  if (records.period == short_period()) return false;
  const std::uint32_t bit = 1u << access_class;
  const RowLines::Role role = role_of(access_class);
  const RowLines::Added added =
      lines.add(records, {epoch, RowLines::Record::tag_of(pc, 0, role), ~0u}, ordered_threads);
  if (added > RowLines::Added::displacing) return false;
  if (role == RowLines::Role::last_update) update_class_ = access_class;
  mark(bit, added == RowLines::Added::displacing ? bit : 0);
  return true;
}

// Converts what launches before `launch` have left in a line to cells.  It is ordered before
// everything to come, so it needs no check.
void Shadow::put_old(std::int64_t at, std::uint32_t launch) {
  lines().take_away(lines().line_at(at), [&](const RowLines::Record& record) {
    if (launch_of(record.epoch_in(record.cells)) == launch) return false;
    put(granularity_, at, record);
    return true;
  });
}

// Converts a record to cells.
void Shadow::put(Granularity granularity, std::int64_t line, const RowLines::Record& record) {
  using Role = RowLines::Role;
  const Role role = record.role();
  const bool is_other = role == Role::other_read || role == Role::other_update;
  const unsigned access_class = role == Role::write        ? kWeakWrite
                                : role < Role::last_update ? kWeakRead
                                                           : update_class_;
  const History& history = history_at(granularity, access_class, is_other);
  const CellEpochs& cells = is_other ? history.other : history.last;
  const std::int64_t first = line << kLineCellsLog2;
  for_each_bit(record.cells, [&](unsigned cell) {
    cells.epoch[first + cell] = record.epoch_at(cell);
    cells.pc[first + cell] = record.pc();
  });
}

void Shadow::line_to_cells(Granularity granularity, std::int64_t at) {
  RowLines& lines = lines_[granularity];
  RowLines::Line& line = lines.line_at(at);
  if (line.count != 0) {
    lines.take_away(line, [&](const RowLines::Record& record) {
      put(granularity, at, record);
      return true;
    });
  }
  if (line.period == short_period()) return;
  line.period = short_period();
  lines_in_cells_ += granularity == granularity_ ? 1 : 0;
}

// Scattered rows are many, and mostly come to cells.
void Shadow::lanes_to_cells(const RaceRow& row) {
  const std::int64_t last_line = (capacity_ - 1) >> (offset_shift() + kLineCellsLog2);
  if (lines_in_cells_ == last_line + 1) return;
  const RowLines& lines = this->lines();
  const std::uint32_t* const offsets = row.offset;
  const unsigned shift = row.offset_shift + kLineCellsLog2;
  const std::uint32_t period = short_period();
  std::uint32_t others = 0;  // lanes
  for (std::uint32_t rest = row.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const bool is_in_cells = lines.line_at(offsets[lane] >> shift).period == period;
    others |= std::uint32_t{!is_in_cells} << lane;
  }
  for_each_bit(others, [&](unsigned lane) { line_to_cells(granularity_, offsets[lane] >> shift); });
}

void Shadow::to_cells(const RaceRow& row, Pattern pattern) {
  if (lines().is_empty() || has_been_split_) return;
  if (pattern == Pattern::scattered) return lanes_to_cells(row);
  constexpr auto kAny = RowLines::Role::write;
  for_each_record_of_row(row, pattern, kAny, [&](std::int64_t line, const auto&) {
    line_to_cells(granularity_, line);
    return true;
  });
}

void Shadow::all_to_cells() {
  for (const Granularity granularity : {kWord, kByte}) {
    const RowLines& lines = lines_[granularity];
    lines.for_each_line([&](std::int64_t line) {
      if (lines.line_at(line).count != 0) line_to_cells(granularity, line);
    });
  }
}

}  // namespace warpcheck::vgpu
