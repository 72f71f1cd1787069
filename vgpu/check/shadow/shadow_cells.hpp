// A plane of shadow values beside the bytes of a memory or of a bank of registers.
//
// A cell is two bytes.  Each cell of a value of 2, 4 or 8 bytes is known by the whole value and
// which part of it the cell is, so that code may take a value apart, move its parts, and put it
// together again (a shuffle moves a double as two words).  Cells whose two bytes belong to
// different values are torn: they are kept apart, by bytes, until their bytes are those of one
// value again.
//
// Cells are kept by words, two cells together, because most values are words or two of them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::vgpu {

enum class ShadowState : std::uint8_t {
  plain,  // the bytes are a value that no data has influenced, and mean what they say
  lost,   // they depend on data, and in which way is not known
  value,  // they belong to a shadow value
};

// What an operand is.
template <class Value>
struct ShadowReading {
  ShadowState state = ShadowState::plain;
  Value value{};
  std::uint32_t site = ptx::kNone;  // lost: where, a number of the plane
};

template <class Value>
class ShadowCells {
 public:
  struct Cell {
    Value value{};
    std::uint32_t site = ptx::kNone;
    ShadowState state = ShadowState::plain;
    std::uint8_t bytes = 0, part = 0;  // of the value; part: the number of the cell in it
    friend bool operator==(const Cell&, const Cell&) = default;
  };
  // One byte of a cell; part: its number in the value.
  using Byte = Cell;
  // Two cells: the first one, and the next part of its value; or two others.
  struct Word {
    Cell first;
    bool is_split = false;
  };
  static constexpr std::uint64_t kWordBytes = 4;

  void clear() {
    pages_.clear();
    torn_.clear();
  }
  // Returns whether no cell is anything but plain.
  [[nodiscard]] bool empty() const { return pages_.empty(); }

  // The words of 128 bytes, or of 256, from a multiple of that on; null: all are plain.
  [[nodiscard]] const Word* row(std::uint64_t at) const {
    const Page* const page = page_at(at / kWordBytes);
    return page == nullptr ? nullptr : &page->words[at / kWordBytes % kPageWords];
  }
  [[nodiscard]] Word* writable_row(std::uint64_t at) {
    return &writable_page(at / kWordBytes).words[at / kWordBytes % kPageWords];
  }
  // Returns whether a word is one value of four bytes.
  static bool is_whole_word(const Word& word) {
    return !word.is_split && word.first.state == ShadowState::value && word.first.bytes == 4;
  }
  static Word word_of(const Value& value, std::uint32_t bytes, std::uint32_t part) {
    return {.first = {value, ptx::kNone, ShadowState::value, static_cast<std::uint8_t>(bytes),
                      static_cast<std::uint8_t>(part)}};
  }
  static Word lost_word(std::uint32_t site) {
    return {.first = {.site = site, .state = ShadowState::lost}};
  }

  // Reads `bytes` bytes (1, 2, 4 or 8) from `at` on.
  //   site: where a value is read in another width or torn
  [[nodiscard]] ShadowReading<Value> read(std::uint64_t at, std::uint32_t bytes,
                                          std::uint32_t site) const {
    if (pages_.empty()) return {};
    if (at % kWordBytes == 0 && bytes == 4) {
      const Word* const word = row(at);
      if (word == nullptr) return {};
      if (!word->is_split) return reading_of(word->first, 4, site);
    }
    if (at % kWordBytes == 0 && bytes == 8) {
      const Word *const low = row(at), *const high = row(at + kWordBytes);
      if (low == nullptr && high == nullptr) return {};
      if (low != nullptr && high != nullptr && are_one(*low, *high))
        return reading_of(low->first, 8, site);
    }
    return read_cells(at, bytes, site);
  }

