#include "vgpu/machine/undefined/memory_shadow.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::vgpu {
namespace {

// States of sectors are copied in pieces of this size, and byte by byte where those of a piece
// differ.
constexpr std::uint32_t kPieceBytes = 1u << 12;

HostPages zeroed(std::size_t bytes) {
  HostPages pages(bytes, std::byte{0});
  if (pages.is_empty()) throw std::bad_alloc();
  return pages;
}

}  // namespace

void MemoryShadow::begin(std::uint32_t bytes) {
  bytes_ = bytes;
  settled_ = 0;
  extent_ = Extent::none;
}

void MemoryShadow::release() {
  if (!sectors_.is_empty()) *this = {};
}

void MemoryShadow::fill_states(std::uint32_t offset, std::uint32_t bytes, std::uint8_t state) {
  if (extent_ == Extent::sectors) return sectors_.fill(offset, bytes, state);
  std::memset(states_ + offset, state, bytes);
}

void MemoryShadow::materialise() {
  const State state = extent_ == Extent::all ? kDefined : kNeverWritten;
  if (bytes_ >= kSectoredMin) {
    sectors_.begin(bytes_, state);
    std::atomic_ref(extent_).store(Extent::sectors, std::memory_order_release);
    return;
  }
  if (bytes_ > capacity_ || states_ == nullptr) {
    pages_ = zeroed(bytes_ + 2 * kRowSlack);
    states_ = reinterpret_cast<std::uint8_t*>(pages_.data()) + kRowSlack;
    capacity_ = bytes_;
    ends_at_ = UINT32_MAX;
    std::memset(states_ - kRowSlack, kDefined, kRowSlack);
  }
  std::memset(states_, state, bytes_);
  // The slack counts as defined, so that a row with inactive lanes beyond the ends can be all
  // defined.
  if (ends_at_ != bytes_) std::memset(states_ + bytes_, kDefined, kRowSlack);
  ends_at_ = bytes_;
  std::atomic_ref(extent_).store(Extent::bytes, std::memory_order_release);
}

void MemoryShadow::fill(std::uint32_t offset, std::uint32_t bytes, State state) {
  const Extent whole = state == kDefined ? Extent::all : Extent::none;
  if (extent_ == whole || bytes == 0) return;
  if (state != kDefined) settled_ = std::min(settled_, offset);
  if (bytes == bytes_) {
    extent_ = whole;
  } else {
    make_states();
    fill_states(offset, bytes, state);
  }
}

void MemoryShadow::make_taints() {
  const std::size_t bytes = std::size_t{bytes_} * sizeof(std::uint32_t);
  if (taint_pages_.bytes() >= bytes) return;
  taint_pages_ = zeroed(bytes);
  taints_ = reinterpret_cast<std::uint32_t*>(taint_pages_.data());
}

void MemoryShadow::taint(std::uint32_t offset, const Taint& taint) {
  make_states();
  set(offset, 1, kUndefined);
  settled_ = std::min(settled_, offset);
  make_taints();
  taints_[offset] = taint.origin << 10 | std::uint32_t{taint.calculated} << 9 |
                    std::uint32_t{taint.next_to_defined} << 8 | taint.bits;
}

void MemoryShadow::copy(std::uint32_t offset, const MemoryShadow& source,
                        std::uint32_t source_offset, std::uint32_t bytes) {
  if (!source.has_states()) {
    fill(offset, bytes, source.extent_ == Extent::all ? kDefined : kNeverWritten);
    return;
  }
  settled_ = std::min(settled_, offset);
  make_states();
  copy_pieces(offset, source, source_offset, bytes);
  if (source.taints_ == nullptr) return;
  make_taints();
  std::memmove(taints_ + offset, source.taints_ + source_offset, bytes * sizeof *taints_);
}

void MemoryShadow::copy_pieces(std::uint32_t offset, const MemoryShadow& source,
                               std::uint32_t source_offset, std::uint32_t bytes) {
  if (extent_ == Extent::bytes && source.extent_ == Extent::bytes) {
    std::memmove(states_ + offset, source.states_ + source_offset, bytes);
    return;
  }
  // Within one allocation, a piece must be read before it is written.
  const bool is_backward = &source == this && offset > source_offset;
  std::array<std::uint8_t, kPieceBytes> piece;
  for (std::uint32_t done = 0; done < bytes;) {
    const std::uint32_t count = std::min(kPieceBytes, bytes - done);
    const std::uint32_t at = is_backward ? bytes - done - count : done;
    const bool is_aligned = (source_offset + at) % SectorStates::kSectorBytes == 0;
    const auto common = is_aligned ? source.common_state(source_offset + at, count) : std::nullopt;
    if (common) {
      fill_states(offset + at, count, *common);
    } else {
      source.read(source_offset + at, count, piece.data());
      write(offset + at, count, piece.data());
    }
    done += count;
  }
}

void MemoryShadow::read(std::uint32_t offset, std::uint32_t bytes, std::uint8_t* to) const {
  if (extent() == Extent::sectors) return sectors_.read(offset, bytes, to);
  std::memcpy(to, states_ + offset, bytes);
}

void MemoryShadow::write(std::uint32_t offset, std::uint32_t bytes, const std::uint8_t* from) {
  if (extent() == Extent::sectors) return sectors_.write(offset, bytes, from);
  std::memcpy(states_ + offset, from, bytes);
}

std::optional<std::uint8_t> MemoryShadow::common_state(std::uint32_t offset,
                                                       std::uint32_t bytes) const {
  if (extent() == Extent::sectors) return sectors_.common_state(offset, bytes);
  const std::uint8_t* const first = states_ + offset;
  if (std::memcmp(first, first + 1, bytes - 1) != 0) return std::nullopt;
  return *first;
}

std::uint8_t MemoryShadow::raw_state_at(std::uint32_t offset) const {
  switch (extent()) {
    case Extent::none: return kNeverWritten;
    case Extent::all: return kDefined;
    case Extent::sectors: return sectors_.at(offset);
    case Extent::bytes: break;
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
  if (extent_ == Extent::sectors) return sectors_.find_undefined(begin, end);
  constexpr std::uint32_t kWordBytes = sizeof(std::uint64_t);
  const auto word_at = [&](std::uint32_t offset) {
    std::uint64_t word;
    std::memcpy(&word, states_ + offset, kWordBytes);
    return word;
  };
  for (; end - begin >= 4 * kWordBytes; begin += 4 * kWordBytes) {
    const std::uint64_t all = word_at(begin) & word_at(begin + kWordBytes) &
                              word_at(begin + 2 * kWordBytes) & word_at(begin + 3 * kWordBytes);
    if ((all & kAllDefined<std::uint64_t>) != kAllDefined<std::uint64_t>) break;
  }
  while (begin < end && is_defined(states_[begin])) ++begin;
  return begin;
}

std::uint32_t MemoryShadow::find_written(std::uint32_t begin, std::uint32_t end) const {
  if (extent_ == Extent::all) return begin;
  if (extent_ == Extent::none) return end;
  if (extent_ == Extent::sectors) return sectors_.find_written(begin, end);
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
