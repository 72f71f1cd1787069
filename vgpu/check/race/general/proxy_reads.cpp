#include "vgpu/check/race/general/proxy_reads.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "vgpu/check/order/clocks/bits.hpp"
#include "vgpu/check/race/race_class.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::uint32_t kOnlyReads = 1u << kWeakRead;

bool are_of_one_agent(const Segment& one, const Segment& other) {
  return one.asynchronous && one.agent == other.agent && one.agent_block == other.agent_block &&
         one.launch == other.launch;
}

// Returns whether segments are those of products of one warpgroup.
bool are_of_one_warpgroup(const Segment& one, const Segment& other) {
  constexpr std::uint32_t kGroupThreads = 4 * kWarpLanes;
  return one.asynchronous && one.agent / kGroupThreads == other.agent / kGroupThreads &&
         one.agent_block == other.agent_block && one.launch == other.launch;
}

// The segments that have accessed all cells of a chunk.
struct ChunkSegments {
  SegmentId write = 0;  // 0: several, or none
  bool has_list = false;
  bool is_read_alike = false;  // all cells by one segment, or none
  [[nodiscard]] bool has_one_write() const { return write != 0 && !has_list; }
};
template <std::uint32_t kCount>
ChunkSegments segments_of(const Cell* cells) {
  using Words [[gnu::vector_size(16)]] = std::uint64_t;  // of a cell: its write and the rest
  static_assert(sizeof(Cell) == sizeof(Words) && offsetof(Cell, rest) == 8);
  constexpr std::uint64_t kSegment = kSegmentsMax - 1;
  const auto words_of = [&](std::uint32_t number) {
    Words words;
    std::memcpy(&words, cells + number, sizeof words);
    return words;
  };
  const Words first = words_of(0);
  Words others{};
  for (std::uint32_t i = 1; i < kCount; ++i) others |= words_of(i) ^ first;
  const bool has_one_write = (others[0] & kSegment) == 0;
  const bool has_list = ((first[1] | others[1]) & Cell::kIsList) != 0;
  return {static_cast<SegmentId>(has_one_write ? first[0] & kSegment : 0), has_list,
          !has_list && (others[1] & kSegment) == 0};
}

ChunkSegments segments_of(const Cell* cells, unsigned shift) {
  constexpr std::uint32_t kBytes = ProductRead::kChunkBytes;
  if (shift == 0) return segments_of<kBytes>(cells);
  return shift == 1 ? segments_of<kBytes / 2>(cells) : segments_of<kBytes / 4>(cells);
}

}  // namespace

bool ProxyReads::take(CheckedRow& row) {
  const Access& access = *row.access;
  Meets meets;
  meets.of_product = access.program->code[access.pc].kind == InstrKind::group_load;
  return take(row, meets, [&](auto visit) {
    for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
      const LaneAccess mine{lane, access.offset[lane], access.bytes, 0};
      row.for_each_cell(mine, [&](Cell& cell) { visit(lane, cell); });
    }
  });
}

bool ProxyReads::take(CheckedRow& row, const ProductRead& read) {
  Meets meets;
  meets.of_product = read.program->code[read.pc].kind == InstrKind::group_load;
  if (!read.is_of_warp()) meets.only_lane = read.first_lane;
  CellMemory& memory = *row.memory;
  Tile& tile = tile_of(memory, read);
  const std::uint64_t reader = reader_of(read);
  const bool is_known = tile.is_of(memory, read);
  if (is_known && is_visible(row, tile, reader)) {
    is_read_alike_.assign(read.chunks.size(), true);
  } else if (!look_at_chunks(row, meets, read, tile)) {
    return false;
  }
  if (!is_known) tile.readers.clear();
  constexpr std::size_t kReadersMax = 16;
  const bool is_new = std::ranges::find(tile.readers, reader) == tile.readers.end();
  if (is_new && tile.readers.size() < kReadersMax) tile.readers.push_back(reader);
  leave(row, meets, read);
  return true;
}

bool ProxyReads::Tile::is_of(const CellMemory& of, const ProductRead& read) const {
  return memory == &of && changes == of.changes() && std::ranges::equal(chunks, read.chunks);
}

// Returns where what is known of the product's chunks is kept.
ProxyReads::Tile& ProxyReads::tile_of(const CellMemory& memory, const ProductRead& read) {
  const auto of_memory = reinterpret_cast<std::uintptr_t>(&memory) / sizeof memory;
  const std::size_t first = read.chunks.front() / ProductRead::kChunkBytes;
  return tiles_[(first ^ first / kTiles ^ of_memory) % kTiles];
}

std::uint64_t ProxyReads::reader_of(const ProductRead& read) const {
  constexpr std::uint64_t kWarp = std::uint64_t{1} << 63;
  return state_.order.threads().key_of(read.place, read.first_lane) |
         (read.is_of_warp() ? kWarp : 0);
}

// What is visible to a thread once stays so.
bool ProxyReads::is_visible(CheckedRow& row, const Tile& tile, std::uint64_t reader) {
  if (std::ranges::find(tile.readers, reader) != tile.readers.end()) return true;
  return std::ranges::all_of(
      tile.writes, [&](SegmentId by) { return by < row.first || visible_lanes(row, by) == ~0u; });
}

