// The states of the bytes of a large allocation (MemoryShadow): one for each sector, a range of 32
// bytes, and one for each byte where the bytes of a sector differ.
//
// Programs fill memory by rows of whole sectors, so the states of most memory cost a thirty-second
// of its size.  An aligned access of one lane lies within one sector.
//
// Machines that run one launch together (unwritten_parts.cpp) call set() and set_row() at the same
// time, with defined states, also for one sector.  While one of them expands a sector, the others
// wait for it.  If one sets a whole sector while another sets some bytes of it, either state may
// remain: all bytes are defined.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "vgpu/machine/memory/host_pages.hpp"
#include "vgpu/machine/undefined/byte_states.hpp"

namespace warpcheck::vgpu {

class SectorStates {
 public:
  static constexpr std::uint32_t kSectorBytes = 32;

  // Starts anew with `bytes` bytes, all of one state.
  void begin(std::uint32_t bytes, std::uint8_t state);
  [[nodiscard]] bool is_empty() const { return sectors_ == nullptr; }

  [[nodiscard]] std::uint8_t at(std::uint32_t offset) const {
    const std::uint8_t state = state_of(offset / kSectorBytes);
    return state == kDiffer ? bytes_[offset] : state;
  }
  // Returns the state of all bytes of a range, which begins and ends with sectors or with the
  // allocation; empty: it is not known without a look at single bytes.
  [[nodiscard]] std::optional<std::uint8_t> common_state(std::uint32_t offset,
                                                         std::uint32_t bytes) const;
  // Returns the offset of the first byte of the range that is not defined, or `end`; and of the
  // first one that was written.
  [[nodiscard]] std::uint32_t find_undefined(std::uint32_t begin, std::uint32_t end) const;
  [[nodiscard]] std::uint32_t find_written(std::uint32_t begin, std::uint32_t end) const;
  // Copies the states of a range, one byte each.
  void read(std::uint32_t offset, std::uint32_t bytes, std::uint8_t* to) const;
  void write(std::uint32_t offset, std::uint32_t bytes, const std::uint8_t* from);

  void set(std::uint32_t offset, std::uint32_t bytes, std::uint8_t state);
  // Does the same, but only while no other machine uses the states: it is faster for large ranges.
  void fill(std::uint32_t offset, std::uint32_t bytes, std::uint8_t state);

  // For rows of accesses, as ByteStates.
  template <typename Word>
  [[nodiscard]] bool is_row_defined(std::ptrdiff_t first) const {
    const std::uint8_t* const sectors = sectors_ + (first >> kSectorBits);
    if (!is_all_defined<Word>(sectors)) return is_range_defined(first, kWarpLanes * sizeof(Word));
    if (first % kSectorBytes == 0 || (sectors[sizeof(Word)] & kDefinedBit) != 0) return true;
    return is_range_defined(first, kWarpLanes * sizeof(Word));
  }
  template <typename Word>
  [[nodiscard]] bool is_defined(std::uint32_t offset) const {
    const std::uint8_t state = state_of(offset / kSectorBytes);
    if (state != kDiffer) return (state & kDefinedBit) != 0;
    return is_all_defined<Word>(bytes_ + offset);
  }
  template <typename Word>
  void set_row(std::uint32_t first, std::uint8_t state) {
    if constexpr (sizeof(Word) == 2 * sizeof(std::uint64_t)) {
      set_row<std::uint64_t>(first, state);
      set_row<std::uint64_t>(first + kWarpLanes * sizeof(std::uint64_t), state);
    } else {
      const bool is_aligned = first % (kSectorBytes * sizeof(Word)) == 0;
      if (is_aligned && set_alike<Word>(first / kSectorBytes, state)) return;
      set(first, kWarpLanes * sizeof(Word), state);
    }
  }

 private:
  static constexpr unsigned kSectorBits = 5;
  static constexpr std::uint8_t kDefinedBit = 0x80;
  // Values of a sector that are no states of bytes.
  static constexpr std::uint8_t kDiffer = 0x02;  // the bytes have states of their own
  static constexpr std::uint8_t kBusy = 0x03;    // a machine writes these states

  [[nodiscard]] std::atomic_ref<std::uint8_t> sector(std::uint32_t number) const {
    return std::atomic_ref(sectors_[number]);
  }
  [[nodiscard]] std::uint8_t state_of(std::uint32_t number) const {
    std::uint8_t state = sector(number).load(std::memory_order_acquire);
    while (state == kBusy) state = sector(number).load(std::memory_order_acquire);
    return state;
  }
  [[nodiscard]] std::uint32_t end_of(std::uint32_t number) const {
    return number == size_ / kSectorBytes ? size_ : (number + 1) * kSectorBytes;
  }
  [[nodiscard]] bool is_range_defined(std::ptrdiff_t begin, std::size_t bytes) const;
  // Sets as many sectors as a word has bytes, if they all have one state.
  template <typename Word>
  [[nodiscard]] bool set_alike(std::uint32_t number, std::uint8_t state) {
    constexpr auto kOnes = static_cast<Word>(static_cast<Word>(~Word{0}) / 0xff);
    const std::atomic_ref sectors(*reinterpret_cast<Word*>(sectors_ + number));
    Word seen = sectors.load(std::memory_order_relaxed);
    const auto first = static_cast<std::uint8_t>(seen);
    const auto all = static_cast<Word>(kOnes * state);
    if (seen == all) return true;
    if (seen != static_cast<Word>(kOnes * first) || first == kBusy) return false;
    return sectors.compare_exchange_strong(seen, all, std::memory_order_release,
                                           std::memory_order_relaxed);
  }
  void set_sector(std::uint32_t number, std::uint8_t state);
  void set_part(std::uint32_t offset, std::uint32_t bytes, std::uint8_t state);
  void expand(std::uint32_t number);
  void unite(std::uint32_t number);
  template <typename Visit>
  void for_each_sector(std::uint32_t offset, std::uint32_t bytes, Visit visit) const;

  HostPages sector_pages_;
  std::uint8_t* sectors_ = nullptr;  // with those of one row of defined bytes at both ends
  HostPages byte_pages_;
  std::uint8_t* bytes_ = nullptr;  // only valid where a sector says so
  std::uint32_t size_ = 0;         // of the allocation
};

}  // namespace warpcheck::vgpu
