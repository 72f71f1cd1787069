#include "vgpu/check/init_shadow.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::vgpu {
namespace {

// From this size on, new zero pages are cheaper than clearing old ones.
constexpr std::uint32_t kClearedBytesMax = 1u << 20;

constexpr std::uint64_t kAllDefined = 0x8080'8080'8080'8080;

void* zeroed(std::size_t bytes) {
  void* const memory = std::calloc(bytes, 1);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void InitShadow::begin(std::uint32_t bytes) {
  bytes_ = bytes;
  extent_ = Extent::none;
}

void InitShadow::materialise() {
  const bool fresh_pages = bytes_ > kClearedBytesMax && extent_ == Extent::none;
  if (bytes_ > capacity_ || states_ == nullptr || fresh_pages) {
    memory_.reset(static_cast<std::uint8_t*>(zeroed(std::size_t{bytes_} + 2 * kRowSlack)));
    states_ = memory_.get() + kRowSlack;
    capacity_ = bytes_;
    taints_memory_.reset();
    taints_ = nullptr;
    if (extent_ == Extent::all) std::memset(states_, kDefined, bytes_);
  } else {
    std::memset(states_, extent_ == Extent::all ? kDefined : kNeverWritten, bytes_);
  }
  // So that a row with inactive lanes beyond the ends can be all defined.
  std::memset(states_ - kRowSlack, kDefined, kRowSlack);
  std::memset(states_ + bytes_, kDefined, kRowSlack);
  extent_ = Extent::some;
}

void InitShadow::fill(std::uint32_t offset, std::uint32_t bytes, State state) {
  const Extent whole = state == kDefined ? Extent::all : Extent::none;
  if (extent_ == whole || bytes == 0) return;
  if (bytes == bytes_) {
    extent_ = whole;
  } else {
    std::memset(writable_states() + offset, state, bytes);
  }
}

void InitShadow::make_taints() {
  if (taints_ != nullptr) return;
  taints_memory_.reset(
      static_cast<std::uint32_t*>(zeroed(std::size_t{capacity_} * sizeof(std::uint32_t))));
  taints_ = taints_memory_.get();
}

void InitShadow::taint(std::uint32_t offset, const Taint& taint) {
  writable_states()[offset] = kUndefined;
  make_taints();
  taints_[offset] = taint.origin << 9 | std::uint32_t{taint.beside_defined} << 8 | taint.bits;
}

void InitShadow::copy(std::uint32_t offset, const InitShadow& source, std::uint32_t source_offset,
                      std::uint32_t bytes) {
  if (source.extent_ != Extent::some) {
    fill(offset, bytes, source.extent_ == Extent::all ? kDefined : kNeverWritten);
    return;
  }
  std::memmove(writable_states() + offset, source.states_ + source_offset, bytes);
  if (source.taints_ == nullptr) return;
  make_taints();
  std::memmove(taints_ + offset, source.taints_ + source_offset, bytes * sizeof *taints_);
}

std::uint8_t InitShadow::raw_state_at(std::uint32_t offset) const {
  switch (extent_) {
    case Extent::none: return kNeverWritten;
    case Extent::all: return kDefined;
    case Extent::some: break;
  }
  return states_[offset];
}

InitShadow::State InitShadow::state_at(std::uint32_t offset) const {
  const std::uint8_t state = raw_state_at(offset);
  return is_defined(state) ? kDefined : static_cast<State>(state);
}

std::uint32_t InitShadow::find_undefined(std::uint32_t begin, std::uint32_t end) const {
  if (extent_ == Extent::all) return end;
  if (extent_ == Extent::none) return begin;
  while (end - begin >= sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, states_ + begin, sizeof word);
    if ((word & kAllDefined) != kAllDefined) break;
    begin += sizeof word;
  }
  while (begin < end && is_defined(states_[begin])) ++begin;
  return begin;
}

std::uint32_t InitShadow::find_written(std::uint32_t begin, std::uint32_t end) const {
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
