#include "vgpu/cudart/team/footprint.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "vgpu/machine/memory/rows.hpp"

namespace warpcheck::cudart {
namespace {

constexpr std::uint32_t kWordsOfPage = kTeamPageBytes / 4;
constexpr std::uint32_t kBitsOfPage = kWordsOfPage / 64;  // 64 at a time

// Sets the bits of words from `first` up to `end`.
void set_bits(std::uint64_t* bits, std::uint32_t first, std::uint32_t end) {
  const std::uint32_t last = end - 1;
  const std::uint64_t from_first = ~std::uint64_t{0} << first % 64;
  const std::uint64_t up_to_last = ~std::uint64_t{0} >> (63 - last % 64);
  if (first / 64 == last / 64) {
    bits[first / 64] |= from_first & up_to_last;
    return;
  }
  bits[first / 64] |= from_first;
  for (std::uint32_t at = first / 64 + 1; at < last / 64; ++at) bits[at] = ~std::uint64_t{0};
  bits[last / 64] |= up_to_last;
}

}  // namespace

Footprint::Touched& Footprint::begin_allocation(const vgpu::Allocation& allocation) {
  if (allocation.id >= touched_.size()) touched_.resize(allocation.id + 1);
  Touched& at = touched_[allocation.id];
  if (at.allocation != nullptr) {  // the same memory, mapped at another address
    at.allocation = &allocation;
    return at;
  }
  const std::uint64_t pages = (allocation.bytes + kTeamPageBytes - 1) / kTeamPageBytes;
  if (at.bytes < allocation.bytes || at.read_bits.is_empty()) {
    const std::size_t room = (pages + 1) * kBitsOfPage * sizeof(std::uint64_t);
    at.read_bits = vgpu::HostPages(room, std::byte{0});
    at.written_bits = vgpu::HostPages(room, std::byte{0});
    at.reduced_bits = vgpu::HostPages(room, std::byte{0});
    if (at.read_bits.is_empty() || at.written_bits.is_empty() || at.reduced_bits.is_empty()) {
      throw std::bad_alloc();
    }
    at.bytes = allocation.bytes;
  }
  if (at.pages.size() != pages) at.pages.assign(pages, 0);
  at.flags = &saved_.flags_of(allocation);
  at.allocation = &allocation;
  return at;
}

void Footprint::touch_pages(Touched& at, std::uint32_t begin, std::uint32_t end,
                            std::uint8_t role) {
  for (std::uint32_t page = begin / kTeamPageBytes; page <= (end - 1) / kTeamPageBytes; ++page) {
    std::uint8_t& known = at.pages[page];
    // Reductions change the known state of a page too.
    if (role != Touched::kRead && (known & (Touched::kWritten | Touched::kReduced)) == 0) {
      const bool is_saved = saved_.keep(*at.flags, *at.allocation, page, kept_);
      // Reads of constant memory leave no footprint.
      if (!is_saved || at.allocation->space != ptx::Space::global) grid_->give_up();
    }
    if (known == 0 && !saved_.count_shadows()) grid_->give_up();
    if ((known & ~Touched::kKnown) == 0) pages_.push_back({at.allocation->id, page});
    known |= Touched::kKnown | role;
  }
}

inline void Footprint::touch(Touched& at, std::uint32_t begin, std::uint32_t end,
                             std::uint8_t role) {
  touch_pages(at, begin, end, role);
  set_bits(at.bits_of_role(role), begin / 4, (end - 1) / 4 + 1);
}

// Touches the bytes of adjacent lanes; `first` is the offset that lane 0 would have.
void Footprint::touch_lanes(Touched& at, std::uint32_t first, std::uint32_t bytes,
                            std::uint32_t mask, std::uint8_t role) {
  while (mask != 0) {
    const auto begin = static_cast<std::uint32_t>(std::countr_zero(mask));
    const auto count = static_cast<std::uint32_t>(std::countr_one(mask >> begin));
    touch(at, first + begin * bytes, first + (begin + count) * bytes, role);
    if (begin + count == vgpu::kWarpLanes) return;
    mask &= ~0u << (begin + count);
  }
}

bool Footprint::takes_row(const vgpu::RowAccess& row) {
  if (row.space != ptx::Space::global) return true;
  Touched& at = touched(*row.allocation);
  const std::uint8_t role =
      row.kind == vgpu::AccessKind::write ? Touched::kWritten : Touched::kRead;
  if (row.pattern == vgpu::Pattern::uniform) {
    touch(at, row.first, row.first + row.bytes, role);
  } else if (row.pattern == vgpu::Pattern::scattered) {
    for (const std::uint32_t offset : std::span(row.offsets, vgpu::kWarpLanes)) {
      touch(at, offset, offset + row.bytes, role);
    }
  } else {
    touch_lanes(at, row.first, row.bytes, row.mask, role);
  }
  return true;
}

// Threads may wait for data that is handed over by anything but plain accesses.
std::uint8_t Footprint::role_of(const vgpu::Access& access) const {
  if (reductions_ == nullptr) {
    const bool is_strong =
        access.kind == vgpu::AccessKind::atomic || access.order != ptx::Order::weak;
    if (is_strong && access.allocation->is_shared_with_host()) grid_->give_up();
    return access.kind == vgpu::AccessKind::read ? Touched::kRead : Touched::kWritten;
  }
  if (access.kind == vgpu::AccessKind::atomic) {
    const bool is_reduction =
        reductions_->kind_at(access.pc) != 0 && access.allocation->shared_by == nullptr;
    if (is_reduction) return Touched::kReduced;
    grid_->give_up();
    return Touched::kWritten;
  }
  if (access.order != ptx::Order::weak) grid_->give_up();
  return access.kind == vgpu::AccessKind::read ? Touched::kRead : Touched::kWritten;
}

void Footprint::on_access(vgpu::Access& access) {
  if (access.space != ptx::Space::global) return;
  Touched& at = touched(*access.allocation);
  const std::uint8_t role = role_of(access);
  if (access.pattern == vgpu::Pattern::strided) {
    const unsigned first = access.first_lane();
    return touch_lanes(at, access.offset[first] - first * access.bytes, access.bytes, access.mask,
                       role);
  }
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const std::uint32_t offset = access.offset[static_cast<std::size_t>(std::countr_zero(rest))];
    touch(at, offset, offset + access.bytes, role);
    if (access.pattern == vgpu::Pattern::uniform) return;
  }
}

