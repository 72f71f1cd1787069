#include "vgpu/machine/undefined/sector_states.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace warpcheck::vgpu {
namespace {

// Sectors before and behind those of the allocation: of the longest row, and of a row that begins
// within a sector.
constexpr std::uint32_t kSlack = 32;
constexpr std::uint8_t kSlackState = 0xff;

HostPages pages_of(std::size_t bytes) {
  HostPages pages(bytes, std::byte{0});
  if (pages.is_empty()) throw std::bad_alloc();
  return pages;
}

bool are_alike(const std::uint8_t* bytes, std::size_t count) {
  return std::memcmp(bytes, bytes + 1, count - 1) == 0;
}

}  // namespace

void SectorStates::begin(std::uint32_t bytes, std::uint8_t state) {
  size_ = bytes;
  const std::size_t sectors = (std::size_t{bytes} + kSectorBytes - 1) / kSectorBytes;
  if (byte_pages_.bytes() < bytes) {
    sector_pages_ = pages_of(sectors + 2 * kSlack);
    byte_pages_ = pages_of(bytes);
    sectors_ = reinterpret_cast<std::uint8_t*>(sector_pages_.data()) + kSlack;
    bytes_ = reinterpret_cast<std::uint8_t*>(byte_pages_.data());
    if (state != 0) sector_pages_.fill(kSlack, sectors, std::byte{state});
  } else {
    sector_pages_.fill(kSlack, sectors, std::byte{state});
  }
  // The slack counts as defined, so that a row with inactive lanes beyond the ends can be all
  // defined.
  std::memset(sectors_ - kSlack, kSlackState, kSlack);
  std::memset(sectors_ + sectors, kSlackState, kSlack);
}

// Calls visit(number, begin, end, whether these are all bytes of the sector).
template <typename Visit>
void SectorStates::for_each_sector(std::uint32_t offset, std::uint32_t bytes, Visit visit) const {
  for (std::uint32_t at = offset, end = offset + bytes; at < end;) {
    const std::uint32_t number = at / kSectorBytes, end_of_sector = end_of(number);
    const std::uint32_t to = std::min(end, end_of_sector);
    visit(number, at, to, at % kSectorBytes == 0 && to == end_of_sector);
    at = to;
  }
}

std::optional<std::uint8_t> SectorStates::common_state(std::uint32_t offset,
                                                       std::uint32_t bytes) const {
  const std::uint8_t* const first = sectors_ + offset / kSectorBytes;
  const std::uint8_t state = state_of(offset / kSectorBytes);
  const std::size_t sectors = (std::size_t{bytes} + kSectorBytes - 1) / kSectorBytes;
  if (state == kDiffer || !are_alike(first, sectors)) return std::nullopt;
  return state;
}

std::uint32_t SectorStates::find_undefined(std::uint32_t begin, std::uint32_t end) const {
  while (begin < end) {
    const std::uint32_t number = begin / kSectorBytes;
    const std::uint8_t state = state_of(number);
    const std::uint32_t to = std::min(end, end_of(number));
    if (state == kDiffer) {
      while (begin < to && (bytes_[begin] & kDefinedBit) != 0) ++begin;
      if (begin < to) return begin;
    } else if ((state & kDefinedBit) == 0) {
      return begin;
    }
    begin = to;
    // Most sectors are defined.
    while (begin % kSectorBytes == 0 && end - begin >= sizeof(std::uint64_t) * kSectorBytes &&
           is_all_defined<std::uint64_t>(sectors_ + begin / kSectorBytes)) {
      begin += sizeof(std::uint64_t) * kSectorBytes;
    }
  }
  return end;
}

std::uint32_t SectorStates::find_written(std::uint32_t begin, std::uint32_t end) const {
  while (begin < end) {
    const std::uint32_t number = begin / kSectorBytes;
    const std::uint8_t state = state_of(number);
    const std::uint32_t to = std::min(end, end_of(number));
    if (state == kDiffer) {
      while (begin < to && bytes_[begin] == 0) ++begin;
      if (begin < to) return begin;
    } else if (state != 0) {
      return begin;
    }
    begin = to;
  }
  return end;
}

