// The cells of the general race checker: records of the accesses to memory, for any order of
// threads.
//
// A cell keeps its last weak write, and every other access since that is not ordered before this
// write.  No access that could matter is forgotten: an access is dropped only for a later weak
// write that it comes before, or for a later access of the same kind by the same thread, unless
// observers (PTX ISA 8.9.5) distinguish the two.  So an access that is unordered with the dropped
// access and races with it also races with the access that replaced it.  The exception is a cell
// that has raced already: it keeps the last kRacedMax accesses.
//
// A cell is 4 bytes wide until a narrower access occurs; from then on, for the rest of the trial,
// the cells of that allocation are that narrow.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "vgpu/check/order/sync_variables.hpp"
#include "vgpu/check/order/thread_order.hpp"
#include "vgpu/check/race/general/cells/cell_lines.hpp"
#include "vgpu/check/race/race_class.hpp"
#include "vgpu/check/race/rows/race_rows.hpp"
#include "vgpu/machine/memory/host_pages.hpp"

namespace warpcheck::vgpu {

// The access of one lane, in 63 bits; 0: no access.
struct Record {
  std::uint64_t bits = 0;
  static constexpr unsigned kSegmentBits = kRecordSegmentBits, kLaneBits = 5;
  static_assert(kSegmentsMax == 1u << kSegmentBits);
  [[nodiscard]] Record in(SegmentId segment) const {  // the same, of another segment
    return {(bits & ~std::uint64_t{kSegmentsMax - 1}) | segment};
  }
  static Record of(SegmentId segment, unsigned lane, std::uint32_t pc) {
    return {segment | std::uint64_t{lane} << kSegmentBits |
            std::uint64_t{pc} << (kSegmentBits + kLaneBits)};
  }
  [[nodiscard]] SegmentId segment() const {
    return static_cast<std::uint32_t>(bits & (kSegmentsMax - 1));
  }
  [[nodiscard]] unsigned lane() const {
    return static_cast<unsigned>(bits >> kSegmentBits & (kWarpLanes - 1));
  }
  [[nodiscard]] std::uint32_t pc() const {
    return static_cast<std::uint32_t>(bits >> (kSegmentBits + kLaneBits));
  }
};

// The accesses of some lanes of one instruction.
struct CellEntry {
  SegmentId segment = 0;
  std::uint32_t lanes = 0;
  std::uint32_t pc = 0;
  std::uint8_t access_class = 0;
  bool observes = false;  // a strong read or an atomic
  // Strong writes: the place of the lowest lane; the other lanes follow in order.  Strong reads:
  // the place of the write that all lanes read.
  ChainPlace place{};

  [[nodiscard]] std::uint64_t position_of(unsigned lane) const {
    return place.position +
           static_cast<std::uint64_t>(__builtin_popcount(lanes & ((1u << lane) - 1)));
  }
};

// A list of entries in order of execution, so entries of one launch are contiguous, unless launches
// have overlapped.
//
// A check of a cell should not examine all entries.  So the list stores which entries are settled
// by the order of whole launches, which entries an earlier check from the same segment has passed,
// and between which entries those of each group of classes are: thousands of warps may read what
// one has written.
struct CellList {
  static constexpr BlockKey kManyBlocks = ~BlockKey{0};
  static constexpr std::uint32_t kNoLaunch = ~0u;
  // Entries from `begin` up to, and without, `end`.
  struct Extent {
    std::uint32_t begin = ~0u, end = 0;
    void include(const Extent& other) {
      begin = std::min(begin, other.begin);
      end = std::max(end, other.end);
    }
  };

