#include "vgpu/schedule/touched_words.hpp"

#include <utility>

#include "vgpu/schedule/prng.hpp"

namespace warpcheck::vgpu {

// Returns the index of the word's entry, or the free entry for it.
std::size_t TouchedWords::slot_of(std::uint64_t address) const {
  const std::size_t last = words_.size() - 1;
  std::size_t slot = Prng(address).next() & last;
  while (words_[slot].address != 0 && words_[slot].address != address) slot = (slot + 1) & last;
  return slot;
}

const TouchedWords::Word* TouchedWords::find(std::uint64_t address) const {
  if (words_.empty()) return nullptr;
  const Word& word = words_[slot_of(address)];
  return word.address == 0 ? nullptr : &word;
}

TouchedWords::Word& TouchedWords::at(std::uint64_t address) {
  if (2 * count_ >= words_.size()) grow();
  Word& word = words_[slot_of(address)];
  if (word.address == 0) {
    word.address = address;
    ++count_;
  }
  return word;
}

void TouchedWords::grow() {
  if (words_.size() >= kWordsMax) clear();
  std::vector<Word> before = std::exchange(words_, {});
  words_.resize(before.empty() ? 64 : 4 * before.size());
  for (const Word& word : before) {
    if (word.address != 0) words_[slot_of(word.address)] = word;
  }
}

}  // namespace warpcheck::vgpu
