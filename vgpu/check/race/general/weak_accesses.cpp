#include "vgpu/check/race/general/weak_accesses.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "vgpu/check/order/clocks/bits.hpp"
#include "vgpu/check/race/general/observed_writes.hpp"
#include "vgpu/check/race/race_class.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::uint32_t kWeakReads = 1u << kWeakRead;

// Returns the cell in the layout that the loops over rows use.
std::uint64_t* words_of(Cell* cell) {
  static_assert(sizeof(Cell) == 2 * sizeof(std::uint64_t) && offsetof(Cell, rest) == 8);
  return &cell->write.bits;
}

// Returns the active lanes, from `lane` on, that access the same bytes as `lane`.
std::uint32_t lanes_at(const Access& access, unsigned lane) {
  constexpr unsigned kWidth = 4;
  using Offsets [[gnu::vector_size(4 * kWidth)]] = std::uint32_t;
  constexpr Offsets kBits{1, 2, 4, 8};
  Offsets lanes{};
  for (unsigned first = 0; first < kWarpLanes; first += kWidth) {
    Offsets offsets;
    std::memcpy(&offsets, access.offset.data() + first, sizeof offsets);
    lanes |= (Offsets)(offsets == access.offset[lane]) & (kBits << first);
  }
  return (lanes[0] | lanes[1] | lanes[2] | lanes[3]) & access.mask & (~0u << lane);
}

}  // namespace

void WeakAccesses::check(CheckedRow& row) {
  const Access& access = *row.access;
  const unsigned access_class = class_of(access).index();
  const bool write = access.kind == AccessKind::write;
  const bool is_plain = row.proxy == Proxy::generic;  // accesses by other proxies need fences, too
  if (is_plain && access.pattern == Pattern::strided && take_neighbours(row)) return;
  const bool is_common = access.pattern == Pattern::uniform && std::popcount(access.mask) > 1;
  if (is_plain && is_common && !write && take_common_read(row)) return;
  if (row.proxy == Proxy::async && !write && proxy_reads_.take(row)) return;
  if (access.pattern != Pattern::uniform) fetch_records(row);
  std::uint32_t read = 0;  // lanes that are done
  for_each_bit(access.mask, [&](unsigned lane) {
    if ((read >> lane & 1) != 0) return;
    const LaneAccess mine{lane, access.offset[lane], access.bytes, access_class};
    if (is_plain && take_lane(row, mine)) return;
    if (is_plain && !write) {
      const std::uint32_t same = lanes_at(access, lane);
      if (take_read(row, mine, same)) {
        read |= same;
        return;
      }
    }
    checks_.run(
        row, [&] { row.for_each_cell(mine, [&](Cell& cell) { checks_.check(row, mine, cell); }); });
    record(row, mine);
  });
}

// Records of lanes in no order are far apart, so the caches fetch them for all lanes at once.
void WeakAccesses::fetch_records(const CheckedRow& row) {
  constexpr std::size_t kCacheLine = 64;
  const Access& access = *row.access;
  const unsigned shift = row.memory->shift();
  const Cell* const cells = row.memory->cells();
  const auto cell_of = [&](unsigned lane) { return cells + (access.offset[lane] >> shift); };
  for_each_bit(access.mask, [&](unsigned lane) { __builtin_prefetch(cell_of(lane), 1); });
  std::uint32_t in_lists = 0;
  for_each_bit(access.mask, [&](unsigned lane) {
    const Cell& cell = *cell_of(lane);
    if (!cell.has_list() || cell.is_deferred()) return;
    in_lists |= 1u << lane;
    const auto* const list = reinterpret_cast<const std::byte*>(&state_.lists.at(cell));
    for (std::size_t at = 0; at < sizeof(CellList); at += kCacheLine) {
      __builtin_prefetch(list + at, 1);
    }
  });
  for_each_bit(in_lists, [&](unsigned lane) {
    const CellList& list = state_.lists.at(*cell_of(lane));
    __builtin_prefetch(&list.entries.back(), 1);
    __builtin_prefetch(&list.entries.back() + 1, 1);
  });
}

