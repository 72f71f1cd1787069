// What an operation of a group has written, kept apart until it is the operation's turn: the bytes
// of the words that it has written (touched_words.hpp), with the checkers' states of these bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vgpu/check/checkers.hpp"
#include "vgpu/cudart/parallel/touched_words.hpp"

namespace warpcheck::cudart {

class WrittenWords {
 public:
  // Keeps what the operation has written, which nothing else has written since.
  void keep(const TouchedWords& words, const vgpu::Checkers& whole);
  // Writes it to memory.
  //   words: as in keep()
  void write(const TouchedWords& words, vgpu::Checkers& whole) const;
  // Returns its size in host memory.
  [[nodiscard]] std::size_t bytes() const { return kept_.size() + have_states_.size(); }

 private:
  std::vector<std::byte> kept_;  // of each range of words: its bytes, then their states, if any
  std::vector<std::uint8_t> have_states_;  // by page
};

}  // namespace warpcheck::cudart