  // bytes: 2, 4 or 8; at: a multiple of 2
  void set(std::uint64_t at, std::uint32_t bytes, const Value& value) {
    const bool is_of_words = at % kWordBytes == 0 && bytes % kWordBytes == 0;
    for (std::uint32_t i = 0; i < bytes / 2; i += is_of_words ? 2 : 1) {
      const Word part = word_of(value, bytes, i);
      if (is_of_words) {
        *writable_row(at + 2 * std::uint64_t{i}) = part;
      } else {
        put(at / 2 + i, part.first);
      }
    }
  }
  void lose(std::uint64_t at, std::uint64_t bytes, std::uint32_t site) {
    if (at % kWordBytes == 0 && bytes == kWordBytes) {
      *writable_row(at) = lost_word(site);
      return;
    }
    for_each_part(
        at, bytes, [&](std::uint64_t cell) { put(cell, lost_word(site).first); },
        [&](std::uint64_t byte) { put_byte(byte, lost_word(site).first); });
  }
  // The bytes are plain from now on.
  void make_plain(std::uint64_t at, std::uint64_t bytes) {
    if (pages_.empty()) return;
    for (; at % kWordBytes == 0 && bytes >= kWordBytes; at += kWordBytes, bytes -= kWordBytes) {
      Page* const page = page_at(at / kWordBytes);
      if (page != nullptr) page->words[at / kWordBytes % kPageWords] = {};
    }
    for_each_part(
        at, bytes, [&](std::uint64_t cell) { put(cell, {}); },
        [&](std::uint64_t byte) { put_byte(byte, {}); });
  }
  // Gives a range the cells of another; the two may be in the same plane, and do not overlap.
  void copy(std::uint64_t to, const ShadowCells& source, std::uint64_t from, std::uint64_t bytes) {
    if (pages_.empty() && source.pages_.empty()) return;
    for (; (to | from) % kWordBytes == 0 && bytes >= kWordBytes;
         to += kWordBytes, from += kWordBytes, bytes -= kWordBytes) {
      if (!copy_word(to / kWordBytes, source, from)) break;
    }
    const bool is_aligned = to % 2 == 0 && from % 2 == 0 && bytes % 2 == 0;
    if (!is_aligned) {
      for (std::uint64_t i = 0; i < bytes; ++i) put_byte(to + i, source.byte(from + i));
      return;
    }
    for (std::uint64_t i = 0; i < bytes / 2; ++i) {
      const Cell one = source.any_cell(from / 2 + i);
      if (!is_torn(one)) {
        put(to / 2 + i, one);
      } else {
        put_byte(to + 2 * i, source.byte(from + 2 * i));
        put_byte(to + 2 * i + 1, source.byte(from + 2 * i + 1));
      }
    }
  }

  // A cell; one that is torn is lost.
  [[nodiscard]] Cell cell(std::uint64_t index) const {
    Cell found = any_cell(index);
    if (is_torn(found)) found.site = 0;
    return found;
  }
  [[nodiscard]] Byte byte(std::uint64_t at) const {
    Byte found = any_cell(at / 2);
    if (is_torn(found)) return torn_.at(at / 2)[at % 2];
    if (found.state == ShadowState::value)
      found.part = static_cast<std::uint8_t>(2 * found.part + at % 2);
    return found;
  }
  void put_byte(std::uint64_t at, const Byte& byte_now) {
    const Byte other = byte(at ^ 1);
    const Byte &low = at % 2 == 0 ? byte_now : other, &high = at % 2 == 0 ? other : byte_now;
    Byte next = low;
    if (next.state == ShadowState::value) ++next.part;
    if (next == high && (low.state != ShadowState::value || low.part % 2 == 0)) {
      Cell whole = low;
      whole.part /= 2;
      return put(at / 2, whole);
    }
    put(at / 2, lost_word(kTornSite).first);
    torn_[at / 2] = {low, high};
  }
  void put(std::uint64_t index, const Cell& cell_now) {
    const Page* const known = page_at(index / 2);
    if (cell_now.state == ShadowState::plain && known == nullptr) return;
    const Cell other = any_cell(index ^ 1);
    const Cell &low = index % 2 == 0 ? cell_now : other, &high = index % 2 == 0 ? other : cell_now;
    Page& page = writable_page(index / 2);
    Word& word = page.words[index / 2 % kPageWords];
    Cell next = low;
    if (next.state == ShadowState::value) ++next.part;
    const bool is_part_of_one =
        low.state != ShadowState::value || (low.part % 2 == 0 && low.bytes >= kWordBytes);
    word.is_split = next != high || !is_part_of_one;
    if (!word.is_split) {
      word.first = low;
      return;
    }
    if (page.halves == nullptr) page.halves = std::make_unique<std::array<Cell, 2 * kPageWords>>();
    (*page.halves)[index % (2 * kPageWords) & ~std::uint64_t{1}] = low;
    (*page.halves)[index % (2 * kPageWords) | 1] = high;
  }

 private:
  static constexpr std::uint64_t kPageWords = 128;
  // The site of cells that are torn.
  static constexpr std::uint32_t kTornSite = ptx::kNone - 1;
  static bool is_torn(const Cell& one) {
    return one.state == ShadowState::lost && one.site == kTornSite;
  }

