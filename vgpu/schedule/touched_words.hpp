// Who touched the words of memory last in a launch: which accesses race with each other, as far as
// a strategy needs to know.
//
// Two accesses race here when they touch the same word, one of them writes, they are not
// reductions that commute, and neither program order nor a barrier of the block orders them.  What
// else orders them, fences and flags, is not looked at: their order is the strategy's to choose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vgpu/schedule/schedule.hpp"

namespace warpcheck::vgpu {

// An access that was made, or is about to be made.
struct Toucher {
  WarpId warp;
  std::uint8_t lane = 0;
  bool commutes = false;
  std::uint32_t phase = 0;  // barriers that its block has completed
  std::uint64_t site = 0;   // 0: none
  std::uint64_t index = 0;  // of the access in its warp
  std::uint64_t time = 0;   // when it was made
};

// Neither program order nor a barrier says which comes first.
inline bool is_unordered(const Toucher& one, const Toucher& other) {
  if (one.warp.block != other.warp.block) return true;
  return one.phase == other.phase && (one.warp != other.warp || one.lane != other.lane);
}

class TouchedWords {
 public:
  struct Word {
    std::uint64_t address = 0;  // as in AccessedWords::words; 0: none
    Toucher writer, reader;     // the last ones
    Toucher other_writer;       // the last at another site than `writer`
  };

  void clear() {
    words_.clear();
    count_ = 0;
  }
  // Null: nobody touched it.
  [[nodiscard]] const Word* find(std::uint64_t address) const;
  // Valid until the next call.
  [[nodiscard]] Word& at(std::uint64_t address);

 private:
  static constexpr std::size_t kWordsMax = 1u << 14;  // more are forgotten

  [[nodiscard]] std::size_t slot_of(std::uint64_t address) const;
  void grow();

  std::vector<Word> words_;  // a hash table, at most half full; its size is 0 or a power of two
  std::size_t count_ = 0;
};

}  // namespace warpcheck::vgpu
