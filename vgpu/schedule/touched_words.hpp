// Records which warps touched the words of memory last in a launch, to find which accesses race
// with each other as far as a strategy needs to know.
//
// Here, two accesses race if they touch the same word, one of them writes, they are not reductions
// that commute, and neither program order nor a barrier of the block orders them.  Other
// synchronisation, by fences and flags, is not considered, because the strategy may choose that
// order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

// An access that was made or is about to be made.
struct Toucher {
  WarpId warp;
  std::uint8_t lane = 0;
  bool commutes = false;
  std::uint32_t phase = 0;  // barriers that its block has completed
  std::uint64_t site = 0;   // 0: none
  std::uint64_t index = 0;  // number of the access in its warp
  std::uint64_t time = 0;   // when it was made
};

// Returns whether neither program order nor a barrier orders the two.
inline bool is_unordered(const Toucher& one, const Toucher& other) {
  if (one.warp.block != other.warp.block) return true;
  return one.phase == other.phase && (one.warp != other.warp || one.lane != other.lane);
}

class TouchedWords {
 public:
  struct Word {
    std::uint64_t address = 0;  // as in AccessedWords::words; 0: none
    Toucher writer, reader;     // the latest ones
    Toucher other_writer;       // the latest one at another site than `writer`
  };

  void clear() {
    words_.clear();
    count_ = 0;
  }
  // Returns null if no access touched the word.
  [[nodiscard]] const Word* find(std::uint64_t address) const;
  // Valid until the next call.
  [[nodiscard]] Word& at(std::uint64_t address);

 private:
  static constexpr std::size_t kWordsMax = 1u << 14;  // further words are dropped

  [[nodiscard]] std::size_t slot_of(std::uint64_t address) const;
  void grow();

  std::vector<Word> words_;  // a hash table, at most half full; its size is 0 or a power of two
  std::size_t count_ = 0;
};

}  // namespace warpcheck::vgpu