  std::vector<CellEntry> entries;
  std::uint32_t classes = 0;   // of the entries, one bit each
  SegmentId last_segment = 0;  // of the last entry, which is far from here
  std::array<Extent, kClassGroups.size()> extents{};
  std::size_t prune_at = 16;
  BlockKey block = kManyBlocks;  // the block of all entries
  // The first `settled` entries come before everything in `settled_launch`.
  std::uint32_t settled = 0, settled_launch = kNoLaunch;
  // What an earlier check has found: the first `count` entries come before the segment `by`, or
  // have classes that do not race with accesses of class `of_class` in that segment.  If `of_class`
  // is above all classes, they do not hand anything on either.
  struct Passed {
    std::uint32_t count = 0;
    SegmentId by = 0;
    std::uint8_t of_class = 0;
  };
  std::array<Passed, 2> passed{};  // by reads, by writes

  // Returns an extent that includes all entries of these classes.
  [[nodiscard]] Extent extent_of(std::uint32_t of_classes) const {
    Extent extent;
    for (std::size_t group = 0; group < extents.size(); ++group) {
      if ((of_classes & kClassGroups[group]) != 0) extent.include(extents[group]);
    }
    return extent;
  }
  // Adds an entry at the end.
  void add(const CellEntry& entry) {
    const auto place = static_cast<std::uint32_t>(entries.size());
    entries.push_back(entry);
    include(entry, place);
  }
  // A later access stands for the entry `at`.
  void replace(std::size_t at, const CellEntry& later) {
    entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(at));
    entries.push_back(later);
    include_all();
  }
  // Called after entries were inserted or removed.
  void include_all() {
    forget_answers();
    classes = 0;
    last_segment = 0;
    extents = {};
    for (std::uint32_t i = 0; i < entries.size(); ++i) include(entries[i], i);
  }
  // Called after segments were renumbered.
  void renumber() {
    forget_answers();
    last_segment = entries.back().segment;
  }

 private:
  // Forgets which entries were settled or passed.
  void forget_answers() {
    settled = 0;
    settled_launch = kNoLaunch;
    passed = {};
  }
  void include(const CellEntry& entry, std::uint32_t place) {
    const std::uint32_t bit = 1u << entry.access_class;
    classes |= bit;
    last_segment = entry.segment;
    for (std::size_t group = 0; group < extents.size(); ++group) {
      if ((bit & kClassGroups[group]) != 0) extents[group].include({place, place + 1});
    }
  }
};

struct Cell {
  Record write;  // the last weak write
  // The Record of one weak read, or kIsList and the number of a list.  With kIsDeferred as well,
  // the size of deferred atomics (atomic_log.hpp) whose list has not been created yet.
  std::uint64_t rest = 0;
  static constexpr std::uint64_t kIsList = std::uint64_t{1} << 63;
  static constexpr std::uint64_t kIsDeferred = std::uint64_t{1} << 62;
  [[nodiscard]] static std::uint64_t deferred(std::uint32_t bytes) {
    return kIsList | kIsDeferred | bytes;
  }
  [[nodiscard]] bool is_deferred() const { return rest >= (kIsList | kIsDeferred); }
  [[nodiscard]] bool has_list() const { return (rest & kIsList) != 0; }
  [[nodiscard]] std::uint32_t list() const { return static_cast<std::uint32_t>(rest); }
};

// The lists of all cells.
class CellLists {
 public:
  static constexpr std::size_t kRacedMax = 64;

