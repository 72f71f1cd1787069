#include "vgpu/cudart/parallel/footprint.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "vgpu/check/order/clocks/bits.hpp"
#include "vgpu/machine/compute/simd.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/machine/memory/rows.hpp"

namespace warpcheck::cudart {
namespace {

constexpr std::uint32_t kWordsOfPage = kParallelPageBytes / 4;
constexpr std::uint32_t kBitsOfPage = kWordsOfPage / 64;  // 64 at a time

// The maximal number of runs of adjacent lanes that are touched one after the other.
constexpr unsigned kRunsMax = 8;

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

PageUsers::Use Footprint::use_of(std::uint8_t role) {
  if (role == Touched::kRead) return PageUsers::Use::read;
  return role == Touched::kWritten ? PageUsers::Use::write : PageUsers::Use::reduce;
}

Footprint::Footprint(SavedPages& saved)
    : saved_(saved), reduced_(saved), runs_of_(vgpu::race_row_functions(vgpu::simd_level()).runs) {}

Footprint::Touched& Footprint::begin_allocation(const vgpu::Allocation& allocation) {
  if (allocation.id >= touched_.size()) touched_.resize(allocation.id + 1);
  Touched& at = touched_[allocation.id];
  if (at.allocation != nullptr) {  // the same memory, mapped at another address
    at.allocation = &allocation;
    return at;
  }
  const std::uint64_t pages = (allocation.bytes + kParallelPageBytes - 1) / kParallelPageBytes;
  if (at.bytes < allocation.bytes || at.pages_of_bits[0].is_empty()) {
    const std::size_t room = (pages + 1) * kBitsOfPage * sizeof(std::uint64_t);
    for (std::size_t i = 0; i < at.pages_of_bits.size(); ++i) {
      at.pages_of_bits[i] = vgpu::HostPages(room, std::byte{0});
      if (at.pages_of_bits[i].is_empty()) throw std::bad_alloc();
      at.first_bits[i] = at.pages_of_bits[i].data();
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
  for (std::uint32_t page = begin / kParallelPageBytes; page <= (end - 1) / kParallelPageBytes;
       ++page) {
    std::uint8_t& known = at.pages[page];
    // Reductions change the known state of a page too.
    if (role != Touched::kRead && (known & (Touched::kWritten | Touched::kReduced)) == 0) {
      const bool is_saved = saved_.keep(*at.flags, *at.allocation, page, kept_);
      // Reads of constant memory leave no footprint.
      if (!is_saved || at.allocation->space != ptx::Space::global) grid_->give_up();
    }
    if (known == 0 && !saved_.count_shadows()) grid_->give_up();
    if ((known & ~Touched::kKnown) == 0) pages_.push_back({at.allocation->id, page});
    const bool is_new = (known & role) == 0 && reductions_ != nullptr;
    if (is_new && (*at.flags)[page].users.add(number_, use_of(role))) {
      compared_.push_back({at.allocation->id, page});
    }
    known |= Touched::kKnown | role;
  }
}

// Touches a range of any size.
void Footprint::touch(Touched& at, std::uint32_t begin, std::uint32_t end, std::uint8_t role) {
  touch_pages(at, begin, end, role);
  set_bits(at.words(role), begin / 4, (end - 1) / 4 + 1);
}

// Sets the bits of some of 32 words.
//   offset: of the first word
inline void Footprint::set_words(Touched& at, std::uint32_t offset, std::uint32_t words,
                                 std::uint8_t role) {
  std::byte* const bits = at.bits(role) + offset / 4 / 8;
  std::uint64_t found = 0;
  std::memcpy(&found, bits, sizeof found);
  found |= std::uint64_t{words} << offset / 4 % 8;
  std::memcpy(bits, &found, sizeof found);
}

// Touches one word of each of some adjacent lanes.
//   first: the offset of lane 0, whose word is touched
inline void Footprint::touch_row(Touched& at, std::uint32_t first, std::uint32_t lanes,
                                 std::uint8_t role) {
  const auto last = vgpu::kWarpLanes - 1 - static_cast<std::uint32_t>(std::countl_zero(lanes));
  if (!know_pages(at, first, first + 4 * last, role)) [[unlikely]]
    touch_pages(at, first, first + 4 * last + 4, role);
  set_words(at, first, lanes, role);
}

// Touches `bytes` bytes of each of some adjacent lanes.
//   first: the offset of lane 0, which is one of them
void Footprint::touch_lanes(Touched& at, std::uint32_t first, std::uint32_t bytes,
                            std::uint32_t lanes, std::uint8_t role) {
  if (first % 4 != 0 || (bytes != 4 && bytes != 8 && bytes != 16)) {
    return touch_runs(at, first, bytes, lanes, role);
  }
  const unsigned words = bytes / 4, step = vgpu::kWarpLanes / words;
  for (; lanes != 0; lanes = words == 1 ? 0 : lanes >> step, first += 4 * vgpu::kWarpLanes) {
    std::uint64_t some = words == 1 ? lanes : lanes & ((1u << step) - 1);
    if (words > 1) some = vgpu::twice(some);
    if (words > 2) some = vgpu::twice(some);
    const auto lead = static_cast<std::uint32_t>(std::countr_zero(some));
    if (some != 0) touch_row(at, first + 4 * lead, static_cast<std::uint32_t>(some >> lead), role);
  }
}

void Footprint::touch_runs(Touched& at, std::uint32_t first, std::uint32_t bytes,
                           std::uint32_t lanes, std::uint8_t role) {
  while (lanes != 0) {
    const auto begin = static_cast<std::uint32_t>(std::countr_zero(lanes));
    const auto count = static_cast<std::uint32_t>(std::countr_one(lanes >> begin));
    touch(at, first + begin * bytes, first + (begin + count) * bytes, role);
    if (begin + count == vgpu::kWarpLanes) return;
    lanes &= ~0u << (begin + count);
  }
}

// Touches the bytes of lanes at any offsets.  Tiles with rows shorter than a warp are a few runs of
// adjacent lanes.
void Footprint::touch_scattered(Touched& at, const std::uint32_t* offsets, std::uint32_t bytes,
                                std::uint32_t lanes, std::uint8_t role) {
  const vgpu::LaneRuns runs = runs_of_(offsets, lanes, bytes);
  const bool is_of_words = bytes == 4;
  if (runs.count > kRunsMax && is_of_words) return touch_words(at, offsets, lanes, role);
  vgpu::for_each_run(runs.begins, lanes, [&](unsigned first, std::uint32_t run) {
    if (is_of_words) {
      touch_row(at, offsets[first], run >> first, role);
    } else {
      touch_lanes(at, offsets[first], bytes, run >> first, role);
    }
    return true;
  });
}

// Touches one word of each lane.
void Footprint::touch_words(Touched& at, const std::uint32_t* offsets, std::uint32_t lanes,
                            std::uint8_t role) {
  std::byte* const bits = at.bits(role);
  std::uint32_t page = ~0u;
  for (; lanes != 0; lanes &= lanes - 1) {
    const std::uint32_t offset = offsets[std::countr_zero(lanes)];
    if (offset / kParallelPageBytes != page) {
      page = offset / kParallelPageBytes;
      if (!know_pages(at, offset, offset, role)) touch_pages(at, offset, offset + 1, role);
    }
    bits[offset / 4 / 8] |= std::byte{1} << offset / 4 % 8;
  }
}

// Most rows are full rows of words in pages that have been touched before.
bool Footprint::takes_row(const vgpu::RowAccess& row) {
  if (row.space != ptx::Space::global) return true;
  const vgpu::Allocation* const allocation = row.allocation;
  const std::uint8_t role =
      row.kind == vgpu::AccessKind::write ? Touched::kWritten : Touched::kRead;
  const bool is_full_row = row.mask == ~0u && row.bytes == 4 && row.first % 4 == 0 &&
                           row.pattern == vgpu::Pattern::strided;
  if (is_full_row && allocation->id < touched_.size()) [[likely]] {
    Touched& at = touched_[allocation->id];
    if (at.allocation == allocation && know_pages(at, row.first, row.first + 124, role))
        [[likely]] {
      set_words(at, row.first, ~0u, role);
      return true;
    }
  }
  take_any_row(row, role);
  return true;
}

void Footprint::take_any_row(const vgpu::RowAccess& row, std::uint8_t role) {
  Touched& at = touched(*row.allocation);
  if (row.pattern == vgpu::Pattern::scattered) {
    touch_scattered(at, row.offsets, row.bytes, row.mask, role);
  } else if (row.pattern == vgpu::Pattern::uniform) {
    touch_lanes(at, row.first, row.bytes, 1, role);
  } else {
    const auto lead = static_cast<std::uint32_t>(std::countr_zero(row.mask));
    touch_lanes(at, row.first + lead * row.bytes, row.bytes, row.mask >> lead, role);
  }
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

void Footprint::on_access(const vgpu::Access& access) {
  if (access.space != ptx::Space::global) return;
  take_any_row(vgpu::row_of(access), role_of(access));
}

bool Footprint::have_met(std::span<Footprint* const> all) {
  return std::ranges::any_of(all, [&](const Footprint* one) {
    return std::ranges::any_of(one->compared_,
                               [&](const PageOf& page) { return have_met_at(all, page); });
  });
}

bool Footprint::have_met_at(std::span<Footprint* const> all, const PageOf& page) {
  std::vector<Touched*> there;
  std::uint8_t kind = 0;
  for (Footprint* const one : all) {
    if (page.id >= one->touched_.size() || one->touched_[page.id].allocation == nullptr) continue;
    Touched& at = one->touched_[page.id];
    if ((at.pages[page.page] & ~Touched::kKnown) == 0) continue;
    there.push_back(&at);
    const std::uint8_t own = one->reduced_.kind_of(page.id, page.page);
    if (own != 0 && kind != 0 && own != kind) return true;
    if (own != 0) kind = own;
  }
  return have_met_in_page(there, page.page);
}

bool Footprint::have_met_in_page(std::span<Touched* const> all, std::size_t page) {
  for (std::size_t at = page * kBitsOfPage; at < (page + 1) * kBitsOfPage; ++at) {
    std::uint64_t read = 0, written = 0, reduced = 0;  // by earlier machines
    for (Touched* const one : all) {
      const std::uint64_t reads = one->words(Touched::kRead)[at];
      const std::uint64_t writes = one->words(Touched::kWritten)[at];
      if (((writes & (read | written)) | (reads & written)) != 0) return true;
      read |= reads;
      written |= writes;
      reduced |= one->words(Touched::kReduced)[at];
    }
    if ((reduced & (read | written)) != 0) return true;
  }
  return false;
}

void Footprint::begin(vgpu::SharedGrid& grid, std::uint32_t number, const Reductions& reductions) {
  forget_words();
  grid_ = &grid;
  number_ = number;
  reductions_ = &reductions;
  reduced_.begin(reductions, grid);
}

void Footprint::begin_whole(vgpu::SharedGrid& group) {
  forget_words();
  grid_ = &group;
  reductions_ = nullptr;
}

void Footprint::forget(const vgpu::Allocation& allocation) {
  if (allocation.id >= touched_.size()) return;
  forget_words();
  touched_[allocation.id] = {};
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
    const auto bits_of = [&](std::uint8_t role) {
      return (roles & role) != 0 ? at.words(role) + first : nullptr;
    };
    words.add(*at.allocation, one.page, bits_of(Touched::kRead), bits_of(Touched::kWritten));
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
      if (is_touched) std::memset(at.words(role) + one.page * kBitsOfPage, 0, kBytes);
    }
  }
  pages_.clear();
}

void Footprint::clear() {
  kept_.clear();
  reduced_.clear();
  compared_.clear();
  for (Touched& at : touched_) at.allocation = nullptr;
}

}  // namespace warpcheck::cudart
