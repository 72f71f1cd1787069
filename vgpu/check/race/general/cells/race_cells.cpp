#include "vgpu/check/race/general/cells/race_cells.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <map>
#include <new>
#include <utility>

#include "vgpu/check/order/clocks/bits.hpp"
#include "vgpu/check/race/race_class.hpp"

namespace warpcheck::vgpu {
namespace {

bool writes(const CellEntry& entry) { return AccessClass::of_index(entry.access_class).write; }
unsigned last_lane(const CellEntry& entry) {
  return static_cast<unsigned>(31 - std::countl_zero(entry.lanes));
}
// The writes of its chain that all lanes, or some lanes, of an observer have seen: those at lower
// positions.
std::uint64_t all_saw(const CellEntry& entry) { return entry.place.position + !writes(entry); }
std::uint64_t some_saw(const CellEntry& entry) {
  return writes(entry) ? entry.position_of(last_lane(entry)) : all_saw(entry);
}

// Decides which entries a list can drop without a change to any answer.  Entries are in order of
// execution.
//
// A later access of the same kind by the same thread can stand for an earlier access if the earlier
// one comes before everything that the later one comes before.  That always holds in base causality
// order.  But a strong write also comes before what follows its observers (PTX ISA 8.9.5), so those
// observers must have observed the earlier write too.  A thread that has observed a kept write is a
// witness of that.
//
// Keeping an entry that could be dropped is correct, so the search is not exhaustive: its cost is
// proportional to the number of entries.
class Pruning {
 public:
  Pruning(std::vector<CellEntry>& entries, const ThreadOrder& order)
      : entries_(entries), order_(order) {}

  void run() {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const CellEntry& entry = entries_[i];
      live_chain_ = std::max(live_chain_, entry.place.chain);
      if (entry.observes && entry.place.chain != 0) observers_.push_back(i);
      const Segment& segment = order_.segments().at(entry.segment);
      const std::uint64_t warp = segment.block << 16 | segment.warp;
      warps_.push_back(warp);
      if (!segment.asynchronous) groups_.push_back({warp, entry.access_class, i});
    }
    keep_.assign(entries_.size(), true);
    std::ranges::sort(groups_);
    index_observers();
    drop_accesses();
    keep_witnesses();
    std::size_t at = 0;
    std::erase_if(entries_, [&](const CellEntry&) { return !keep_[at++]; });
  }

 private:
  static constexpr std::size_t kLooksMax = 64;
  static constexpr unsigned kRefusalsMax = 4;

  // Sorts accesses of one kind by one warp next to each other.
  struct Member {
    std::uint64_t warp = 0;
    std::uint8_t access_class = 0;
    std::size_t entry = 0;
    auto operator<=>(const Member&) const = default;
  };

  // The position of a write in its chain.
  struct Position {
    std::uint64_t chain = 0, position = 0;
    std::size_t entry = 0;
    auto operator<=>(const Position&) const = default;
  };

  // An observer, with its chain and warp.
  struct Sighting {
    std::uint64_t chain = 0;
    std::uint64_t warp = 0;
    std::size_t entry = 0;
    auto operator<=>(const Sighting&) const = default;
  };

  void index_observers() {
    for (const std::size_t i : observers_) {
      sightings_.push_back({entries_[i].place.chain, warps_[i], i});
    }
    std::ranges::sort(sightings_);
  }

  void drop_accesses() {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const Member& member = groups_[i];
      std::uint32_t alone = entries_[member.entry].lanes;
      const std::size_t end = std::min(groups_.size(), i + 1 + kLooksMax);
      unsigned refusals = 0;
      for (std::size_t j = i + 1; j < end && alone != 0 && refusals < kRefusalsMax; ++j) {
        const Member& later = groups_[j];
        if (later.warp != member.warp || later.access_class != member.access_class) break;
        if ((entries_[later.entry].lanes & alone) == 0) continue;
        if (stands_for(later.entry, member.entry)) {
          alone &= ~entries_[later.entry].lanes;
        } else {
          ++refusals;
        }
      }
      keep_[member.entry] = alone != 0;
    }
  }