// Returns whether no read of the product can race.  Fills in the tile.
bool ProxyReads::look_at_chunks(CheckedRow& row, Meets& meets, const ProductRead& read,
                                Tile& tile) {
  CellMemory& memory = *row.memory;
  const std::uint32_t count = ProductRead::kChunkBytes >> memory.shift();
  const auto add = [&](SegmentId by) {
    if (!tile.writes.empty() && tile.writes.back() == by) return;
    if (std::ranges::find(tile.writes, by) == tile.writes.end()) tile.writes.push_back(by);
  };
  bool is_tile = has_tiles_ = true;
  tile.writes.clear();
  is_read_alike_.clear();
  for (const std::uint32_t offset : read.chunks) {
    const Cell* const chunk = memory.cells_for_products() + (offset >> memory.shift());
    const ChunkSegments segments = segments_of(chunk, memory.shift());
    is_read_alike_.push_back(segments.is_read_alike);
    is_tile &= segments.is_read_alike && segments.has_one_write();
    if (segments.has_one_write()) add(segments.write);
    if (segments.has_one_write() && meets.is_seen_by_all(segments.write)) continue;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!is_clean(row, meets, chunk[i])) {
        tile.memory = nullptr;
        return false;
      }
    }
  }
  tile.memory = is_tile ? &memory : nullptr;
  tile.changes = memory.changes();
  tile.chunks.assign(read.chunks.begin(), read.chunks.end());
  return true;
}

// Leaves the reads of a product in its cells, which are clean.
void ProxyReads::leave(CheckedRow& row, Meets& meets, const ProductRead& read) {
  CellMemory& memory = *row.memory;
  const std::uint32_t count = ProductRead::kChunkBytes >> memory.shift();
  const std::uint32_t of_word = count / (ProductRead::kChunkBytes / 4);
  bool obeys = true;  // Tile's rule of reads, where it did before; a chunk may be read twice
  for (std::uint32_t number = 0; number < read.chunks.size(); ++number) {
    Cell* const cells = memory.cells_for_products() + (read.chunks[number] >> memory.shift());
    if (obeys && is_read_alike_[number]) {
      obeys = leave_alike(row, meets, read, number, {cells, count});
      if (obeys) continue;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      leave(row, meets, read.lane_at(number, i / of_word), cells[i]);
    }
  }
  if (!obeys) memory.has_changed();
}

// Leaves the reads of a chunk that obeys Tile's rule of reads.  False: nothing was done, and some
// cells may need lists.
bool ProxyReads::leave_alike(CheckedRow& row, Meets& meets, const ProductRead& read,
                             std::uint32_t number, std::span<Cell> cells) {
  const Record before{cells.front().rest};
  const SegmentId by = before.segment();
  if (before.bits != 0) {
    if (by == meets.standing) return true;
    if (by == row.now && !read.is_of_warp() && before.lane() == read.first_lane) return true;
    if (meets.of_product && is_of_product(row, meets, by)) {
      meets.standing = by;
      return true;
    }
    if (by != meets.replaced) {
      if (by == row.now || !causality_.all_before(row, by)) return false;
      meets.replaced = by;
    }
  }
  const std::size_t of_word = cells.size() / (ProductRead::kChunkBytes / 4);
  for (std::uint32_t word = 0; word < ProductRead::kChunkBytes / 4; ++word) {
    const std::uint64_t record = Record::of(row.now, read.lane_at(number, word), read.pc).bits;
    for (Cell& cell : cells.subspan(word * of_word, of_word)) cell.rest = record;
  }
  return true;
}

//   for_each_cell(visit): calls visit(lane, cell) for each cell of each lane
template <typename ForEachCell>
bool ProxyReads::take(CheckedRow& row, Meets& meets, ForEachCell for_each_cell) {
  bool are_clean = true;
  for_each_cell(
      [&](unsigned, const Cell& cell) { are_clean = are_clean && is_clean(row, meets, cell); });
  if (!are_clean) return false;
  for_each_cell([&](unsigned lane, Cell& cell) { leave(row, meets, lane, cell); });
  return true;
}

// Returns whether no read of the row can race in the cell.
inline bool ProxyReads::is_clean(CheckedRow& row, Meets& meets, const Cell& cell) {
  if (cell.write.bits != 0 && !meets.has_seen(cell.write) && !is_visible(row, meets, cell.write)) {
    return false;
  }
  return !cell.has_list() || (state_.lists.at(cell).classes & ~kOnlyReads) == 0;
}

// Leaves a read in a cell that is clean.
inline void ProxyReads::leave(CheckedRow& row, Meets& meets, unsigned lane, Cell& cell) {
  const Record before{cell.rest};
  const SegmentId by = cell.has_list() || cell.rest == 0 ? 0 : before.segment();
  if (by == row.now && before.lane() == lane) return;  // it has read it before, in this group
  if (by != 0 && by == meets.replaced) {
    cell.rest = Record::of(row.now, lane, row.access->pc).bits;
  } else if (by != 0 && by == meets.standing) {
    return;
  } else if (!stands_for(row, meets, cell)) {
    record(row, meets, lane, cell);
  }
}