void SectorStates::read(std::uint32_t offset, std::uint32_t bytes, std::uint8_t* to) const {
  for_each_sector(offset, bytes,
                  [&](std::uint32_t number, std::uint32_t begin, std::uint32_t end, bool) {
                    const std::uint8_t state = state_of(number);
                    std::uint8_t* const at = to + (begin - offset);
                    if (state == kDiffer) {
                      std::memcpy(at, bytes_ + begin, end - begin);
                    } else {
                      std::memset(at, state, end - begin);
                    }
                  });
}

void SectorStates::write(std::uint32_t offset, std::uint32_t bytes, const std::uint8_t* from) {
  for_each_sector(offset, bytes,
                  [&](std::uint32_t number, std::uint32_t begin, std::uint32_t end, bool is_whole) {
                    const std::uint8_t* const states = from + (begin - offset);
                    if (is_whole && are_alike(states, end - begin))
                      return set_sector(number, *states);
                    expand(number);
                    std::memcpy(bytes_ + begin, states, end - begin);
                    unite(number);
                  });
}

void SectorStates::set(std::uint32_t offset, std::uint32_t bytes, std::uint8_t state) {
  for_each_sector(offset, bytes,
                  [&](std::uint32_t number, std::uint32_t begin, std::uint32_t end, bool is_whole) {
                    if (state_of(number) == state) return;
                    is_whole ? set_sector(number, state) : set_part(begin, end - begin, state);
                  });
}

void SectorStates::fill(std::uint32_t offset, std::uint32_t bytes, std::uint8_t state) {
  const std::uint32_t end = offset + bytes;
  const std::uint32_t first = (offset + kSectorBytes - 1) / kSectorBytes;
  const std::uint32_t behind = end / kSectorBytes;
  if (behind <= first) return set(offset, bytes, state);
  set(offset, first * kSectorBytes - offset, state);
  sector_pages_.fill(kSlack + first, behind - first, std::byte{state});
  set(behind * kSectorBytes, end - behind * kSectorBytes, state);
}

bool SectorStates::is_range_defined(std::ptrdiff_t begin, std::size_t bytes) const {
  const auto end = std::min<std::ptrdiff_t>(begin + static_cast<std::ptrdiff_t>(bytes), size_);
  const auto from = static_cast<std::uint32_t>(std::max<std::ptrdiff_t>(begin, 0));
  const auto to = static_cast<std::uint32_t>(end);
  return find_undefined(from, to) == to;
}

void SectorStates::set_sector(std::uint32_t number, std::uint8_t state) {
  std::uint8_t seen = sector(number).load(std::memory_order_relaxed);
  while (seen != state) {
    if (seen == kBusy) {
      seen = state_of(number);
    } else if (sector(number).compare_exchange_weak(seen, state, std::memory_order_release,
                                                    std::memory_order_relaxed)) {
      return;
    }
  }
}

void SectorStates::set_part(std::uint32_t offset, std::uint32_t bytes, std::uint8_t state) {
  const std::uint32_t number = offset / kSectorBytes;
  expand(number);
  std::memset(bytes_ + offset, state, bytes);
  unite(number);
}

// Afterwards, the bytes of the sector have states of their own.
void SectorStates::expand(std::uint32_t number) {
  std::uint8_t seen = sector(number).load(std::memory_order_acquire);
  while (seen != kDiffer) {
    if (seen == kBusy) {
      seen = state_of(number);
    } else if (sector(number).compare_exchange_weak(seen, kBusy, std::memory_order_acquire)) {
      const std::uint32_t begin = number * kSectorBytes;
      std::memset(bytes_ + begin, seen, end_of(number) - begin);
      sector(number).store(kDiffer, std::memory_order_release);
      return;
    }
  }
}

// Gives the sector one state if all its bytes have the same.
void SectorStates::unite(std::uint32_t number) {
  const std::uint32_t begin = number * kSectorBytes;
  if (!are_alike(bytes_ + begin, end_of(number) - begin)) return;
  std::uint8_t differ = kDiffer;
  sector(number).compare_exchange_strong(differ, bytes_[begin], std::memory_order_release);
}

}  // namespace warpcheck::vgpu
