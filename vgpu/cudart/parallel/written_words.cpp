#include "vgpu/cudart/parallel/written_words.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "vgpu/machine/undefined/memory_shadow.hpp"

namespace warpcheck::cudart {
namespace {

constexpr std::uint32_t kWordBytes = 4, kWordsMax = kParallelPageBytes / kWordBytes;

bool has(const TouchedWords::Bits& bits, std::uint32_t word) {
  return (bits[word / 64] >> word % 64 & 1) != 0;
}

// Calls visit(offset in the allocation, bytes) for each range of words that was written.
template <typename Visit>
void for_each_range(const TouchedWords& words, const TouchedWords::Page& page, Visit&& visit) {
  const TouchedWords::Bits& written = words.written(page);
  const std::uint64_t start = std::uint64_t{page.number} * kParallelPageBytes;
  for (std::uint32_t word = 0; word < kWordsMax;) {
    const std::uint64_t rest = written[word / 64] >> word % 64;
    if (rest == 0) {
      word = (word / 64 + 1) * 64;
      continue;
    }
    const std::uint32_t first = word + static_cast<std::uint32_t>(std::countr_zero(rest));
    word = first + 1;
    while (word < kWordsMax && has(written, word)) ++word;
    const std::uint64_t begin = start + std::uint64_t{first} * kWordBytes;
    const std::uint64_t end = start + std::uint64_t{word} * kWordBytes;
    visit(begin, std::min(end, page.allocation->bytes) - begin);
  }
}

bool has_written(const TouchedWords& words, const TouchedWords::Page& page) {
  return std::ranges::any_of(words.written(page), [](std::uint64_t bits) { return bits != 0; });
}

}  // namespace

void WrittenWords::keep(const TouchedWords& words, const vgpu::Checkers& whole) {
  const auto append = [&](const void* from, std::uint64_t bytes) {
    const auto* const begin = static_cast<const std::byte*>(from);
    kept_.insert(kept_.end(), begin, begin + bytes);
  };
  for (const TouchedWords::Page& page : words.pages()) {
    const vgpu::MemoryShadow* states = nullptr;
    if (has_written(words, page)) states = whole.states_of(*page.allocation);
    have_states_.push_back(states != nullptr ? 1 : 0);
    for_each_range(words, page, [&](std::uint64_t offset, std::uint64_t bytes) {
      append(page.allocation->data + offset, bytes);
      if (states == nullptr) return;
      kept_.resize(kept_.size() + bytes);
      states->read(
          static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(bytes),
          reinterpret_cast<std::uint8_t*>(&*(kept_.end() - static_cast<std::ptrdiff_t>(bytes))));
    });
  }
}

void WrittenWords::write(const TouchedWords& words, vgpu::Checkers& whole) const {
  const std::byte* from = kept_.data();
  for (std::size_t i = 0; i < words.pages().size(); ++i) {
    const TouchedWords::Page& page = words.pages()[i];
    vgpu::MemoryShadow* const states =
        have_states_[i] != 0 ? whole.make_states_of(*page.allocation) : nullptr;
    for_each_range(words, page, [&](std::uint64_t offset, std::uint64_t bytes) {
      std::memcpy(page.allocation->data + offset, from, bytes);
      from += bytes;
      if (states == nullptr) return;
      states->write(static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(bytes),
                    reinterpret_cast<const std::uint8_t*>(from));
      from += bytes;
    });
  }
}

}  // namespace warpcheck::cudart