bool ProxyReads::is_visible(CheckedRow& row, Meets& meets, const Record& write) {
  const SegmentId by = write.segment();
  if (by < row.first) return true;
  Meets::Write& known = meets.writes[by % meets.writes.size()];
  if (known.segment != by) known = {by, visible_lanes(row, by)};
  if ((known.lanes >> write.lane() & 1) != 0) return true;
  const bool is_visible_to_all =
      causality_.all_before(row, by) &&
      state_.proxy_fences.lies_before_all(by, write.lane(), row.access->place, row.now,
                                          row.access->space);
  if (!is_visible_to_all &&
      (meets.only_lane < 0 ||
       !is_visible_to_lane(row, write, static_cast<unsigned>(meets.only_lane)))) {
    return false;
  }
  known.lanes |= 1u << write.lane();
  return true;
}

// Other lanes of the warp need not know what the only one that reads has waited for.
bool ProxyReads::is_visible_to_lane(CheckedRow& row, const Record& write, unsigned lane) {
  const SegmentId by = write.segment();
  if (!causality_.is_before(row, by, write.lane(), lane)) return false;
  const Segment& segment = state_.order.segments().at(by);
  return segment.async_proxy || segment.launch != state_.order.launches().current() ||
         state_.proxy_fences.lies_between(by, write.lane(), row.access->place, lane,
                                          row.access->space);
}

// Returns lanes of a segment whose writes are known to be visible to the row.
std::uint32_t ProxyReads::visible_lanes(CheckedRow& row, SegmentId by) {
  if (!causality_.all_before(row, by)) return 0;
  const Segment& segment = state_.order.segments().at(by);
  if (segment.async_proxy || segment.launch != state_.order.launches().current()) return ~0u;
  return state_.proxy_fences.known_before_all(by, row.access->place, row.access->space);
}

// Returns whether reads in the segment are a part of the row's product.
bool ProxyReads::is_of_product(const CheckedRow& row, Meets& meets, SegmentId segment) const {
  Meets::Read& known = meets.reads[segment % meets.reads.size()];
  if (known.segment != segment) known = {segment, are_of_one_product(row, segment)};
  return known.is_of_product;
}

// A product, or a group of products, is one operation of the four warps: whoever has waited for it
// knows the reads of all of them (CopyOrder), and nobody knows those of one warp alone.
bool ProxyReads::are_of_one_product(const CheckedRow& row, SegmentId segment) const {
  if (segment == row.now) return true;
  const Segments& segments = state_.order.segments();
  const Segment &now = segments.at(row.now), &other = segments.at(segment);
  return are_of_one_warpgroup(now, other) && now.ticks == 0 && other.ticks == 0 &&
         other.tick == now.tick;
}

// Returns whether a read that the cell records stands for the row's, too: one for the same group of
// products.
bool ProxyReads::stands_for(const CheckedRow& row, Meets& meets, Cell& cell) {
  if (!meets.of_product || cell.rest == 0) return false;
  if (!cell.has_list()) {
    const Record read{cell.rest};
    if (!is_of_product(row, meets, read.segment())) return false;
    meets.standing = read.segment();
    return true;
  }
  const auto& entries = state_.lists.at(cell).entries;
  return std::any_of(entries.rbegin(), entries.rend(), [&](const CellEntry& entry) {
    return entry.access_class == kWeakRead && is_of_product(row, meets, entry.segment);
  });
}

// A read by the same agent, in a group that has been waited for, stands for the one before.
// Mostly agents read in turn, so it is the oldest.
void ProxyReads::record(CheckedRow& row, Meets& meets, unsigned lane, Cell& cell) {
  const Record read = Record::of(row.now, lane, row.access->pc);
  if (cell.rest == 0) {
    cell.rest = read.bits;
    return;
  }
  if (!cell.has_list()) {
    const Record before{cell.rest};
    if (causality_.is_before(row, before.segment(), before.lane(), lane)) {
      cell.rest = read.bits;
      if (causality_.all_before(row, before.segment())) meets.replaced = before.segment();
      return;
    }
  } else {
    const Segments& segments = state_.order.segments();
    const Segment& now = segments.at(row.now);
    CellList& list = state_.lists.at(cell);
    for (std::size_t i = 0; i < list.entries.size(); ++i) {
      const CellEntry& entry = list.entries[i];
      if (entry.segment == row.now) continue;
      const Segment& before = segments.at(entry.segment);
      const bool is_of_agent = meets.of_product
                                   ? are_of_one_warpgroup(before, now)
                                   : entry.lanes == 1u << lane && are_of_one_agent(before, now);
      if (!is_of_agent || !causality_.all_before(row, entry.segment)) continue;
      return list.replace(i, {.segment = row.now, .lanes = 1u << lane, .pc = row.access->pc});
    }
  }
  state_.lists.add(cell, {.segment = row.now, .lanes = 1u << lane, .pc = row.access->pc},
                   state_.order);
}

}  // namespace warpcheck::vgpu