  [[nodiscard]] bool stands_for(std::size_t later, std::size_t earlier) const {
    const std::uint64_t chain = entries_[later].place.chain;
    if (!writes(entries_[later]) || chain == 0 || chain == entries_[earlier].place.chain) {
      return true;
    }
    // Only the latest chain can still be observed.
    if (chain == live_chain_) return false;
    auto at = std::ranges::lower_bound(sightings_, Sighting{chain, 0, 0});
    for (; at != sightings_.end() && at->chain == chain; ++at) {
      if (!had_seen(at->entry, earlier)) return false;
    }
    return true;
  }
  // Returns whether an observer, or its threads before it, had observed a write.
  [[nodiscard]] bool had_seen(std::size_t observer, std::size_t write) const {
    const std::uint64_t position = entries_[write].position_of(last_lane(entries_[write]));
    const std::uint64_t chain = entries_[write].place.chain;
    const std::uint64_t warp = warps_[observer];
    auto at = std::ranges::lower_bound(sightings_, Sighting{chain, warp, 0});
    for (unsigned looks = 0; at != sightings_.end() && looks < kLooksMax; ++at, ++looks) {
      if (at->chain != chain || at->warp != warp || at->entry > observer) break;
      if (is_same_thread(at->entry, observer) && all_saw(entries_[at->entry]) > position) {
        return true;
      }
    }
    return false;
  }
  [[nodiscard]] bool is_same_thread(std::size_t before, std::size_t observer) const {
    return warps_[before] == warps_[observer] &&
           (entries_[observer].lanes & ~entries_[before].lanes) == 0;
  }

  // Keeps the observers of kept writes that their threads had not observed before.
  void keep_witnesses() {
    if (std::ranges::all_of(observers_, [&](std::size_t i) { return keep_[i]; })) return;
    std::vector<Position> kept_writes;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const ChainPlace& place = entries_[i].place;
      if (!keep_[i] || !writes(entries_[i])) continue;
      kept_writes.push_back({place.chain, entries_[i].position_of(last_lane(entries_[i])), i});
    }
    std::ranges::sort(kept_writes);
    // The latest witness for each warp and chain, identified by its first lane.
    std::map<std::array<std::uint64_t, 3>, std::size_t> latest;
    for (const std::size_t observer : observers_) {
      const CellEntry& self = entries_[observer];
      const auto lane = static_cast<std::uint64_t>(std::countr_zero(self.lanes));
      const auto [before, is_first] =
          latest.try_emplace({warps_[observer], lane, self.place.chain}, observer);
      if (!keep_[observer]) {
        const bool is_later = !is_first && is_same_thread(before->second, observer);
        const std::uint64_t known = is_later ? all_saw(entries_[before->second]) : 0;
        keep_[observer] = is_witness(observer, known, kept_writes);
      }
      if (keep_[observer]) {
        before->second = observer;
      } else if (is_first) {
        latest.erase(before);
      }
    }
  }
  // Returns whether some kept write is new to an observer that had seen the writes before `known`.
  // What races with a write of its block also races with an atomic of the same kind.
  [[nodiscard]] bool is_witness(std::size_t observer, std::uint64_t known,
                                const std::vector<Position>& kept_writes) const {
    const CellEntry& self = entries_[observer];
    const std::uint64_t chain = self.place.chain;
    auto at = std::ranges::lower_bound(kept_writes, Position{chain, known, 0});
    for (; at != kept_writes.end() && at->chain == chain; ++at) {
      const CellEntry& write = entries_[at->entry];
      if (write.place.position >= some_saw(self)) break;
      const bool is_alike = writes(self) && write.access_class == self.access_class &&
                            warps_[at->entry] >> 16 == warps_[observer] >> 16;
      if (!is_alike) return true;
    }
    return false;
  }

  std::vector<CellEntry>& entries_;
  const ThreadOrder& order_;
  std::vector<std::uint64_t> warps_;
  std::vector<Member> groups_;
  std::vector<std::size_t> observers_;
  std::vector<Sighting> sightings_;
  std::vector<bool> keep_;
  std::uint64_t live_chain_ = 0;
};

}  // namespace

