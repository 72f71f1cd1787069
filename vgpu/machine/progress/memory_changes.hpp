// What a look-ahead has changed in memory, in order, with the old bytes.
//
// A hash of all bytes that differ from their initial values is kept up to date as bytes change, so
// that two states of memory are compared in constant time, however much has changed in between.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "vgpu/machine/access.hpp"

namespace warpcheck::vgpu {

class MemoryChanges {
 public:
  struct Change {
    std::byte* at = nullptr;
    const Allocation* allocation = nullptr;
    std::uint32_t offset = 0;
    std::uint8_t bytes = 0;
    bool is_local = false;
    std::array<std::byte, 16> old{};
  };
  // A state of memory: after so many changes.
  struct State {
    std::size_t changes = 0;
    std::uint64_t hash = 0;
  };

  [[nodiscard]] State state() const { return {changes_.size(), hash_}; }
  [[nodiscard]] std::size_t count() const { return changes_.size(); }
  // Returns the number of changes outside local memory.
  [[nodiscard]] std::size_t foreign() const { return foreign_; }
  // Adds what a lane is about to write.
  void add(const Access& access, unsigned lane);
  // Called when the lanes have written.  Drops the changes after the first `since` that have
  // changed nothing.
  void drop_unchanged(std::size_t since);
  // Returns whether memory is as it was in that state.  Only if it is, this takes longer than a
  // comparison.
  [[nodiscard]] bool are_undone(const State& since) const;
  // Calls visit(change) for those after the first `since`.
  template <typename Visit>
  void for_each(std::size_t since, Visit visit) const {
    for (std::size_t i = since; i < changes_.size(); ++i) visit(changes_[i]);
  }
  // Returns a hash of the bytes that differ from their initial values; 0 if none does.
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  // Restores memory as it was after `since` changes, and drops the later ones.
  void undo(std::size_t since);

  // The number of words that were hashed so far: a few for each change, for the tests.
  [[nodiscard]] std::uint64_t words_hashed() const { return words_hashed_; }

 private:
  // Eight aligned bytes of memory of which some have been changed.
  struct Word {
    std::uintptr_t at = 0;               // 0: unused
    std::uint64_t known = 0;             // a mask of the bytes that have been changed
    std::uint64_t initial = 0, now = 0;  // those bytes
  };

  void set(const Change& change, const std::byte* bytes);
  Word& word_at(std::uintptr_t at);
  void grow();

  std::vector<Change> changes_;
  std::size_t foreign_ = 0;
  std::vector<Word> words_;  // a table whose size is a power of two
  std::size_t words_used_ = 0;
  std::uint64_t hash_ = 0;  // the sum of the hashes of all words
  std::uint64_t words_hashed_ = 0;
};

}  // namespace warpcheck::vgpu
