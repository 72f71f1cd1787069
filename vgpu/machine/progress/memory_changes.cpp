#include "vgpu/machine/progress/memory_changes.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

namespace warpcheck::vgpu {
namespace {

constexpr std::size_t kWordBytes = 8;
constexpr std::size_t kWordsMin = 64;

std::uint64_t mix(std::uint64_t value) {
  value = (value ^ value >> 32) * 0x9fb21c651e98df25u;
  value = (value ^ value >> 29) * 0x2545f4914f6cdd1du;
  return value ^ value >> 32;
}

// Returns the part of one word in the hash of memory.
std::uint64_t part_of(std::uintptr_t at, std::uint64_t difference) {
  return difference == 0 ? 0 : mix(mix(at) + difference);
}

}  // namespace

void MemoryChanges::add(const Access& access, unsigned lane) {
  Change change{access.allocation->data + access.offset[lane],
                access.allocation,
                access.offset[lane],
                access.bytes,
                access.space == ptx::Space::local,
                {}};
  std::memcpy(change.old.data(), change.at, change.bytes);
  changes_.push_back(change);
}

void MemoryChanges::drop_unchanged(std::size_t since) {
  if (changes_.size() == since) return;
  const auto begin = changes_.begin() + static_cast<std::ptrdiff_t>(since);
  const auto changes_nothing = [](const Change& change) {
    return std::memcmp(change.at, change.old.data(), change.bytes) == 0;
  };
  changes_.erase(std::remove_if(begin, changes_.end(), changes_nothing), changes_.end());
  for (std::size_t i = since; i < changes_.size(); ++i) {
    foreign_ += !changes_[i].is_local;
    set(changes_[i], changes_[i].at);
  }
}

// Hashes the words of a change, which now has these bytes.
void MemoryChanges::set(const Change& change, const std::byte* bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(change.at);
  for (std::size_t done = 0; done < change.bytes;) {
    const std::size_t in_word = (first + done) % kWordBytes;
    const std::size_t count = std::min(kWordBytes - in_word, change.bytes - done);
    Word& word = word_at(first + done - in_word);
    // Words are compared and never read as numbers, so the order of their bytes does not matter.
    std::uint64_t mask = 0, old = 0, now = 0;
    std::memset(reinterpret_cast<std::byte*>(&mask) + in_word, 0xff, count);
    std::memcpy(reinterpret_cast<std::byte*>(&old) + in_word, change.old.data() + done, count);
    std::memcpy(reinterpret_cast<std::byte*>(&now) + in_word, bytes + done, count);
    hash_ -= part_of(word.at, word.initial ^ word.now);
    const std::uint64_t fresh = mask & ~word.known;
    word.known |= fresh;
    word.initial |= old & fresh;
    word.now = (word.now & ~mask) | now;
    hash_ += part_of(word.at, word.initial ^ word.now);
    ++words_hashed_;
    done += count;
  }
}

MemoryChanges::Word& MemoryChanges::word_at(std::uintptr_t at) {
  if (2 * (words_used_ + 1) > words_.size()) grow();
  const std::size_t last = words_.size() - 1;
  std::size_t place = mix(at) & last;
  while (words_[place].at != at && words_[place].at != 0) place = (place + 1) & last;
  if (words_[place].at == 0) {
    words_[place].at = at;
    ++words_used_;
  }
  return words_[place];
}

void MemoryChanges::grow() {
  const std::vector<Word> old =
      std::exchange(words_, std::vector<Word>(std::max(kWordsMin, 2 * words_.size())));
  const std::size_t last = words_.size() - 1;
  for (const Word& word : old) {
    if (word.at == 0) continue;
    std::size_t place = mix(word.at) & last;
    while (words_[place].at != 0) place = (place + 1) & last;
    words_[place] = word;
  }
}

bool MemoryChanges::are_undone(const State& since) const {
  if (hash_ != since.hash) return false;
  std::set<const std::byte*> seen;
  for (std::size_t i = since.changes; i < changes_.size(); ++i) {
    for (std::uint8_t byte = 0; byte < changes_[i].bytes; ++byte) {
      const std::byte* const at = changes_[i].at + byte;
      if (seen.insert(at).second && *at != changes_[i].old[byte]) return false;
    }
  }
  return true;
}

void MemoryChanges::undo(std::size_t since) {
  for (std::size_t i = changes_.size(); i > since; --i) {
    const Change& change = changes_[i - 1];
    std::memcpy(change.at, change.old.data(), change.bytes);
    foreign_ -= !change.is_local;
    if (since != 0) set(change, change.old.data());
  }
  changes_.resize(since);
  if (since != 0) return;
  words_.clear();
  words_used_ = 0;
  hash_ = 0;
}

}  // namespace warpcheck::vgpu