std::uint32_t CellLists::make() {
  if (!free_.empty()) {
    const std::uint32_t list = free_.back();
    free_.pop_back();
    return list;
  }
  lists_.emplace_back();
  return static_cast<std::uint32_t>(lists_.size() - 1);
}

void CellLists::entries_have_gone(Cell& cell) {
  CellList& list = at(cell);
  list.include_all();
  if (list.entries.empty()) drop(cell);
}

void CellLists::drop(Cell& cell) {
  CellList& list = at(cell);
  list.entries.clear();
  list.include_all();
  list.prune_at = CellList{}.prune_at;
  free_.push_back(cell.list());
  cell.rest = 0;
}

void CellLists::forget_before(Cell& cell, SegmentId first) {
  const auto is_old = [&](SegmentId segment) { return segment < first; };
  if (is_old(cell.write.segment())) cell.write = {};
  if (cell.has_list()) {
    filter(cell, [&](const CellEntry& entry) { return !is_old(entry.segment); });
  } else if (is_old(Record{cell.rest}.segment())) {
    cell.rest = 0;
  }
}

void CellLists::copy(const Cell& from, Cell& to) {
  const std::uint32_t list = make();
  lists_[list] = lists_[from.list()];
  to.rest = Cell::kIsList | list;
}

void CellLists::clear() {
  lists_.clear();
  free_.clear();
}

CellList& CellLists::made_list(Cell& cell, const ThreadOrder& order) {
  if (!cell.has_list()) {
    const Record read{cell.rest};
    const std::uint32_t made = make();
    cell.rest = Cell::kIsList | made;
    if (read.bits != 0) {
      add(cell, {.segment = read.segment(), .lanes = 1u << read.lane(), .pc = read.pc()}, order);
    }
  }
  return at(cell);
}

void CellLists::add_past(Cell& cell, const CellEntry& entry, const ThreadOrder& order) {
  CellList& list = made_list(cell, order);
  list.block = CellList::kManyBlocks;
  const auto launch_of = [&](const CellEntry& one) {
    return order.segments().at(one.segment).launch;
  };
  list.entries.insert(std::ranges::upper_bound(list.entries, launch_of(entry), {}, launch_of),
                      entry);
  list.include_all();
}

void CellLists::add(Cell& cell, const CellEntry& entry, const ThreadOrder& order) {
  CellList& list = made_list(cell, order);
  if (!list.entries.empty() && list.last_segment == entry.segment) {
    CellEntry& last = list.entries.back();
    const bool same = last.pc == entry.pc && last.access_class == entry.access_class &&
                      last.place.chain == entry.place.chain;
    const bool is_read = !AccessClass::of_index(entry.access_class).write;
    const std::uint32_t lowest = entry.lanes & (0u - entry.lanes);
    const auto count = static_cast<std::uint32_t>(__builtin_popcount(last.lanes));
    const bool follows =
        is_read ? last.place.position == entry.place.position
                : last.place.position + count == entry.place.position && last.lanes < lowest;
    if (same && follows) {
      last.lanes |= entry.lanes;
      return;
    }
  }
  const BlockKey block = order.segments().at(entry.segment).block;
  if (list.entries.empty()) list.block = block;
  if (list.block != block) list.block = CellList::kManyBlocks;
  list.add(entry);
  if (list.entries.size() >= list.prune_at) prune(list, order);
}

std::uint32_t CellLists::settle(CellList& list, const ThreadOrder& order) {
  if (list.settled_launch == order.launches().current()) return list.settled;
  const auto is_settled = [&](const CellEntry& entry) {
    return order.segments().at(entry.segment).launch < order.launches().first_unordered();
  };
  const auto end = order.launches().have_overlapped()
                       ? std::ranges::find_if_not(list.entries, is_settled)
                       : std::ranges::partition_point(list.entries, is_settled);
  list.settled = static_cast<std::uint32_t>(end - list.entries.begin());
  list.settled_launch = order.launches().current();
  return list.settled;
}

// Drops entries that later accesses of the same kind by the same threads stand for.
void CellLists::prune(CellList& list, const ThreadOrder& order) {
  Pruning(list.entries, order).run();
  list.include_all();
  list.prune_at = 16 + 2 * list.entries.size();
}