bool Footprint::have_met(std::span<Footprint* const> all) {
  std::size_t ids = 0;
  for (const Footprint* const one : all) ids = std::max(ids, one->touched_.size());
  for (std::uint32_t id = 0; id < ids; ++id) {
    if (have_met_in(all, id)) return true;
  }
  return false;
}

bool Footprint::have_met_in(std::span<Footprint* const> all, std::uint32_t id) {
  std::vector<Footprint*> owners;
  std::vector<Touched*> there;
  for (Footprint* const one : all) {
    if (id < one->touched_.size() && one->touched_[id].allocation != nullptr) {
      owners.push_back(one);
      there.push_back(&one->touched_[id]);
    }
  }
  if (there.empty()) return false;
  for (std::size_t page = 0; page < there.front()->pages.size(); ++page) {
    std::uint8_t any = 0;
    std::size_t machines = 0;
    for (const Touched* const one : there) {
      any |= one->pages[page];
      machines += (one->pages[page] & ~Touched::kKnown) != 0 ? 1 : 0;
    }
    const bool is_reduced = (any & Touched::kReduced) != 0;
    if (!is_reduced && (machines < 2 || (any & Touched::kWritten) == 0)) continue;
    if (have_met_in_page(there, page)) return true;
    std::uint8_t kind = 0;
    for (const Footprint* const one : owners) {
      const std::uint8_t own = one->reduced_.kind_of(id, static_cast<std::uint32_t>(page));
      if (own != 0 && kind != 0 && own != kind) return true;
      if (own != 0) kind = own;
    }
  }
  return false;
}

bool Footprint::have_met_in_page(std::span<Touched* const> all, std::size_t page) {
  for (std::size_t at = page * kBitsOfPage; at < (page + 1) * kBitsOfPage; ++at) {
    std::uint64_t read = 0, written = 0, reduced = 0;  // by earlier machines
    for (Touched* const one : all) {
      const std::uint64_t reads = one->read()[at], writes = one->written()[at];
      if (((writes & (read | written)) | (reads & written)) != 0) return true;
      read |= reads;
      written |= writes;
      reduced |= one->reduced()[at];
    }
    if ((reduced & (read | written)) != 0) return true;
  }
  return false;
}

void Footprint::touch_bytes(const vgpu::Allocation& allocation, std::uint32_t offset,
                            std::uint32_t bytes, bool write) {
  const std::uint8_t role = write ? Touched::kWritten : Touched::kRead;
  if (bytes != 0) touch(touched(allocation), offset, offset + bytes, role);
}

TouchedWords Footprint::take_words() {
  TouchedWords words;
  for (const PageOf& one : pages_) {
    Touched& at = touched_[one.id];
    const std::size_t first = std::size_t{one.page} * kBitsOfPage;
    const std::uint8_t roles = at.pages[one.page];
    words.add(*at.allocation, one.page, (roles & Touched::kRead) != 0 ? at.read() + first : nullptr,
              (roles & Touched::kWritten) != 0 ? at.written() + first : nullptr);
  }
  forget_words();
  return words;
}

void Footprint::forget_words() {
  for (const PageOf& one : pages_) {
    Touched& at = touched_[one.id];
    const std::uint8_t touched = std::exchange(at.pages[one.page], Touched::kKnown);
    constexpr std::size_t kBytes = kBitsOfPage * sizeof(std::uint64_t);
    for (const std::uint8_t role : {Touched::kRead, Touched::kWritten, Touched::kReduced}) {
      const bool is_touched = (touched & role) != 0;
      if (is_touched) std::memset(at.bits_of_role(role) + one.page * kBitsOfPage, 0, kBytes);
    }
  }
  pages_.clear();
}

void Footprint::clear() {
  kept_.clear();
  reduced_.clear();
  forget_words();
  for (Touched& at : touched_) at.allocation = nullptr;
}

}  // namespace warpcheck::cudart