  [[nodiscard]] CellList& at(const Cell& cell) { return lists_[cell.list()]; }
  // Adds to a cell's list; creates the list if the cell has none.
  void add(Cell& cell, const CellEntry& entry, const ThreadOrder& order);
  // Adds weak reads to a cell that has a list, as if their lanes were added one by one.
  void add_reads(Cell& cell, const CellEntry& reads, const ThreadOrder& order) {
    CellList& list = at(cell);
    if (list.last_segment == reads.segment) {
      CellEntry& last = list.entries.back();
      const bool same =
          last.pc == reads.pc && last.access_class == reads.access_class && last.place.chain == 0;
      if (same) {
        last.lanes |= reads.lanes;
        return;
      }
    }
    CellEntry first = reads;
    first.lanes &= 0u - first.lanes;
    add(cell, first, order);
    if (first.lanes != reads.lanes) at(cell).entries.back().lanes |= reads.lanes;
  }
  // Adds an access of an earlier launch that the list does not contain yet.
  void add_past(Cell& cell, const CellEntry& entry, const ThreadOrder& order);
  // Keeps the entries for which `keep` returns true; frees the list if none is left.
  template <typename Keep>
  void filter(Cell& cell, Keep keep) {
    std::erase_if(at(cell).entries, [&](CellEntry& entry) { return !keep(entry); });
    entries_have_gone(cell);
  }
  // Keeps the last kRacedMax entries of a cell that has raced.
  void shorten(Cell& cell) {
    std::vector<CellEntry>& entries = at(cell).entries;
    if (entries.size() <= kRacedMax) return;
    entries.erase(entries.begin(), entries.end() - kRacedMax);
    entries_have_gone(cell);
  }
  void drop(Cell& cell);
  // Drops what a cell of shared memory holds from earlier phases.
  //   first: the first segment of the phase
  void forget_before(Cell& cell, SegmentId first);
  // Returns how many of the list's entries belong to launches that all come before the current one.
  static std::uint32_t settle(CellList& list, const ThreadOrder& order);
  // Copies the list to another cell.
  void copy(const Cell& from, Cell& to);
  void clear();
  // Calls visit(list) for each list in use.
  template <typename Visit>
  void for_each(Visit visit) {
    for (CellList& list : lists_) {
      if (!list.entries.empty()) visit(list);
    }
  }

 private:
  void entries_have_gone(Cell& cell);
  void prune(CellList& list, const ThreadOrder& order);
  CellList& made_list(Cell& cell, const ThreadOrder& order);
  std::uint32_t make();

  std::vector<CellList> lists_;
  std::vector<std::uint32_t> free_;
};

// Bytes of an allocation, [begin, end).
struct CellBytes {
  std::uint32_t begin = 0, end = 0;
};

// The cells of one allocation.
class CellMemory {
 public:
  // Notes that a launch has accessed no other bytes than these, and those that were noted before.
  void note(std::uint32_t launch, const CellBytes& bytes) {
    if (launch + 1 < launches_) return;
    if (launch + 1 > launches_) accessed_ = bytes;
    launches_ = launch + 1;
    accessed_.begin = std::min(accessed_.begin, bytes.begin);
    accessed_.end = std::max(accessed_.end, bytes.end);
  }
  // Returns the part of a range outside of which no cell has a record of this launch or a later
  // one.
  [[nodiscard]] CellBytes part_since(std::uint32_t launch, const CellBytes& range) const {
    if (launch + 1 < launches_) return range;
    if (launch + 1 > launches_) return {};
    const std::uint32_t begin = accessed_.begin >> shift_ << shift_;
    const std::uint32_t last_cell = accessed_.end == 0 ? 0 : (accessed_.end - 1) >> shift_;
    const std::uint64_t end = (std::uint64_t{last_cell} + 1) << shift_;
    return {std::max(range.begin, begin),
            static_cast<std::uint32_t>(std::min<std::uint64_t>(range.end, end))};
  }
  // Provides cells for so many bytes.  A larger size means that the memory belongs to a new
  // allocation.
  void fit(std::uint32_t bytes, bool has_lines);
  // Makes the cells no wider than so many bytes (at least 1).
  void narrow_to(std::uint32_t bytes, CellLists& lists, const ThreadOrder& order) {
    if (bytes < cell_bytes()) split(bytes, lists, order);
  }
  // Lines that keep rows in place of cells; null: there are none.
  [[nodiscard]] CellLines* lines() { return lines_.is_empty() ? nullptr : &lines_; }
  // Records an access of an earlier launch in a line.  False: it needs cells.
  bool take_past(const RecalledAccess& recalled, SegmentId segment, const Segments& segments);
  // Makes the cells of a range of bytes, or of the lanes of an access, say everything.
  void to_cells(std::uint32_t begin, std::uint32_t end, CellLists& lists, const ThreadOrder& order);
  void to_cells(const Access& access, CellLists& lists, const ThreadOrder& order) {
    if (!lines_.is_empty()) lanes_to_cells(access, lists, order);
  }
  [[nodiscard]] std::uint32_t cell_bytes() const { return 1u << shift_; }
  [[nodiscard]] bool is_words() const { return shift_ == 2; }
  [[nodiscard]] unsigned shift() const { return shift_; }  // cell number = byte offset >> shift
  [[nodiscard]] Cell* cells() {
    has_changed();
    return cells_in(pages_);
  }
  // Returns them for the reads of a product, which change nothing but what they say of reads.
  [[nodiscard]] Cell* cells_for_products() { return cells_in(pages_); }
  // Returns a number that is another one after each change of cells.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }
  void has_changed() { ++changes_; }
  [[nodiscard]] std::uint32_t bytes() const { return bytes_; }
  [[nodiscard]] std::size_t size() const {  // in cells
    return pages_.is_empty() ? 0 : (std::size_t{bytes_} >> shift_) + 1;
  }
  // Calls visit(cell, number) for every cell that may have a record.
  template <typename Visit>
  void for_each_seen(Visit visit) {
    has_changed();
    for_each_seen(pages_, size(), visit);
  }