bool WeakAccesses::take_in_lines(const WarpPlace& place, const CellLines::Part& part,
                                 const RowOfCells& row, CellLines& lines) {
  const auto comes_before = [&](const CellLines::Part& earlier, const CellLines::Part& later) {
    return (earlier.has_lanes_of(later) &&
            state_.order.segments().are_of_same_warp(earlier.segment, later.segment)) ||
           causality_.all_before(earlier.segment, later.segment, place);
  };
  return lines.for_each_line(row, part, [&](CellLines::Line& line, const CellLines::Part& in_line) {
    return lines.add(line, in_line, comes_before);
  });
}

void WeakAccesses::record(CheckedRow& row, const LaneAccess& mine) {
  if (row.access->kind != AccessKind::write) {
    return row.for_each_cell(mine, [&](Cell& cell) { record_read(row, mine.lane, cell); });
  }
  bool silences = false;
  row.for_each_cell(mine, [&](Cell& cell) {
    silences |= cell.has_list();
    record_write(row, mine.lane, cell);
  });
  if (silences) state_.variables.overwrite(row.access->allocation->id, mine.offset, mine.bytes);
}

// Records lanes with neighbouring cells together, if all accesses in those cells come before them.
// False: nothing was done.
bool WeakAccesses::take_neighbours(CheckedRow& row) {
  constexpr int kAttempts = 6;
  const Access& access = *row.access;
  const unsigned lane = access.first_lane();
  const std::uint32_t lanes = access.mask >> lane;
  if ((lanes & (lanes + 1)) != 0) return false;  // the lanes have gaps
  const unsigned shift = row.memory->shift();
  CellRow cells;
  cells.words = words_of(row.memory->cells() + (access.offset[lane] >> shift));
  cells.cells_log2 = static_cast<std::uint32_t>(std::countr_zero(access.bytes)) - shift;
  cells.cells = static_cast<std::uint32_t>(std::popcount(lanes)) << cells.cells_log2;
  const std::uint64_t of_lane = std::uint64_t{lane} << Record::kSegmentBits;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    KnownBefore known = row.known;
    known.own += of_lane;
    const std::uint32_t other = rows_.find_other(cells, known);
    if (other == 2 * cells.cells) {
      const std::uint64_t record = Record::of(row.now, lane, access.pc).bits;
      const bool write = access.kind == AccessKind::write;
      (write ? rows_.record_writes : rows_.record_reads)(cells, record);
      return true;
    }
    const std::uint64_t word = cells.words[other];
    if ((word & Cell::kIsList) != 0 || !causality_.all_before(row, Record{word}.segment()))
      return false;
  }
  return false;
}

// Records a row in which all lanes read the same bytes, if no lane's read can race.  False: nothing
// was done.
bool WeakAccesses::take_common_read(CheckedRow& row) {
  const Access& access = *row.access;
  const LaneAccess mine{access.first_lane(), access.offset[access.first_lane()], access.bytes, 0};
  bool is_ordered = true;
  row.for_each_cell(mine, [&](const Cell& cell) {
    is_ordered &= cell.write.bits == 0 || causality_.all_before(row, cell.write.segment());
    if (cell.has_list()) is_ordered &= (state_.lists.at(cell).classes & ~kWeakReads) == 0;
  });
  if (!is_ordered) return false;
  row.for_each_cell(mine, [&](Cell& cell) {
    const bool is_past = !cell.has_list() && cell.rest != 0 &&
                         causality_.all_before(row, Record{cell.rest}.segment());
    if (is_past) cell.rest = 0;
    state_.lists.add(cell, {.segment = row.now, .lanes = access.mask, .pc = access.pc},
                     state_.order);
  });
  return true;
}