  [[nodiscard]] Cell any_cell(std::uint64_t index) const {
    const Page* const page = page_at(index / 2);
    if (page == nullptr) return {};
    const Word& word = page->words[index / 2 % kPageWords];
    if (word.is_split) return (*page->halves)[index % (2 * kPageWords)];
    Cell result = word.first;
    if (result.state == ShadowState::value) result.part += index % 2;
    return result;
  }
  struct Page {
    std::array<Word, kPageWords> words{};
    std::unique_ptr<std::array<Cell, 2 * kPageWords>> halves;  // of words that are split
  };

  // Whether two words are plain, or the halves of a value.
  static bool are_one(const Word& low, const Word& high) {
    if (low.is_split || high.is_split || low.first.state != high.first.state) return false;
    if (low.first.state == ShadowState::plain) return true;
    return low.first.state == ShadowState::value && high.first.part == 2 && high.first.bytes == 8 &&
           high.first.value == low.first.value;
  }
  static ShadowReading<Value> reading_of(const Cell& first, std::uint32_t bytes,
                                         std::uint32_t site) {
    switch (first.state) {
      case ShadowState::plain: return {};
      case ShadowState::lost: return {ShadowState::lost, {}, is_torn(first) ? site : first.site};
      case ShadowState::value: break;
    }
    const bool is_whole = first.part == 0 && first.bytes == bytes;
    return is_whole ? ShadowReading<Value>{ShadowState::value, first.value, ptx::kNone}
                    : ShadowReading<Value>{ShadowState::lost, {}, site};
  }
  [[nodiscard]] ShadowReading<Value> read_cells(std::uint64_t at, std::uint32_t bytes,
                                                std::uint32_t site) const {
    const Cell first = any_cell(at / 2);
    bool is_plain = true;
    bool is_value =
        at % 2 == 0 && first.state == ShadowState::value && first.part == 0 && first.bytes == bytes;
    std::uint32_t lost_at = site;
    const auto add = [&](const Cell& one) {
      is_plain = is_plain && one.state == ShadowState::plain;
      if (one.state == ShadowState::lost && lost_at == site) lost_at = one.site;
    };
    for (std::uint64_t i = 0; i < cells_of(at, bytes); ++i) {
      const Cell next = any_cell(at / 2 + i);
      is_value = is_value && next.state == ShadowState::value && next.part == i &&
                 next.bytes == bytes && next.value == first.value;
      if (!is_torn(next)) {
        add(next);
        continue;
      }
      for (std::uint64_t byte_at = 2 * (at / 2 + i); byte_at < 2 * (at / 2 + i) + 2; ++byte_at)
        if (byte_at >= at && byte_at < at + bytes) add(byte(byte_at));
    }
    if (is_plain) return {};
    if (is_value) return {ShadowState::value, first.value, ptx::kNone};
    return {ShadowState::lost, {}, lost_at};
  }

  // Returns false if the word has to be copied cell by cell.
  bool copy_word(std::uint64_t to, const ShadowCells& source, std::uint64_t from) {
    const Word* const word = source.row(from);
    if (word != nullptr && (word->is_split || is_torn(word->first))) return false;
    const bool is_plain = word == nullptr || word->first.state == ShadowState::plain;
    if (is_plain && page_at(to) == nullptr) return true;
    const Word copied = is_plain ? Word{} : *word;
    *writable_row(to * kWordBytes) = copied;
    return true;
  }

  static std::uint64_t cells_of(std::uint64_t at, std::uint64_t bytes) {
    return bytes == 0 ? 0 : (at + bytes - 1) / 2 - at / 2 + 1;
  }
  // Calls one function with each whole cell of a range, and the other with each byte of another.
  template <class OfCell, class OfByte>
  static void for_each_part(std::uint64_t at, std::uint64_t bytes, OfCell of_cell, OfByte of_byte) {
    const std::uint64_t end = at + bytes;
    while (at < end) {
      const bool is_whole = at % 2 == 0 && at + 2 <= end;
      is_whole ? of_cell(at / 2) : of_byte(at);
      at += is_whole ? 2 : 1;
    }
  }
  [[nodiscard]] Page* page_at(std::uint64_t word) const {
    const std::uint64_t page = word / kPageWords;
    return page >= pages_.size() ? nullptr : pages_[page].get();
  }
  Page& writable_page(std::uint64_t word) {
    const std::uint64_t page = word / kPageWords;
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (pages_[page] == nullptr) pages_[page] = std::make_unique<Page>();
    return *pages_[page];
  }

  std::vector<std::unique_ptr<Page>> pages_;
  std::unordered_map<std::uint64_t, std::array<Byte, 2>> torn_;  // by cell
};

}  // namespace warpcheck::vgpu
