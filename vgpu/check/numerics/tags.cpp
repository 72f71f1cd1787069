#include "vgpu/check/numerics/tags.hpp"

#include "vgpu/check/order/clocks/bits.hpp"
#include "vgpu/machine/state.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {
namespace {

bool holds_row(const Ref& ref) { return ref.bank == Bank::word || ref.bank == Bank::wide; }

}  // namespace

void TaggedRegisters::clear() {
  if (tagged_rows_ == 0) return;
  for (auto& row : rows_) {
    if (row != nullptr) row->mask = 0;
  }
  tagged_rows_ = 0;
}

std::size_t TaggedRegisters::index_of(const InstrStep& step, const Ref& ref) {
  const bool is_wide = ref.bank == Bank::wide;
  const std::byte* const row = row_of(*step.registers, ref);
  const auto distance =
      static_cast<std::size_t>(row - (is_wide ? step.warp->wides : step.warp->words).data());
  return is_wide ? distance / kWideRowBytes * 2 + 1 : distance / kWordRowBytes * 2;
}

const RowTags* TaggedRegisters::get(const InstrStep& step, const Ref& ref) const {
  if (tagged_rows_ == 0 || !holds_row(ref)) return nullptr;
  const std::size_t index = index_of(step, ref);
  if (index >= rows_.size() || rows_[index] == nullptr || rows_[index]->mask == 0) return nullptr;
  return rows_[index].get();
}

void TaggedRegisters::set(const InstrStep& step, const Ref& ref, const RowTags& tags,
                          std::uint32_t lanes) {
  if ((tags.mask & lanes) == 0) return clear(step, ref, lanes);
  if (!holds_row(ref)) return;
  const std::size_t index = index_of(step, ref);
  if (index >= rows_.size()) rows_.resize(index + 1);
  if (rows_[index] == nullptr) rows_[index] = std::make_unique<RowTags>();
  RowTags& row = *rows_[index];
  if (row.mask == 0) ++tagged_rows_;
  row.mask = (row.mask & ~lanes) | (tags.mask & lanes);
  for_each_bit(tags.mask & lanes, [&](unsigned lane) {
    row.tag[lane] = tags.tag[lane];
    row.truth[lane] = tags.truth[lane];
  });
}

void TaggedRegisters::clear(const InstrStep& step, const Ref& ref, std::uint32_t lanes) {
  if (tagged_rows_ == 0 || !holds_row(ref)) return;
  const std::size_t index = index_of(step, ref);
  if (index >= rows_.size() || rows_[index] == nullptr || rows_[index]->mask == 0) return;
  rows_[index]->mask &= ~lanes;
  if (rows_[index]->mask == 0) --tagged_rows_;
}

void TaggedMemory::reset() {
  pages_.clear();
  pages_in_.clear();
}

const TaggedMemory::Page* TaggedMemory::page_at(const Allocation& allocation,
                                                std::uint32_t offset) const {
  const auto found = pages_.find(key_of(allocation, offset));
  return found == pages_.end() ? nullptr : found->second.get();
}

Tag TaggedMemory::get(const Allocation& allocation, std::uint32_t offset,
                      std::uint32_t bytes) const {
  Tag first = 0;
  for_each(allocation, offset, bytes, [&](Tag tag, std::uint32_t) {
    if (first == 0) first = tag;
  });
  return first;
}

void TaggedMemory::set(const Allocation& allocation, std::uint32_t offset, std::uint32_t bytes,
                       Tag tag) {
  if (bytes == 0 || (tag == 0 && !has(allocation))) return;
  const std::uint32_t last = offset + bytes - 1;
  Page* page = nullptr;
  for (std::uint32_t at = offset; at <= last; ++at) {
    if (page == nullptr || at % kPageBytes == 0) {
      const auto found = pages_.find(key_of(allocation, at));
      if (found != pages_.end()) {
        page = found->second.get();
      } else if (tag == 0) {
        page = nullptr;
        at |= kPageBytes - 1;
        if (at == ~0u) return;
        continue;
      } else {
        if (allocation.id >= pages_in_.size()) pages_in_.resize(allocation.id + 1);
        ++pages_in_[allocation.id];
        page = pages_.emplace(key_of(allocation, at), std::make_unique<Page>()).first->second.get();
      }
    }
    (*page)[at % kPageBytes] = tag;
  }
}

void TaggedMemory::clear(const Allocation& allocation) {
  if (!has(allocation)) return;
  std::erase_if(pages_, [&](const auto& page) { return page.first >> 32 == allocation.id; });
  pages_in_[allocation.id] = 0;
}

void TaggedMemory::copy(const DeviceCopy& copy) {
  if (!has(*copy.source) && !has(*copy.target)) return;
  std::vector<std::pair<Tag, std::uint32_t>> moved;
  for_each(*copy.source, copy.source_offset, copy.bytes,
           [&](Tag tag, std::uint32_t at) { moved.emplace_back(tag, at - copy.source_offset); });
  set(*copy.target, copy.target_offset, copy.bytes, 0);
  for (const auto& [tag, at] : moved) set(*copy.target, copy.target_offset + at, 1, tag);
}

}  // namespace warpcheck::vgpu