// Records lanes that read the same bytes, if reads of these bytes cannot race here.  False: nothing
// was done.
bool WeakAccesses::take_read(CheckedRow& row, const LaneAccess& mine, std::uint32_t lanes) {
  const bool is_one = std::has_single_bit(lanes);
  const auto is_ordered = [&](const Record& write) {
    if (write.bits == 0 || write.segment() < row.first) return true;
    if (std::ranges::find(row.known.segments, write.segment()) != std::end(row.known.segments)) {
      return true;
    }
    return is_one ? causality_.is_before(row, write.segment(), write.lane(), mine.lane)
                  : causality_.all_before(row, write.segment());
  };
  bool is_clean = true;
  row.for_each_cell(mine, [&](const Cell& cell) {
    is_clean = is_clean && is_ordered(cell.write);
    if (!is_clean || !cell.has_list()) return;
    const CellList& list = state_.lists.at(cell);
    is_clean = (list.classes & ~kWeakReads) == 0 || row.is_after(list);
  });
  if (!is_clean) return false;
  row.for_each_cell(mine, [&](Cell& cell) {
    if (cell.has_list() && row.is_after(state_.lists.at(cell))) state_.lists.drop(cell);
    std::uint32_t rest = lanes;
    for (; rest != 0 && !cell.has_list(); rest &= rest - 1) {
      record_read(row, static_cast<unsigned>(std::countr_zero(rest)), cell);
    }
    if (rest == 0) return;
    state_.lists.add_reads(cell, {.segment = row.now, .lanes = rest, .pc = row.access->pc},
                           state_.order);
  });
  return true;
}

// Records one lane, if all accesses in its cells come before it.  False: nothing was done.
bool WeakAccesses::take_lane(const CheckedRow& row, const LaneAccess& mine) {
  const std::uint64_t own = row.known.own + (std::uint64_t{mine.lane} << Record::kSegmentBits);
  const auto is_known = [&](std::uint64_t word) {
    const std::uint64_t segment = word & (kSegmentsMax - 1);
    const bool is_before =
        segment < row.known.first || (word & 0xffffffff) == own ||
        std::ranges::find(row.known.segments, segment) != std::end(row.known.segments);
    return word == 0 || ((word & Cell::kIsList) == 0 && is_before);
  };
  bool is_ordered = true;
  row.for_each_cell(mine, [&](const Cell& cell) {
    is_ordered &= is_known(cell.write.bits) && is_known(cell.rest);
  });
  if (!is_ordered) return false;
  const Record record = Record::of(row.now, mine.lane, row.access->pc);
  row.for_each_cell(mine, [&](Cell& cell) {
    if (row.access->kind == AccessKind::write) {
      cell = {record, 0};
    } else {
      cell.rest = record.bits;
    }
  });
  return true;
}

// Accesses that come before this write are dropped.
void WeakAccesses::record_write(CheckedRow& row, unsigned lane, Cell& cell) {
  const Record before = cell.write;
  const bool raced =
      before.bits != 0 && !causality_.is_before(row, before.segment(), before.lane(), lane);
  cell.write = Record::of(row.now, lane, row.access->pc);
  if (cell.has_list()) {
    const bool has_chains = state_.lists.at(cell).classes != kWeakReads;
    const ObservedWrites observed =
        has_chains ? ObservedWrites(causality_, row, state_.lists.at(cell), lane)
                   : ObservedWrites{};
    state_.lists.filter(cell, [&](const CellEntry& entry) {
      if (causality_.all_before(row, entry.segment)) return false;
      bool keeps = false;
      for_each_bit(entry.lanes, [&](unsigned by) {
        keeps |=
            !causality_.is_before(row, entry.segment, by, lane) && !observed.include(entry, by);
      });
      return keeps;
    });
    if (cell.has_list()) state_.lists.shorten(cell);  // this write races with the remaining entries
  } else if (cell.rest != 0) {
    const Record read{cell.rest};
    if (causality_.is_before(row, read.segment(), read.lane(), lane)) cell.rest = 0;
  }
  if (raced) {
    state_.lists.add(cell,
                     {.segment = before.segment(),
                      .lanes = 1u << before.lane(),
                      .pc = before.pc(),
                      .access_class = kWeakWrite},
                     state_.order);
  }
}

void WeakAccesses::record_read(CheckedRow& row, unsigned lane, Cell& cell) {
  const Record before{cell.rest};
  if (cell.rest == 0 ||
      (!cell.has_list() && causality_.is_before(row, before.segment(), before.lane(), lane))) {
    cell.rest = Record::of(row.now, lane, row.access->pc).bits;
    return;
  }
  state_.lists.add(cell, {.segment = row.now, .lanes = 1u << lane, .pc = row.access->pc},
                   state_.order);
}

}  // namespace warpcheck::vgpu
