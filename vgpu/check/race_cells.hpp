// What the cells of memory have seen, where any order of threads is possible.
//
// A cell keeps its last weak write, and every other access since that is not ordered before it.
// Nothing that could matter is forgotten: an access is dropped only for a later weak write that it
// comes before, or for a later access of the same kind by the same thread, unless observers (PTX
// ISA 8.9.5) tell the two apart.  Whoever is unordered with, and races with, the dropped one, races
// with the one that replaced it.  The exception is a cell that has raced already: it keeps the last
// kRacedMax accesses.
//
// A cell is 4 bytes wide until something narrower is accessed; then, for the rest of the trial,
// the cells of that allocation are bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "vgpu/check/race_cell_rows.hpp"
#include "vgpu/check/sync_variables.hpp"
#include "vgpu/check/thread_order.hpp"

namespace warpcheck::vgpu {

// One lane's access, in 63 bits; 0: none.
struct Record {
  std::uint64_t bits = 0;
  static constexpr unsigned kSegmentBits = kRecordSegmentBits, kLaneBits = 5;
  static_assert(ThreadOrder::kSegmentsMax == 1u << kSegmentBits);
  static Record of(ThreadOrder::SegmentId segment, unsigned lane, std::uint32_t pc) {
    return {segment | std::uint64_t{lane} << kSegmentBits |
            std::uint64_t{pc} << (kSegmentBits + kLaneBits)};
  }
  [[nodiscard]] ThreadOrder::SegmentId segment() const {
    return static_cast<std::uint32_t>(bits & (ThreadOrder::kSegmentsMax - 1));
  }
  [[nodiscard]] unsigned lane() const {
    return static_cast<unsigned>(bits >> kSegmentBits & (kWarpLanes - 1));
  }
  [[nodiscard]] std::uint32_t pc() const {
    return static_cast<std::uint32_t>(bits >> (kSegmentBits + kLaneBits));
  }
};

// Accesses of some lanes of one instruction.
struct CellEntry {
  ThreadOrder::SegmentId segment = 0;
  std::uint32_t lanes = 0;
  std::uint32_t pc = 0;
  std::uint8_t access_class = 0;
  bool observes = false;  // a strong read or an atomic
  // Strong writes: of the lowest lane, the others follow in order.  Strong reads: what all saw.
  ChainPlace place{};

  [[nodiscard]] std::uint32_t position_of(unsigned lane) const {
    return place.position +
           static_cast<std::uint32_t>(__builtin_popcount(lanes & ((1u << lane) - 1)));
  }
};

struct CellList {
  std::vector<CellEntry> entries;
  std::uint32_t classes = 0;  // of the entries, one bit each
  std::size_t prune_at = 16;
};

struct Cell {
  Record write;            // the last weak write
  std::uint64_t rest = 0;  // the Record of one weak read, or kIsList and the number of a list
  static constexpr std::uint64_t kIsList = std::uint64_t{1} << 63;
  [[nodiscard]] bool has_list() const { return (rest & kIsList) != 0; }
  [[nodiscard]] std::uint32_t list() const { return static_cast<std::uint32_t>(rest); }
};

// The lists of all cells.
class CellLists {
 public:
  static constexpr std::size_t kRacedMax = 64;

  [[nodiscard]] CellList& at(const Cell& cell) { return lists_[cell.list()]; }
  // Adds to a cell's list, and makes it one if it has none.
  void add(Cell& cell, const CellEntry& entry, const ThreadOrder& order);
  // Keeps the entries for which `keep` holds; gives the list back when there are none.
  template <typename Keep>
  void filter(Cell& cell, Keep keep) {
    CellList& list = at(cell);
    std::erase_if(list.entries, [&](CellEntry& entry) { return !keep(entry); });
    if (list.entries.size() > kRacedMax) {
      list.entries.erase(list.entries.begin(), list.entries.end() - kRacedMax);
    }
    list.classes = 0;
    for (const CellEntry& entry : list.entries) list.classes |= 1u << entry.access_class;
    if (list.entries.empty()) drop(cell);
  }
  void drop(Cell& cell);
  // The same list for another cell.
  void copy(const Cell& from, Cell& to);
  void clear();

 private:
  void prune(CellList& list, const ThreadOrder& order);
  std::uint32_t make();

  std::vector<CellList> lists_;
  std::vector<std::uint32_t> free_;
};

// The cells of one allocation.
class CellMemory {
 public:
  // Makes sure of cells for so many bytes; a larger allocation is another one.
  void fit(std::uint32_t bytes);
  void split_to_bytes(CellLists& lists);
  [[nodiscard]] bool is_bytes() const { return shift_ == 0; }
  [[nodiscard]] unsigned shift() const { return shift_; }  // byte offset >> this: cell
  [[nodiscard]] Cell* cells() { return cells_.get(); }
  [[nodiscard]] std::uint32_t bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(Cell* cells) const { std::free(cells); }
  };
  void allocate();

  std::unique_ptr<Cell[], Free> cells_;
  std::uint32_t bytes_ = 0;
  unsigned shift_ = 2;
};

}  // namespace warpcheck::vgpu