void CellMemory::allocate() {
  has_changed();
  const std::size_t count = (std::size_t{bytes_} >> shift_) + 1;
  pages_ = HostPages(count * sizeof(Cell), std::byte{0});
  if (pages_.is_empty()) throw std::bad_alloc();
}

void CellMemory::fit(std::uint32_t bytes, bool has_lines) {
  if (bytes <= bytes_) return;
  bytes_ = bytes;
  shift_ = 2;
  pages_ = {};
  lines_ = {};
  if (!has_lines) return allocate();
  if (!lines_.allocate(bytes / 4 + 1)) throw std::bad_alloc();
}

void CellMemory::to_cells(std::uint32_t begin, std::uint32_t end, CellLists& lists,
                          const ThreadOrder& order) {
  if (lines_.is_empty() || begin == end) return;
  constexpr unsigned kShift = 2 + kLineCellsLog2;
  for (std::size_t line = begin >> kShift; line <= (end - 1) >> kShift; ++line) {
    move_to_cells(line, lists, order);
  }
}

bool CellMemory::take_past(const RecalledAccess& recalled, SegmentId segment,
                           const Segments& segments) {
  const bool is_weak = recalled.access_class == kWeakRead || recalled.access_class == kWeakWrite;
  if (lines_.is_empty() || recalled.bytes != cell_bytes() || !is_weak) return false;
  const std::uint32_t number = recalled.offset >> shift_, cell = number % kLineCells;
  CellLines::Part part;
  part.segment = segment;
  part.pc = recalled.pc;
  part.cells = 1u << cell;
  part.lane = static_cast<std::int16_t>(static_cast<int>(recalled.thread % kWarpLanes) -
                                        static_cast<int>(cell));
  part.write = recalled.access_class == kWeakWrite;
  return lines_.add_past(lines_.line_at(number / kLineCells), part, segments);
}

void CellMemory::lanes_to_cells(const Access& access, CellLists& lists, const ThreadOrder& order) {
  for_each_bit(access.mask, [&](unsigned lane) {
    to_cells(access.offset[lane], access.offset[lane] + access.bytes, lists, order);
  });
}

void CellMemory::move_to_cells(std::size_t number, CellLists& lists, const ThreadOrder& order) {
  if (pages_.is_empty()) allocate();
  CellLines::Line& line = lines_.line_at(static_cast<std::int64_t>(number));
  if (line.is_in_cells) return;
  Cell* const first = cells() + number * kLineCells;
  for (std::size_t i = 0; i < line.count; ++i) {
    const CellLines::Part& part = lines_.records_of(line)[i];
    for_each_bit(part.cells, [&](unsigned at) {
      Cell& cell = first[at];
      const Record record = Record::of(part.segment, part.lane_at(at), part.pc);
      if (part.write) {
        cell.write = record;
      } else if (cell.rest == 0) {
        cell.rest = record.bits;
      } else {
        lists.add(cell, {.segment = part.segment, .lanes = 1u << record.lane(), .pc = part.pc},
                  order);
      }
    });
  }
  for_each_bit(line.deferred,
               [&](unsigned at) { first[at].rest = Cell::deferred(line.deferred_bytes); });
  lines_.leave(line);
}

void CellMemory::split(std::uint32_t bytes, CellLists& lists, const ThreadOrder& order) {
  // Most lines of a large allocation were never written, and are not worth the memory to say so.
  if (!lines_.is_empty()) {
    lines_.for_each_line(
        [&](std::int64_t line) { move_to_cells(static_cast<std::size_t>(line), lists, order); });
  }
  lines_ = {};
  const std::size_t count = size();
  const HostPages wide_cells = std::move(pages_);
  const std::size_t parts = cell_bytes() / bytes;
  shift_ = bytes == 1 ? 0 : 1;
  allocate();
  for_each_seen(wide_cells, count, [&](const Cell& wide, std::size_t number) {
    const std::size_t first = parts * number, end = std::min(first + parts, size());
    for (std::size_t part = first; part < end; ++part) {
      Cell& cell = cells()[part];
      cell = wide;
      if (wide.has_list() && part != first) lists.copy(wide, cell);
    }
  });
}

}  // namespace warpcheck::vgpu
