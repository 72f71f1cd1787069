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
    const auto cell = static_cast<unsigned>(row.cell % kLineCells);
    return visit(line, lane_record(row.epoch + first, tag, cell, row.cells_log2)) &&
           (first == last || visit(line, lane_record(row.epoch + last, tag, cell, row.cells_log2)));
  }
  const RowOfCells lanes{row.cell, row.mask, row.cells_log2};
  return for_each_line_of(lanes, [&](std::int64_t line, const CellsInLine& part) {
    const Epoch epoch = row.epoch + static_cast<std::uint64_t>(part.lane);
    return visit(line, RowLines::Record{epoch, tag, part.cells});
  });
}

// Does the same in lines whose cells lie at a distance, for a uniform row or for lanes at that
// distance: each of a lane's cells is in another line.
template <typename Visit>
bool for_each_record_apart(const RowLines& lines, const RaceRow& row, Pattern pattern,
                           RowLines::Role role, Visit visit) {
  const std::uint32_t tag = RowLines::Record::tag_of(row.pc, 0, role);
  const unsigned first = first_lane_of(row), last = last_lane_of(row);
  const std::int64_t distance = lines.distance();
  const auto take_cell = [&](std::int64_t cell) {
    const RowLines::Place place = lines.place_of(cell);
    if (pattern == Pattern::uniform) {
      const std::int64_t line = lines.line_of(place);
      const auto number = static_cast<unsigned>(place.row % kLineCells);
      return visit(line, lane_record(row.epoch + first, tag, number, 0)) &&
             (first == last || visit(line, lane_record(row.epoch + last, tag, number, 0)));
    }
    const RowOfCells lanes{place.row - first, row.mask, 0};
    return for_each_line_of(lanes, [&](std::int64_t at, const CellsInLine& part) {
      const Epoch epoch = row.epoch + static_cast<std::uint64_t>(part.lane);
      return visit(at * distance + place.column, RowLines::Record{epoch, tag, part.cells});
    });
  };
  const std::int64_t begin = row.cell + (pattern == Pattern::uniform ? 0 : first * distance);
  for (std::int64_t i = 0; i < std::int64_t{1} << row.cells_log2; ++i) {
    if (!take_cell(begin + i)) return false;
  }
  return true;
}

}  // namespace

bool Shadow::make_lines(std::uint32_t distance) {
  const std::uint32_t last_byte = (1u << offset_shift()) - 1;  // of a cell
  if (!lines().allocate((capacity_ + last_byte) >> offset_shift(), distance)) return false;
  host_bytes_ += lines().host_bytes();
  return true;
}

bool Shadow::suits(std::uint32_t distance) {
  RowLines& lines = this->lines();
  if (lines.distance() == distance && !lines.is_empty()) [[likely]] {
    if (misfits_ != 0) --misfits_;
    return true;
  }
  if (distance != 1 && distance > (capacity_ >> offset_shift()) / kLineCells) return false;
  if (lines.is_empty()) {
    // Lines must contain everything that cells hold of the period.
    return used_ == 0 && make_lines(distance);
  }
  if (misfits_ < lines.count()) {
    ++misfits_;
    return false;
  }
  if (used_ != 0) return false;
  all_to_cells();
  host_bytes_ -= lines.host_bytes();
  lines = {};
  lines_in_cells_ = misfits_ = 0;
  return make_lines(distance);
}

bool Shadow::take_row(const RaceRow& row, Pattern pattern, unsigned access_class) {
  const bool fits_any = pattern == Pattern::uniform || distance() == 1u << row.cells_log2;
  if ((lines().is_empty() || !fits_any) && !suits(1)) return false;
  if (pattern == Pattern::uniform && row.exclusive &&
      unordered(row.epoch + first_lane_of(row), row.epoch + last_lane_of(row),
                row.ordered_threads)) {
    return false;
  }
  return add_records(row, pattern, access_class);
}

// If one part is refused, the row goes to cells.  The records already recorded are then found to be
// the row's own, and the records that they replaced were ordered before it.
bool Shadow::add_records(const RaceRow& row, Pattern pattern, unsigned access_class) {
  if (row.cells_log2 > kCellsLog2Max || row.pc >= RowLines::kPcsMax) return false;
  const std::uint32_t bit = 1u << access_class;
  const RowLines::Role role = role_of(access_class);
  if (role == RowLines::Role::last_update) update_class_ = access_class;
  mark(bit, 0);
  RowLines& lines = this->lines();
  const auto add = [&](std::int64_t at, const RowLines::Record& record) {
    RowLines::Line& line = lines.line_at(at);
    if (line.period == short_period()) return false;
    RowLines::Added added = lines.add(line, record, row.ordered_threads);
    if (added == RowLines::Added::full) [[unlikely]] {
      put_old(at, launch_of(row.epoch));
      added = lines.add(line, record, row.ordered_threads);
    }
    if (added == RowLines::Added::displacing) mark(bit, bit);
    return added <= RowLines::Added::displacing;
  };
  return lines.distance() == 1 ? for_each_record_of_row(row, pattern, role, add)
                               : for_each_record_apart(lines, row, pattern, role, add);
}

bool Shadow::take_line(std::int64_t line, Epoch epoch, std::uint32_t pc, unsigned access_class,
                       std::uint64_t ordered_threads) {
  RowLines& lines = lines_[kWord];
  if (pc >= RowLines::kPcsMax || !suits(1)) return false;
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
  const RowLines& lines = lines_[granularity];
  const std::int64_t first = lines.first_cell(line), distance = lines.distance();
  for_each_bit(record.cells, [&](unsigned number) {
    const std::int64_t cell = first + number * distance;
    cells.epoch[cell] = record.epoch_at(number);
    cells.pc[cell] = record.pc();
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

// Does the same in lines whose cells lie at a distance, for any pattern.
void Shadow::lanes_apart_to_cells(const RaceRow& row, Pattern pattern) {
  const std::int64_t cells = std::int64_t{1} << row.cells_log2;
  for_each_bit(row.mask, [&](unsigned lane) {
    const std::int64_t begin = pattern == Pattern::scattered
                                   ? row.offset[lane] >> row.offset_shift
                                   : row.cell + (pattern == Pattern::strided ? lane * cells : 0);
    for (std::int64_t cell = begin; cell < begin + cells; ++cell) {
      line_to_cells(granularity_, lines().line_of(lines().place_of(cell)));
    }
  });
}

void Shadow::to_cells(const RaceRow& row, Pattern pattern) {
  if (lines().is_empty() || has_been_split_ || lines_in_cells_ == lines().count()) return;
  if (distance() != 1) return lanes_apart_to_cells(row, pattern);
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
