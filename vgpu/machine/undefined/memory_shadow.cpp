#include "vgpu/machine/undefined/memory_shadow.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::uint64_t kDefinedWord = 0x8080'8080'8080'8080;

// Ranges are copied in pieces of this size, and byte by byte where the states of a piece differ.
constexpr std::uint32_t kPieceBytes = 1u << 18;

HostPages zeroed(std::size_t bytes) {
  HostPages pages(bytes, std::byte{0});
  if (pages.is_empty()) throw std::bad_alloc();
  return pages;
}

bool are_alike(const std::uint8_t* bytes, std::size_t count) {
  return std::memcmp(bytes, bytes + 1, count - 1) == 0;
}

}  // namespace

void MemoryShadow::begin(std::uint32_t bytes) {
  bytes_ = bytes;
  settled_ = 0;
  extent_ = Extent::none;
}

void MemoryShadow::release() {
  if (capacity_ < HostPages::kMappedMin) return;
  *this = {};
}

void MemoryShadow::fill_states(std::uint32_t offset, std::uint32_t bytes, std::uint8_t state) {
  pages_.fill(kRowSlack + offset, bytes, std::byte{state});
}

void MemoryShadow::materialise() {
  if (bytes_ > capacity_ || states_ == nullptr) {
    pages_ = zeroed(bytes_ + 2 * kRowSlack);
    states_ = reinterpret_cast<std::uint8_t*>(pages_.data()) + kRowSlack;
    capacity_ = bytes_;
    ends_at_ = UINT32_MAX;
    std::memset(states_ - kRowSlack, kDefined, kRowSlack);
    taint_pages_ = {};
    taints_ = nullptr;
    if (extent_ == Extent::all) fill_states(0, bytes_, kDefined);
  } else {
    fill_states(0, bytes_, extent_ == Extent::all ? kDefined : kNeverWritten);
  }
  // The slack counts as defined, so that a row with inactive lanes beyond the ends can be all
  // defined.
  if (ends_at_ != bytes_) std::memset(states_ + bytes_, kDefined, kRowSlack);
  ends_at_ = bytes_;
  std::atomic_ref(extent_).store(Extent::some, std::memory_order_release);
}

void MemoryShadow::fill(std::uint32_t offset, std::uint32_t bytes, State state) {
  const Extent whole = state == kDefined ? Extent::all : Extent::none;
  if (extent_ == whole || bytes == 0) return;
  if (state != kDefined) settled_ = std::min(settled_, offset);
  if (bytes == bytes_) {
    extent_ = whole;
  } else {
    writable_states();
    fill_states(offset, bytes, state);
  }
}

void MemoryShadow::make_taints() {
  if (taints_ != nullptr) return;
  taint_pages_ = zeroed(std::size_t{capacity_} * sizeof(std::uint32_t));
  taints_ = reinterpret_cast<std::uint32_t*>(taint_pages_.data());
}

void MemoryShadow::taint(std::uint32_t offset, const Taint& taint) {
  writable_states()[offset] = kUndefined;
  settled_ = std::min(settled_, offset);
  make_taints();
  taints_[offset] = taint.origin << 10 | std::uint32_t{taint.calculated} << 9 |
                    std::uint32_t{taint.next_to_defined} << 8 | taint.bits;
}

void MemoryShadow::copy(std::uint32_t offset, const MemoryShadow& source,
                        std::uint32_t source_offset, std::uint32_t bytes) {
  if (source.extent_ != Extent::some) {
    fill(offset, bytes, source.extent_ == Extent::all ? kDefined : kNeverWritten);
    return;
  }
  settled_ = std::min(settled_, offset);
  std::uint8_t* const to = writable_states() + offset;
  const std::uint8_t* const from = source.states_ + source_offset;
  const bool may_overlap = &source == this;
  for (std::uint32_t at = 0; at < bytes && !may_overlap; at += kPieceBytes) {
    const std::uint32_t count = std::min(kPieceBytes, bytes - at);
    if (count == kPieceBytes && are_alike(from + at, count)) {
      fill_states(offset + at, count, from[at]);
    } else {
      std::memcpy(to + at, from + at, count);
    }
  }
  if (may_overlap) std::memmove(to, from, bytes);
  if (source.taints_ == nullptr) return;
  make_taints();
  std::memmove(taints_ + offset, source.taints_ + source_offset, bytes * sizeof *taints_);
}

std::uint8_t MemoryShadow::raw_state_at(std::uint32_t offset) const {
  switch (extent_) {
    case Extent::none: return kNeverWritten;
    case Extent::all: return kDefined;
    case Extent::some: break;
  }
  return states_[offset];
}

MemoryShadow::State MemoryShadow::state_at(std::uint32_t offset) const {
  const std::uint8_t state = raw_state_at(offset);
  return is_defined(state) ? kDefined : static_cast<State>(state);
}

std::uint32_t MemoryShadow::find_undefined(std::uint32_t begin, std::uint32_t end) const {
  if (extent_ == Extent::all) return end;
  if (extent_ == Extent::none) return begin;
  constexpr std::uint32_t kWordBytes = sizeof(std::uint64_t);
  const auto word_at = [&](std::uint32_t offset) {
    std::uint64_t word;
    std::memcpy(&word, states_ + offset, kWordBytes);
    return word;
  };
  for (; end - begin >= 4 * kWordBytes; begin += 4 * kWordBytes) {
    const std::uint64_t all = word_at(begin) & word_at(begin + kWordBytes) &
                              word_at(begin + 2 * kWordBytes) & word_at(begin + 3 * kWordBytes);
    if ((all & kDefinedWord) != kDefinedWord) break;
  }
  while (begin < end && is_defined(states_[begin])) ++begin;
  return begin;
}

std::uint32_t MemoryShadow::find_written(std::uint32_t begin, std::uint32_t end) const {
  if (extent_ == Extent::all) return begin;
  if (extent_ == Extent::none) return end;
  while (end - begin >= sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, states_ + begin, sizeof word);
    if (word != 0) break;
    begin += sizeof word;
  }
  while (begin < end && states_[begin] == kNeverWritten) ++begin;
  return begin;
}

}  // namespace warpcheck::vgpu
