#include "vgpu/check/race_cells.hpp"

#include <algorithm>
#include <compare>
#include <new>
#include <utility>

#include "vgpu/check/race_class.hpp"

namespace warpcheck::vgpu {

std::uint32_t CellLists::make() {
  if (!free_.empty()) {
    const std::uint32_t list = free_.back();
    free_.pop_back();
    return list;
  }
  lists_.emplace_back();
  return static_cast<std::uint32_t>(lists_.size() - 1);
}

void CellLists::drop(Cell& cell) {
  CellList& list = at(cell);
  list.entries.clear();
  list.classes = 0;
  list.prune_at = CellList{}.prune_at;
  free_.push_back(cell.list());
  cell.rest = 0;
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

void CellLists::add(Cell& cell, const CellEntry& entry, const ThreadOrder& order) {
  if (!cell.has_list()) {
    const Record read{cell.rest};
    const std::uint32_t made = make();
    cell.rest = Cell::kIsList | made;
    if (read.bits != 0) {
      add(cell, {.segment = read.segment(), .lanes = 1u << read.lane(), .pc = read.pc()}, order);
    }
  }
  CellList& list = at(cell);
  list.classes |= 1u << entry.access_class;
  if (!list.entries.empty()) {
    CellEntry& last = list.entries.back();
    const bool same = last.segment == entry.segment && last.pc == entry.pc &&
                      last.access_class == entry.access_class &&
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
  list.entries.push_back(entry);
  if (list.entries.size() >= list.prune_at) prune(list, order);
}

// Drops what later accesses of the same kind by the same threads stand for.  Observers of a chain
// (PTX ISA 8.9.2) stand for each other only within the chain.
void CellLists::prune(CellList& list, const ThreadOrder& order) {
  // Entries of one kind by one warp next to each other, the latest first.
  struct Key {
    std::uint64_t warp_and_class;
    std::uint32_t chain, entry;
    auto operator<=>(const Key&) const = default;
  };
  std::vector<Key> keys;
  keys.reserve(list.entries.size());
  for (std::size_t i = 0; i < list.entries.size(); ++i) {
    const CellEntry& entry = list.entries[i];
    const ThreadOrder::Segment& segment = order.segment(entry.segment);
    if (segment.asynchronous) continue;
    keys.push_back(
        {std::uint64_t{segment.block} << 32 | std::uint64_t{segment.warp} << 8 | entry.access_class,
         entry.observes ? entry.place.chain : 0, static_cast<std::uint32_t>(i)});
  }
  std::ranges::sort(keys);
  std::uint32_t later = 0;  // lanes
  for (std::size_t i = keys.size(); i-- > 0;) {
    const Key& key = keys[i];
    const bool first = i + 1 == keys.size() || keys[i + 1].warp_and_class != key.warp_and_class ||
                       keys[i + 1].chain != key.chain;
    if (first) later = 0;
    std::uint32_t& lanes = list.entries[key.entry].lanes;
    const std::uint32_t own = lanes;
    if ((own & ~later) == 0) lanes = 0;
    later |= own;
  }
  std::erase_if(list.entries, [](const CellEntry& entry) { return entry.lanes == 0; });
  list.prune_at = 16 + 2 * list.entries.size();
}

void CellMemory::allocate() {
  const std::size_t count = (std::size_t{bytes_} >> shift_) + 1;
  // calloc: pages that no access touches are never made.
  cells_.reset(static_cast<Cell*>(std::calloc(count, sizeof(Cell))));
  if (cells_ == nullptr) throw std::bad_alloc();
}

void CellMemory::fit(std::uint32_t bytes) {
  if (bytes <= bytes_) return;
  bytes_ = bytes;
  shift_ = 2;
  allocate();
}

void CellMemory::split_to_bytes(CellLists& lists) {
  const auto words = std::move(cells_);
  shift_ = 0;
  allocate();
  for (std::uint32_t byte = 0; byte < bytes_; ++byte) {
    const Cell& word = words[byte / 4];
    if (word.write.bits == 0 && word.rest == 0) continue;
    cells_[byte] = word;
    if (word.has_list() && byte % 4 != 0) lists.copy(word, cells_[byte]);
  }
}

}  // namespace warpcheck::vgpu
