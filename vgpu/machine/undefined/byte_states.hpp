// The states of the bytes of an allocation, one byte each (MemoryShadow), seen by the rows of
// accesses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "vgpu/program/warp_rows.hpp"

namespace warpcheck::vgpu {

// The highest bit of a state means "defined", so one AND tells it for a word of any width.
template <typename Word>
inline constexpr auto kAllDefined = static_cast<Word>(static_cast<Word>(~Word{0}) / 0xff * 0x80);

template <typename Word>
bool is_all_defined(const std::uint8_t* states) {
  Word word;
  std::memcpy(&word, states, sizeof word);
  return static_cast<Word>(word & kAllDefined<Word>) == kAllDefined<Word>;
}

// A view of states, of which one row more is readable and writable at both ends.  SectorStates has
// the same functions.
struct ByteStates {
  std::uint8_t* states = nullptr;

  // A strided row may begin before the allocation, and end behind it.
  //   Word: of one lane's access
  // Returns whether all bytes of a row are defined, including those of inactive lanes.
  template <typename Word>
  [[nodiscard]] bool is_row_defined(std::ptrdiff_t first) const {
    const std::uint8_t* const row = states + first;
    Bytes all = {kAllDefined<std::uint64_t>, kAllDefined<std::uint64_t>};
    for (unsigned i = 0; i < kWarpLanes * sizeof(Word); i += sizeof all) {
      Bytes part;
      std::memcpy(&part, row + i, sizeof part);
      all &= part;
    }
    return (all[0] & all[1]) == kAllDefined<std::uint64_t>;
  }
  // Returns whether the bytes of one lane are defined.
  template <typename Word>
  [[nodiscard]] bool is_defined(std::uint32_t offset) const {
    return is_all_defined<Word>(states + offset);
  }
  // Sets a row of 32 active lanes.
  template <typename Word>
  void set_row(std::uint32_t first, std::uint8_t state) {
    const std::uint64_t eight = state * std::uint64_t{0x0101'0101'0101'0101};
    const Bytes bytes = {eight, eight};
    for (unsigned i = 0; i < kWarpLanes * sizeof(Word); i += sizeof bytes) {
      std::memcpy(states + first + i, &bytes, sizeof bytes);
    }
  }
  void set(std::uint32_t offset, std::uint32_t bytes, std::uint8_t state) {
    std::memset(states + offset, state, bytes);
  }

 private:
  using Bytes [[gnu::vector_size(16)]] = std::uint64_t;
};

}  // namespace warpcheck::vgpu