 private:
  static Cell* cells_in(const HostPages& pages) { return reinterpret_cast<Cell*>(pages.data()); }
  template <typename Visit>
  static void for_each_seen(const HostPages& pages, std::size_t count, Visit visit) {
    pages.for_each_written([&](std::size_t offset, std::size_t bytes) {
      const std::size_t end = std::min((offset + bytes) / sizeof(Cell), count);
      for (std::size_t at = offset / sizeof(Cell); at < end; ++at) {
        Cell& cell = cells_in(pages)[at];
        if (cell.write.bits != 0 || cell.rest != 0) visit(cell, at);
      }
    });
  }
  void allocate();
  void split(std::uint32_t bytes, CellLists& lists, const ThreadOrder& order);
  void lanes_to_cells(const Access& access, CellLists& lists, const ThreadOrder& order);
  void move_to_cells(std::size_t line, CellLists& lists, const ThreadOrder& order);

  CellLines lines_;
  HostPages pages_;  // empty: all lines say everything
  // The latest launch with an access is the one before this; it has accessed these bytes, at most.
  std::uint32_t launches_ = 0;
  CellBytes accessed_;
  std::uint64_t changes_ = 0;
  std::uint32_t bytes_ = 0;
  unsigned shift_ = 2;
};

// The cells of all allocations.
class CellMemories {
 public:
  //   has_lines: rows of global memory are kept as rows
  explicit CellMemories(bool has_lines) : has_lines_(has_lines) {}

  [[nodiscard]] CellMemory& of(std::uint32_t allocation, std::uint32_t bytes, bool is_global) {
    if (allocation >= memories_.size()) memories_.resize(allocation + 1);
    CellMemory& memory = memories_[allocation];
    memory.fit(bytes, has_lines_ && is_global);
    return memory;
  }
  [[nodiscard]] CellMemory& of(const Allocation& allocation) {
    return of(allocation.id, allocation.limit(), allocation.space == ptx::Space::global);
  }
  // Returns null if no access to the allocation is recorded.
  [[nodiscard]] CellMemory* find(std::uint32_t allocation) {
    if (allocation >= memories_.size()) return nullptr;
    CellMemory& memory = memories_[allocation];
    return memory.bytes() == 0 ? nullptr : &memory;
  }
  // Forgets the cells of an allocation: other memory may get the same id.
  void forget(std::uint32_t allocation) {
    if (allocation < memories_.size()) memories_[allocation] = {};
  }
  void clear() { memories_.clear(); }
  // Calls visit(memory) for each allocation.
  template <typename Visit>
  void for_each(Visit visit) {
    for (CellMemory& memory : memories_) visit(memory);
  }

 private:
  bool has_lines_;
  std::deque<CellMemory> memories_;  // by Allocation::id
};

}  // namespace warpcheck::vgpu
